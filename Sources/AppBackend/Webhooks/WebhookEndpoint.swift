// SPDX-License-Identifier: Apache-2.0
import Crypto
package import HTTP
import HTTPTypes
package import Text

/// A receiver of events, and how they are signed for it: the scheme of Standard Webhooks (standardwebhooks.com).
package struct WebhookEndpoint: Sendable {
    /// As the log calls it: where the configuration has it.
    let label: String
    /// As the store calls it: a hash of its address, which may have a token in it.
    let name: String
    /// What it wants to hear.
    let kinds: Set<WebhookKind>
    private let request: Request
    private let key: SymmetricKey

    /// With what a secret begins.
    package static let secretPrefix = "whsec_"
    /// Bytes that a secret may have.
    package static let secretBytes = 24...64

    /// - Parameters:
    ///   - request: a `POST` without a body to the receiver's address.
    ///   - secret: `whsec_`, and 24 to 64 bytes in base64.
    /// - Returns: nil for another secret.
    package init?(label: String, request: Request, secret: Secret, kinds: Set<WebhookKind>) {
        let text = secret.reveal()
        guard text.hasPrefix(Self.secretPrefix),
            let bytes = Base64.standard.decode(String(text.dropFirst(Self.secretPrefix.count))),
            Self.secretBytes.contains(bytes.count)
        else { return nil }
        (self.label, self.request, self.kinds, key) = (label, request, kinds, SymmetricKey(data: bytes))
        name = Self.hash([request.scheme, request.authority, request.target])
    }

    package func hasSameAddress(as other: WebhookEndpoint) -> Bool { name == other.name }

    /// An event as one try sends it. The time of the try is signed, too, so that what was overheard is of no use later.
    package func request(id: String, body: String, now: Timestamp) -> Request {
        var request = request
        let time = String(now.seconds)
        let signature = HMAC<SHA256>.authenticationCode(for: Array("\(id).\(time).\(body)".utf8), using: key)
        request.fields[.contentType] = "application/json"
        request.fields[named: "webhook-id"] = id
        request.fields[named: "webhook-timestamp"] = time
        request.fields[named: "webhook-signature"] = "v1," + Base64.standard.encode(Array(signature))
        request.body = Array(body.utf8)
        return request
    }

    /// The same for the same texts: 128 bits in base64url.
    static func hash(_ texts: [String]) -> String {
        let digest = SHA256.hash(data: Array(texts.joined(separator: "\n").utf8))
        return Base64.url.encode(Array(digest.prefix(16)))
    }
}
