// SPDX-License-Identifier: Apache-2.0
import JSON

/// The keys of one issuer (JWK Set, RFC 7517 section 5).
struct KeySet: Sendable {
    /// A longer document is refused, in bytes.
    static let maximumBytes = 256 * 1024
    /// A document with more keys is refused. The largest issuers have about a dozen.
    static let maximumKeys = 100

    let keys: [VerificationKey]
    /// The other keys of the document.
    let skipped: [SkippedKey]
    /// As it was written, to tell whether a newer one differs.
    private let document: JSONValue

    /// - Parameter bytes: the document. Keys that are not for verifying tokens are left out.
    /// - Throws: `KeyError.tooLarge`, `notAKeySet`, `tooManyKeys`, `noUsableKey`.
    init(_ bytes: [UInt8]) throws(KeyError) {
        guard bytes.count <= Self.maximumBytes else { throw .tooLarge }
        guard let document = try? JSONValue(parsing: bytes), let all = document["keys"]?.array else {
            throw .notAKeySet
        }
        guard all.count <= Self.maximumKeys else { throw .tooManyKeys }
        var (keys, skipped): ([VerificationKey], [SkippedKey]) = ([], [])
        for (index, jwk) in all.enumerated() {
            switch Result(catching: { () throws(KeyFault) in try VerificationKey(jwk) }) {
            case .success(let key): keys.append(key)
            case .failure(let fault):
                skipped.append(SkippedKey(number: index + 1, id: jwk["kid"]?.string, fault: fault))
            }
        }
        guard !keys.isEmpty else { throw .noUsableKey(skipped) }
        (self.keys, self.skipped, self.document) = (keys, skipped, document)
    }

    func isSame(as other: KeySet) -> Bool { document == other.document }

    /// The keys that may have signed a token with that header; several, where an issuer gave one id to several.
    /// - Throws: `unknownKey`, `wrongKey`, `noKeyID`.
    func candidates(for header: TokenHeader) throws(TokenError) -> [VerificationKey] {
        guard let id = header.keyID else {
            let fitting = keys.filter { $0.algorithm == header.algorithm }
            guard fitting.count == 1 else { throw .noKeyID }
            return fitting
        }
        let named = keys.filter { $0.id?.utf8.elementsEqual(id.utf8) == true }
        guard !named.isEmpty else { throw .unknownKey }
        let fitting = named.filter { $0.algorithm == header.algorithm }
        guard !fitting.isEmpty else { throw .wrongKey }
        return fitting
    }
}

/// What an operator should hear of an issuer's keys.
package enum KeyEvent: Equatable, Sendable {
    /// There are no newer ones.
    case failure(KeyError)
    /// There are, and these of their document are not used.
    case skipped([SkippedKey])
}

/// Why there are no keys of an issuer, or no newer ones; for the operator.
package enum KeyError: Error, Equatable, CustomStringConvertible {
    /// With one word of the transport: `timeout`.
    case unanswered(kind: String)
    case status(Int)
    case unreadableFile
    case tooLarge
    case notAKeySet
    case tooManyKeys
    /// With those that there are.
    case noUsableKey([SkippedKey])
    case notADiscoveryDocument
    case foreignIssuer
    case badKeyAddress

    package var description: String {
        switch self {
        case .unanswered(let kind): "the issuer does not answer (\(kind))"
        case .status(let code): "the issuer answers \(code)"
        case .unreadableFile: "the file cannot be read"
        case .tooLarge: "the document is longer than \(KeySet.maximumBytes) bytes"
        case .notAKeySet: "the document is not a set of keys (JWKS)"
        case .tooManyKeys: "the document has more than \(KeySet.maximumKeys) keys"
        case .noUsableKey(let skipped):
            "the document has no key for RS256, ES256 or EdDSA"
                + (skipped.isEmpty ? "" : ": \(SkippedKey.text(skipped))")
        case .notADiscoveryDocument: "the document of /.well-known/openid-configuration is not one of OpenID Connect"
        case .foreignIssuer: "the document of /.well-known/openid-configuration names another issuer"
        case .badKeyAddress: "jwks_uri is not an https address"
        }
    }
}
