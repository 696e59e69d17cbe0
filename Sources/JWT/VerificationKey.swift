// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import JSON
import Text

/// The signature algorithms that are accepted (RFC 7518 section 3.1, RFC 8037). There is neither `none` nor one with a shared key.
enum SignatureAlgorithm: String {
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
}

/// A public key of an issuer (RFC 7517). Its own type decides by which algorithm it verifies; a token cannot choose another one.
struct VerificationKey: Sendable {
    /// In bytes: 8192 bits. The time of a verification grows with the square of the length.
    private static let maximumModulusBytes = 1_024
    /// In bytes. All issuers have 65537; a large exponent makes each verification as expensive as a signature.
    private static let maximumExponentBytes = 4

    private enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    /// Nil: the key has no `kid`.
    let id: String?
    private let material: Material

    /// Members that are null are not there. A set of keys may have such that are not for verifying.
    /// - Throws: why it is not used.
    init(_ jwk: JSONValue) throws(KeyFault) {
        guard jwk.members != nil else { throw .notAKey }
        func member(_ name: String) -> JSONValue? { jwk[name].flatMap { $0 == .null ? nil : $0 } }
        guard member("kid") == nil || member("kid")?.string != nil else { throw .badID }
        guard member("use").map({ $0.string == "sig" }) ?? true,
            member("key_ops").map({ $0.array?.contains(.string("verify")) == true }) ?? true
        else { throw .notForSignatures }
        (id, material) = (member("kid")?.string, try Self.material(jwk))
        // Optional, and many issuers leave it out.
        guard member("alg").map({ $0.string == algorithm.rawValue }) ?? true else { throw .otherAlgorithm }
    }

    private static func material(_ jwk: JSONValue) throws(KeyFault) -> Material {
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("RSA", _):
            guard let n = bytes(jwk, "n"), let e = bytes(jwk, "e"), n.count <= maximumModulusBytes,
                e.count <= maximumExponentBytes,
                // At least 2048 bits, or it throws.
                let key = try? _RSA.Signing.PublicKey(n: n, e: e)
            else { throw .badNumbers }
            return .rsa(key)
        case ("EC", "P-256"):
            guard let x = bytes(jwk, "x"), let y = bytes(jwk, "y"), x.count == 32, y.count == 32,
                let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
            else { throw .badNumbers }
            return .p256(key)
        case ("OKP", "Ed25519"):
            guard let x = bytes(jwk, "x"), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x)
            else { throw .badNumbers }
            guard !SmallOrderPoint.contains(x) else { throw .smallOrder }
            return .ed25519(key)
        default: throw .unknownKind
        }
    }

    /// Some issuers pad the numbers, or write them in the alphabet of standard base64.
    private static func bytes(_ jwk: JSONValue, _ name: String) -> [UInt8]? {
        guard
            var text = jwk[name]?.string?.utf8.map({ byte -> UInt8 in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: byte
                }
            })
        else { return nil }
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        return Base64.url.decode(String(decoding: text, as: UTF8.self))
    }

    /// The only one that the key verifies by.
    var algorithm: SignatureAlgorithm {
        switch material {
        case .rsa: .rs256
        case .p256: .es256
        case .ed25519: .edDSA
        }
    }

    /// Whether the signature is that of these bytes.
    func isValid(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
        switch material {
        case .rsa(let key):
            // The padding of RS256. swift-crypto calls it insecure for its use in encryption.
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: signed),
                padding: .insecurePKCS1v1_5)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: SHA256.hash(data: signed))
        case .ed25519(let key): return key.isValidSignature(signature, for: signed)
        }
    }
}
