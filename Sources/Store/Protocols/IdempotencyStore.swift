// SPDX-License-Identifier: Apache-2.0
package import Text

/// Requests whose senders named them with a key, so that one that comes twice acts once.
///
/// The rules of `StateStore` hold. Of many that claim one key at the same moment, in whatever process, exactly one gets it.
package protocol IdempotencyStore: Sendable {
    /// Claims the key for this request of its owner, durably, unless another request has it that has not expired.
    /// - Returns: the request that has the key; nil: it is this one's now.
    /// - Throws: `quotaExceeded`, when the owner has as many keys without an answer as one owner may have keys.
    func claimIdempotencyKey(_ request: IdempotentRequest, now: Timestamp) throws(StoreError) -> IdempotentRequest?

    /// Keeps what the request was answered, durably, until it expires. Where its owner has as many keys as one owner may
    /// have, the oldest that were answered are forgotten.
    func keepAnswer(of request: IdempotentRequest) throws(StoreError)

    /// Gives the key back: the request has done nothing, and may be made again.
    func releaseIdempotencyKey(_ key: String, owner: String) throws(StoreError)
}

/// A request that its sender named with a key.
package struct IdempotentRequest: Hashable, Sendable {
    /// The user who sent it; the same key of another user is another key.
    package var owner: String
    package var key: String
    /// Of what was asked; the same key with another fingerprint is a mistake of the sender's.
    package var fingerprint: String
    /// What it was answered; nil as long as it is under way, and for good when its process died.
    package var answer: KeptAnswer?
    package var createdAt: Timestamp
    /// From this moment on it is as if it had never been.
    package var expiresAt: Timestamp

    package init(
        owner: String, key: String, fingerprint: String, answer: KeptAnswer? = nil, createdAt: Timestamp,
        expiresAt: Timestamp
    ) {
        self.owner = owner
        self.key = key
        self.fingerprint = fingerprint
        self.answer = answer
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// An answer that is given again.
package struct KeptAnswer: Hashable, Sendable {
    /// Whatever else is in a store was edited: HTTP has no such status (RFC 9110 section 15), or it is no answer yet.
    package static let statuses = 200...599

    /// The HTTP status, one of `statuses`.
    package var status: Int
    /// The media type of `body`; empty where there is none.
    package var contentType: String
    package var body: String

    package init(status: Int, contentType: String, body: String) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
