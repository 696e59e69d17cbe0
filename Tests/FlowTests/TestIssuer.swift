// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Crypto
import JWT
import Testing
import Text

import class System.Lock

/// An issuer of tokens: one key, and what it signs for the audience `backend`.
struct TestIssuer: Sendable {
    let name: String
    private let key = Curve25519.Signing.PrivateKey()

    init(_ name: String) { self.name = name }

    /// As the issuer publishes it.
    var keySet: [UInt8] {
        let x = Base64.url.encode(key.publicKey.rawRepresentation)
        return Array(#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"\#(x)"}]}"#.utf8)
    }

    /// - Parameters:
    ///   - issuer: what it says of itself; nil: its name.
    ///   - expires: in seconds since 1970.
    func token(
        _ subject: String, issuer: String? = nil, expires: Int64 = 4_000_000_000, roles: [String] = []
    ) throws -> String {
        let roles = roles.map { "\"\($0)\"" }.joined(separator: ",")
        let claims =
            #"{"iss":"\#(issuer ?? name)","aud":"backend","sub":"\#(subject)","exp":\#(expires),"roles":[\#(roles)]}"#
        let signed = Base64.url.encode(#"{"alg":"EdDSA"}"#.utf8) + "." + Base64.url.encode(claims.utf8)
        return signed + "." + Base64.url.encode(try key.signature(for: Array(signed.utf8)))
    }

    /// Makes the tokens a method, and these issuers the ones that are trusted.
    static func trust(
        _ issuers: [(issuer: TestIssuer, prefix: String, keys: (any KeySource)?)], in parts: inout Backend.Parts
    ) {
        let roles = parts.policy.roles.map(\.name)
        let trusted = issuers.compactMap { issuer, prefix, keys -> (TrustedIssuer, any KeySource)? in
            guard let prefix = UserPrefix(prefix),
                let trusted = TrustedIssuer(
                    issuer: issuer.name, prefix: prefix, audiences: ["backend"], rolesClaim: "roles",
                    roles: roles)
            else { return nil }
            let keySet = issuer.keySet
            return (trusted, keys ?? KeyFile { keySet })
        }
        #expect(trusted.count == issuers.count)
        let now = parts.now
        parts.issuers = TokenVerifier(trusted, now: { now().seconds }) { _, _ in }
        if !parts.authenticationMethods.contains(.bearer) { parts.authenticationMethods.append(.bearer) }
    }

    /// Makes it the only one that is trusted, with the prefix `id`.
    func trust(in parts: inout Backend.Parts, keys: (any KeySource)? = nil) {
        Self.trust([(self, "id", keys)], in: &parts)
    }
}

/// Keys that do not come before the test lets them.
final class HeldKeys: KeySource {
    private let file: KeyFile
    private let held = Lock<[@Sendable () -> Void]>([])

    init(_ keySet: [UInt8]) { file = KeyFile { keySet } }

    func fetch(_ completion: @escaping @Sendable (Result<KeyDocument, KeyError>) -> Void) {
        let file = file
        held.withLock { $0.append { file.fetch(completion) } }
    }

    func release() {
        let fetches = held.withLock { held in
            defer { held = [] }
            return held
        }
        for fetch in fetches { fetch() }
    }
}
