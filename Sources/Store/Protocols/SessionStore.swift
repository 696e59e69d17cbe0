// SPDX-License-Identifier: Apache-2.0
package import Text

/// Who is logged in: the sessions that cookies stand for.
///
/// The rules of `StateStore` hold; above all, when one process has ended a session, no other process finds it from its
/// next call on.
package protocol SessionStore: Sendable {
    /// Keeps the session. Where its owner has as many as one owner may have, the owner's oldest end for it.
    /// - Throws: `conflict`, when there is one of that id.
    func createSession(_ session: Session, now: Timestamp) throws(StoreError)

    /// The session of that id; nil when it never was, was ended, or has expired: all alike.
    func session(_ id: String, now: Timestamp) throws(StoreError) -> Session?

    /// The owner's sessions that have not expired, in the order in which they began.
    func sessions(owner: String, now: Timestamp) throws(StoreError) -> [Session]

    /// Ends a session.
    /// - Returns: whether there was one.
    func removeSession(_ id: String) throws(StoreError) -> Bool

    /// Ends all sessions of the owner that were there when the call began.
    /// - Returns: how many.
    func removeSessions(owner: String) throws(StoreError) -> Int
}

/// A time in which a user need not show their password again.
package struct Session: Hashable, Identifiable, Sendable {
    /// The SHA-256 of the text that its bearer shows, which itself is stored nowhere.
    package var id: String
    /// The user whose it is.
    package var owner: String
    /// Fits only as long as the owner's log-ins depend on what they depended on when it began, above all the password.
    package var binding: String
    package var createdAt: Timestamp
    /// From this moment on it is as if it had never been.
    package var expiresAt: Timestamp

    package init(id: String, owner: String, binding: String, createdAt: Timestamp, expiresAt: Timestamp) {
        self.id = id
        self.owner = owner
        self.binding = binding
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}
