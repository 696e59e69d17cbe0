// SPDX-License-Identifier: Apache-2.0
import Text

/// Says who the bearer of a token is, for the tokens of several issuers.
package final class TokenVerifier: Sendable {
    /// The outcome for a token that is not refused.
    package enum Outcome: Sendable {
        /// With the user's name here, which begins with the issuer's prefix, and the roles that the issuer gives.
        case verified(user: String, roles: [String])
        /// Keys are being fetched that it may need: ask again when that has ended.
        case pending(KeyFetch)
        /// There are no keys of its issuer, and that is not the token's fault. Try again after so many seconds.
        case unavailable(seconds: Int)
        /// Its key may be newer than the keys that were fetched last. Try again after so many seconds.
        case keyUnknownYet(seconds: Int)
    }

    private struct Trust: Sendable {
        let issuer: TrustedIssuer
        let keys: IssuerKeys
    }

    private let trusts: [Trust]
    private let verified = VerifiedTokens()
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - issuers: each with the place where its keys come from. Of two with one name the first counts.
    ///   - now: seconds since 1970.
    ///   - clock: by which the age of keys is measured.
    ///   - report: hears of each failed fetch of keys, and of keys that are not used, with the issuer's name as it is configured.
    package init(
        _ issuers: [(TrustedIssuer, any KeySource)], now: @escaping @Sendable () -> Int64,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        report: @escaping @Sendable (_ issuer: String, KeyEvent) -> Void
    ) {
        trusts = issuers.map { issuer, source in
            Trust(
                issuer: issuer,
                keys: IssuerKeys(source: source, clock: clock) { report(issuer.issuer, $0) })
        }
        self.now = now
    }

    /// Whether a user of that name can only be one of an issuer's.
    package func hasUser(named name: String) -> Bool {
        guard let prefix = UserPrefix.text(of: name) else { return false }
        return trusts.contains { $0.issuer.prefix.description == prefix }
    }

    /// Has the keys of all issuers fetched again before they are used the next time: a key that was withdrawn counts no more.
    package func expireKeys() {
        for trust in trusts { trust.keys.expire() }
    }

    /// - Throws: why the token is not accepted.
    package func verify(_ token: Substring) throws(TokenError) -> Outcome {
        guard token.utf8.count <= CompactToken.maximumBytes else { throw .tooLong }
        let fingerprint = verified.fingerprint(of: token)
        let now = now()
        if let entry = verified.entry(fingerprint, now: now) {
            if case .found(let keys) = trusts[entry.issuer].keys.current(), keys.version == entry.keyVersion {
                return .verified(user: entry.user, roles: entry.roles)
            }
            verified.remove(fingerprint)
        }
        let token = try CompactToken(token)
        // Unverified still: it chooses by whose keys the token is verified, out of those who are trusted.
        guard let name = token.claims["iss"]?.string,
            let index = trusts.firstIndex(where: { $0.issuer.issuer.utf8.elementsEqual(name.utf8) })
        else { throw .unknownIssuer }
        switch trusts[index].keys.current() {
        case .pending(let fetch): return .pending(fetch)
        case .unavailable(let seconds): return .unavailable(seconds: seconds)
        case .found(let keys):
            return try verify(token, by: keys, of: index, mayFetch: true) { entry in
                self.verified.insert(entry, for: fingerprint)
            }
        }
    }

    private func verify(
        _ token: CompactToken, by snapshot: IssuerKeys.Snapshot, of index: Int, mayFetch: Bool,
        remember: (VerifiedTokens.Entry) -> Void
    ) throws(TokenError) -> Outcome {
        let reader = ClaimReader(claims: token.claims, issuer: trusts[index].issuer)
        let candidates: [VerificationKey]
        do throws(TokenError) {
            candidates = try snapshot.keys.candidates(for: token.header)
        } catch .unknownKey where mayFetch {
            switch trusts[index].keys.newer(than: snapshot) {
            case .pending(let fetch): return .pending(fetch)
            case .none(let age, let pause):
                // Keys that were fetched after the token was made would have its key.
                guard reader.mayBeGood(issuedSince: now() - age, now: now()) else { throw .unknownKey }
                return .keyUnknownYet(seconds: pause)
            case .found(let newer):
                return try verify(token, by: newer, of: index, mayFetch: false, remember: remember)
            }
        }
        guard candidates.contains(where: { $0.isValid(token.signature, of: token.signed) }) else { throw .badSignature }
        let time = now()
        let (user, end) = try reader.user(now: time)
        let roles = reader.roles
        remember(
            VerifiedTokens.Entry(
                user: user, roles: roles, issuer: index, keyVersion: snapshot.version, verifiedAt: time, end: end))
        return .verified(user: user, roles: roles)
    }
}
