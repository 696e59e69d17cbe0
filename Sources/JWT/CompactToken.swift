// SPDX-License-Identifier: Apache-2.0
import JSON
import Text

/// A JWT in the compact serialization of JWS (RFC 7515 section 7.1), taken apart and not verified.
struct CompactToken {
    /// Longer tokens are refused before they are looked at, in bytes. A field of a request is at most so long in nginx, unless it is
    /// configured otherwise (`large_client_header_buffers`).
    static let maximumBytes = 8_192

    let header: TokenHeader
    /// The payload's members.
    let claims: JSONValue
    /// What was signed: the first two parts, and the dot between them.
    let signed: [UInt8]
    let signature: [UInt8]

    /// - Throws: `tooLong`, `malformed`, and what `TokenHeader.init` throws.
    init(_ text: Substring) throws(TokenError) {
        let bytes = text.utf8
        guard bytes.count <= Self.maximumBytes else { throw .tooLong }
        // Counted before any is copied: a token of dots must not become thousands of parts.
        let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
        guard dots.count == 2, let first = dots.first, let second = dots.last else { throw .malformed }
        header = try TokenHeader(Self.object(text[..<first]))
        claims = try Self.object(text[bytes.index(after: first)..<second])
        signed = Array(bytes[..<second])
        guard let signature = Base64.url.decode(text[bytes.index(after: second)...]) else { throw .malformed }
        self.signature = signature
    }

    private static func object(_ part: Substring) throws(TokenError) -> JSONValue {
        guard let bytes = Base64.url.decode(part), let value = try? JSONValue(parsing: bytes), value.members != nil
        else { throw .malformed }
        return value
    }
}

/// The header of a token: what is needed of it, and nothing that tells where keys are (`jku`, `jwk`, `x5u`, `x5c`), because the
/// token's maker chose that.
struct TokenHeader {
    /// In bytes.
    static let maximumKeyIDBytes = 256
    /// In lower case. Tokens that are no access or ID tokens have a type of their own (RFC 8725 section 3.11).
    private static let types: Set<String> = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]

    let algorithm: SignatureAlgorithm
    /// Nil: the token names no key.
    let keyID: String?

    /// - Throws: `malformed`, `unknownAlgorithm`, `unknownExtension`, `wrongType`.
    init(_ header: JSONValue) throws(TokenError) {
        guard let name = header["alg"]?.string else { throw .malformed }
        guard let algorithm = SignatureAlgorithm(rawValue: name) else { throw .unknownAlgorithm }
        // RFC 7515 section 4.1.11: what is critical must be understood, and there is no extension that is.
        guard header["crit"] == nil else { throw .unknownExtension }
        if let type = header["typ"] {
            guard let type = type.string, Self.types.contains(type.lowercased()) else { throw .wrongType }
        }
        self.algorithm = algorithm
        keyID = header["kid"]?.string
        guard header["kid"] == nil || keyID.map({ $0.utf8.count <= Self.maximumKeyIDBytes }) == true else {
            throw .malformed
        }
    }
}
