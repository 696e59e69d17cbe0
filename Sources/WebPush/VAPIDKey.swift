// SPDX-License-Identifier: Apache-2.0
internal import Crypto
internal import NotificationHub
package import Text

/// The key pair by which push services know one application server (RFC 8292): P-256, made by its operator.
///
/// A browser's subscription is bound to the public key, so a lost key means that every browser must subscribe again.
/// It prints as `***`; only `secret` reveals it.
package struct VAPIDKey: Redacted, Sendable {
    /// Length of the private key, in bytes.
    package static let length = 32

    /// That a text is no private key. It does not repeat the text.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let description = "the key must be Base64 of the \(VAPIDKey.length) bytes of a P-256 private key"
    }

    private let key: P256.Signing.PrivateKey

    /// A new one.
    package init() {
        key = P256.Signing.PrivateKey()
    }

    /// - Parameter secret: base64url, as `secret` gives it and the web push tools of other languages do, or standard Base 64;
    ///   padded or not.
    /// - Throws: `Malformed`, also for a number that is no key: zero, or not below the order of the curve.
    package init(_ secret: Secret) throws(Malformed) {
        guard let bytes = Base64.decodeEither(secret.reveal()), bytes.count == Self.length else { throw Malformed() }
        do {
            key = try P256.Signing.PrivateKey(rawRepresentation: bytes)
        } catch {
            throw Malformed()
        }
    }

    /// The private key, in the form that `init` takes.
    package var secret: Secret { Secret(Base64.url.encode(key.rawRepresentation)) }

    /// What a page subscribes with (`applicationServerKey`) and what a push service is shown: base64url of the
    /// uncompressed point, 65 bytes in 87 characters.
    package var publicKey: String { Base64.url.encode(key.publicKey.x963Representation) }

    /// A public key in the form of `publicKey`.
    /// - Parameter text: in either alphabet of Base 64, padded or not.
    /// - Returns: nil for what is no point of the curve.
    package static func publicKey(_ text: String) -> String? {
        guard let bytes = Base64.decodeEither(text), bytes.count == BrowserSubscription.publicKeyLength,
            (try? P256.Signing.PublicKey(x963Representation: bytes)) != nil
        else { return nil }
        return Base64.url.encode(bytes)
    }

    /// ES256 (RFC 7518 section 3.4): SHA-256, and the two numbers of the signature in 32 bytes each.
    /// - Throws: what swift-crypto throws, for want of randomness or memory.
    func signature(of text: String) throws -> [UInt8] {
        [UInt8](try key.signature(for: [UInt8](text.utf8)).rawRepresentation)
    }
}
