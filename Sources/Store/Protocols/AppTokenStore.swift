// SPDX-License-Identifier: Apache-2.0
package import Text

/// App tokens: what apps and scripts show in place of a password.
///
/// The rules of `StateStore` hold; above all, when one process has revoked a token, no other process finds it from its
/// next call on.
package protocol AppTokenStore: Sendable {
    /// Keeps the token.
    /// - Throws: `conflict`, when there is one of that id; `quotaExceeded`, when the owner has as many as one owner may have.
    func createAppToken(_ token: AppToken, now: Timestamp) throws(StoreError)

    /// The token of that id; nil when it never was, was removed, or has expired: all alike.
    func appToken(_ id: String, now: Timestamp) throws(StoreError) -> AppToken?

    /// The owner's tokens, in the order in which they were made.
    func appTokens(owner: String, now: Timestamp) throws(StoreError) -> [AppToken]

    /// Notes when the token was used, if it is there. A hint, which the next loss of power may take.
    func noteUse(ofAppToken id: String, at time: Timestamp) throws(StoreError)

    /// Notes the owners of a token's recipients, durably, if the token is there and has none.
    func bindRecipients(ofAppToken id: String, to owners: [String]) throws(StoreError)

    /// Removes the owner's token of that id.
    /// - Returns: whether the owner had one.
    func removeAppToken(_ id: String, owner: String) throws(StoreError) -> Bool

    /// Removes the owner's tokens of an earlier epoch that were there when the call began.
    /// - Parameter epoch: as `AppToken.epoch`.
    /// - Returns: how many.
    func removeAppTokens(owner: String, before epoch: Int) throws(StoreError) -> Int
}

extension AppTokenStore {
    /// Removes all tokens of the owner that were there when the call began.
    /// - Returns: how many.
    package func removeAppTokens(owner: String) throws(StoreError) -> Int {
        try removeAppTokens(owner: owner, before: .max)
    }
}

/// A right to act for a user without the user's password, as far as it goes and until it ends.
package struct AppToken: Hashable, Identifiable, Sendable {
    /// By which it is listed, revoked and found. Not secret: a part of what the bearer shows, which alone opens nothing.
    package var id: String
    /// The SHA-256 of all that the bearer shows, in hexadecimal digits. What is shown is stored nowhere.
    package var hash: String
    /// The user whose it is.
    package var owner: String
    /// The owner's `User.credentialEpoch` when it was made: it is good as long as that is the same.
    package var epoch: Int
    /// What it may do. A word that this version does not know grants nothing.
    package var scopes: [String]
    /// The only users that it may send to; nil: those that its user may send to.
    package var recipients: [String]?
    /// The owners that these users are, in the same order: the next user of a name is another owner. Empty in a token that an
    /// earlier version has made, until it is used.
    package var recipientOwners: [String]
    /// What its user calls it; may be empty.
    package var label: String
    package var createdAt: Timestamp
    /// From this moment on it is as if it had never been; nil: it does not end by itself.
    package var expiresAt: Timestamp?
    /// Noted now and then, not each time.
    package var lastUsedAt: Timestamp?

    package init(
        id: String, hash: String, owner: String, epoch: Int, scopes: [String], recipients: [String]? = nil,
        recipientOwners: [String] = [], label: String = "", createdAt: Timestamp, expiresAt: Timestamp? = nil,
        lastUsedAt: Timestamp? = nil
    ) {
        (self.id, self.hash, self.owner, self.epoch) = (id, hash, owner, epoch)
        (self.scopes, self.recipients, self.label) = (scopes, recipients, label)
        self.recipientOwners = recipientOwners
        (self.createdAt, self.expiresAt, self.lastUsedAt) = (createdAt, expiresAt, lastUsedAt)
    }

    package func isExpired(_ now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}
