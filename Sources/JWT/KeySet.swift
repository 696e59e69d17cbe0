// SPDX-License-Identifier: Apache-2.0
import JSON

/// The keys of one issuer (JWK Set, RFC 7517 section 5).
struct KeySet: Sendable {
    /// A longer document is refused, in bytes.
    static let maximumBytes = 256 * 1024
    /// A document with more keys is refused. The largest issuers have about a dozen.
    static let maximumKeys = 100

    let keys: [VerificationKey]
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
        keys = all.compactMap(VerificationKey.init)
        guard !keys.isEmpty else { throw .noUsableKey }
        self.document = document
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

/// Why there are no keys of an issuer, or no newer ones; for the operator.
package enum KeyError: Error, Equatable, CustomStringConvertible {
    /// With one word of the transport: `timeout`.
    case unanswered(kind: String)
    case status(Int)
    case unreadableFile
    case tooLarge
    case notAKeySet
    case tooManyKeys
    case noUsableKey
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
        case .noUsableKey: "the document has no key for RS256, ES256 or EdDSA"
        case .notADiscoveryDocument: "the document of /.well-known/openid-configuration is not one of OpenID Connect"
        case .foreignIssuer: "the document of /.well-known/openid-configuration names another issuer"
        case .badKeyAddress: "jwks_uri is not an https address"
        }
    }
}
