// SPDX-License-Identifier: Apache-2.0
import Crypto
import JSON
package import Text

/// The key that Apple gives to a developer team for APNs: it signs provider tokens.
///
/// It prints as `***`.
package struct APNsKey: Redacted, Sendable {
    /// Length of the key's and of the team's id, in characters.
    package static let idLength = 10

    private let key: P256.Signing.PrivateKey
    /// The token's header and the beginning of its claims, in base64url and in JSON.
    private let header: String
    private let teamID: String

    /// - Parameters:
    ///   - pem: the text of Apple's key file (`.p8`), or its base64 without the first and last line.
    ///   - keyID: of that key, as Apple's console shows it.
    ///   - teamID: of the developer account.
    /// - Throws: `APNsKeyError`, which says what the text is instead.
    package init(pem: Secret, keyID: String, teamID: String) throws(APNsKeyError) {
        guard Self.isID(keyID) else { throw .badKeyID }
        guard Self.isID(teamID) else { throw .badTeamID }
        let der = try PrivateKeyFile.pkcs8(pem.reveal())
        do {
            key = try P256.Signing.PrivateKey(derRepresentation: der)
        } catch {
            throw .damaged
        }
        self.teamID = teamID
        let json = JSONWriter.object {
            $0.member("alg", "ES256")
            $0.member("kid", keyID)
        }
        header = Base64.url.encode(json.bytes)
    }

    /// A provider token: a JWT (RFC 7519) signed with ES256 (RFC 7518 section 3.4: the two numbers in 32 bytes each).
    /// - Parameter issuedAt: seconds since 1970. Apple takes tokens that are at most an hour old.
    /// - Throws: what swift-crypto throws, for want of randomness or memory.
    func token(issuedAt: Int64) throws -> Secret {
        let json = JSONWriter.object {
            $0.member("iss", teamID)
            $0.member("iat", issuedAt)
        }
        let text = header + "." + Base64.url.encode(json.bytes)
        let signature = try key.signature(for: [UInt8](text.utf8))
        return Secret(text + "." + Base64.url.encode(signature.rawRepresentation))
    }

    private static func isID(_ text: String) -> Bool {
        text.utf8.count == idLength
            && text.utf8.allSatisfy { ASCII.isDigit($0) || (0x41...0x5A).contains($0) }
    }
}
