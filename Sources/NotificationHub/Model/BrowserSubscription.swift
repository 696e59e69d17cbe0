// SPDX-License-Identifier: Apache-2.0
internal import Text

/// Where and with which keys a browser is pushed to (`PushSubscription` of the W3C Push API; RFC 8291).
package struct BrowserSubscription: Redacted, Hashable, Sendable {
    /// An uncompressed point of P-256: `0x04` and two coordinates, in bytes.
    package static let publicKeyLength = 65
    /// In bytes.
    package static let authLength = 16

    /// The push resource; `https`.
    package let endpoint: String
    /// base64url, without padding.
    package let p256dh: String
    /// base64url, without padding.
    package let auth: String

    /// - Parameters: the keys in either alphabet of Base 64, padded or not.
    /// - Throws: `HandleError`.
    init(endpoint: String, p256dh: String, auth: String) throws(HandleError) {
        self.endpoint = try HandleRule.channelURI(endpoint)
        guard let key = Base64.decodeEither(p256dh), key.count == Self.publicKeyLength, key.first == 0x04 else {
            throw .badPublicKey
        }
        guard let secret = Base64.decodeEither(auth), secret.count == Self.authLength else { throw .badAuthSecret }
        self.p256dh = Base64.url.encode(key)
        self.auth = Base64.url.encode(secret)
    }
}
