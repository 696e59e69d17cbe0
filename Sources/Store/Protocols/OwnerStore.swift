// SPDX-License-Identifier: Apache-2.0
package import Text

/// All that is kept under one owner, for who removes a user or asks about one.
///
/// The rules of `StateStore` hold. Each call costs what the owner has; quotas bound that.
package protocol OwnerStore: Sendable {
    /// How much the owner has, and of which time.
    func holdings(of owner: String, now: Timestamp) throws(StoreError) -> Holdings

    /// Removes the owner's secure notifications. Their payloads are not left on the disk for a later rewrite.
    /// - Returns: how many there were.
    func removeNotifications(owner: String) throws(StoreError) -> Int

    /// Forgets what the owner has sent.
    /// - Returns: how many sends were remembered.
    func forgetSent(owner: String) throws(StoreError) -> Int

    /// Forgets the owner's keys, with what was answered.
    /// - Returns: how many there were.
    func removeIdempotencyKeys(owner: String) throws(StoreError) -> Int
}

/// How much an owner has of what expires, without what has expired.
package struct Holdings: Equatable, Sendable {
    /// Records, and when the first and the last of them were made.
    package struct Span: Equatable, Sendable {
        package var count = 0
        package var oldest: Timestamp?
        package var newest: Timestamp?

        package init(_ times: [Timestamp] = []) {
            (count, oldest, newest) = (times.count, times.min(), times.max())
        }

        package init(count: Int, oldest: Timestamp?, newest: Timestamp?) {
            (self.count, self.oldest, self.newest) = (count, oldest, newest)
        }
    }

    package var sessions: Span
    /// Secure notifications that were not read yet.
    package var waiting: Span
    package var read: Span

    package init(sessions: Span = Span(), waiting: Span = Span(), read: Span = Span()) {
        (self.sessions, self.waiting, self.read) = (sessions, waiting, read)
    }
}
