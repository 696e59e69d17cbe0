// SPDX-License-Identifier: Apache-2.0
import JSON

/// Reads the payload of one token, whose signature was verified.
struct ClaimReader {
    /// How far the clocks of issuer and backend may be apart, in seconds.
    static let leewaySeconds: Int64 = 60
    /// Of a user's identifier (OpenID Connect Core section 2), in bytes.
    static let maximumUserBytes = 255
    /// What a name of a user may have here, in bytes of ASCII.
    static let maximumNameBytes = 111

    let claims: JSONValue
    let issuer: TrustedIssuer

    /// - Parameter now: seconds since 1970.
    /// - Returns: the user's name here, and the second from which the token is not accepted any more.
    /// - Throws: what is wrong with the token.
    func user(now: Int64) throws(TokenError) -> (name: String, end: Int64) {
        try checkKind()
        try checkAudience()
        let end = try checkTimes(now)
        return (try user(), end)
    }

    /// The roles that it gives, out of those that the issuer can give: of a list, or of one text.
    ///
    /// Keycloak writes a group as a path, `/editor`. Only the slash in front is left out: `/staff/editor` is another group, whose
    /// users must not get what those of `/editor` have.
    var roles: [String] {
        guard let name = issuer.rolesClaim, let value = claim(name) else { return [] }
        let given = Set(
            (value.array ?? [value]).compactMap(\.string).map { $0.hasPrefix("/") ? String($0.dropFirst()) : $0 })
        return issuer.roles.filter(given.contains)
    }

    /// Whether a token that could not be verified says that it was made in that second or later, and is acceptable otherwise.
    func mayBeGood(issuedSince second: Int64, now: Int64) -> Bool {
        guard let issuedAt = try? time("iat"), issuedAt >= second else { return false }
        return (try? user(now: now)) != nil
    }

    private func checkKind() throws(TokenError) {
        // A log-out token has it (OpenID Connect Back-Channel Logout section 2.4), and may have no type of its own.
        guard claims["events"] == nil else { throw .wrongType }
        // As a bearer token it would be good without the key (RFC 9449 section 7.2, RFC 8705 section 3).
        guard claims["cnf"] == nil else { throw .boundToKey }
    }

    private func checkAudience() throws(TokenError) {
        func isOne(_ value: JSONValue, of names: [String]) -> Bool {
            guard let text = value.string else { return false }
            return names.contains { $0.utf8.elementsEqual(text.utf8) }
        }
        let audiences = claims["aud"].map { $0.array ?? [$0] } ?? []
        if audiences.contains(where: { isOne($0, of: issuer.audiences) }) { return }
        if let party = claims["azp"], isOne(party, of: issuer.authorizedParties) { return }
        throw .wrongAudience
    }

    private func checkTimes(_ now: Int64) throws(TokenError) -> Int64 {
        guard let expiry = try time("exp") else { throw .badTime }
        let end = expiry + Self.leewaySeconds
        guard now < end else { throw .expired }
        for name in ["nbf", "iat", "auth_time"] {
            guard let time = try time(name) else { continue }
            guard time <= now + Self.leewaySeconds else { throw .notYetValid }
            guard time <= expiry else { throw .badTime }
        }
        return end
    }

    /// A NumericDate (RFC 7519 section 2), which may have a fraction; nil when it is not there.
    private func time(_ name: String) throws(TokenError) -> Int64? {
        guard let value = claims[name] else { return nil }
        // Further away there is no second that a number of JSON could not mistake for another one.
        guard case .number(let text) = value, let seconds = Double(text), seconds.magnitude < 0x1p53 else {
            throw .badTime
        }
        return Int64(seconds.rounded(.down))
    }

    private func user() throws(TokenError) -> String {
        guard let value = claim(issuer.userClaim)?.string, !value.isEmpty, value.utf8.count <= Self.maximumUserBytes
        else { throw .noUser }
        // Some issuers let a user enter any address, and a user must not become another one by that.
        let isVerified = claims["email_verified"]
        guard issuer.userClaim != "email" || isVerified?.bool == true || isVerified?.string == "true" else {
            throw .unverifiedEmail
        }
        let name = issuer.prefix.userName(of: value)
        guard name.utf8.count <= Self.maximumNameBytes else { throw .noUser }
        return name
    }

    /// The member of that name; or the one to which the dots in the name lead.
    private func claim(_ name: String) -> JSONValue? {
        if let value = claims[name] { return value }
        return name.split(separator: ".").reduce(claims as JSONValue?) { $0?[String($1)] }
    }
}
