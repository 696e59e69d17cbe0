// SPDX-License-Identifier: Apache-2.0

/// Why the store could not do what was asked. The cases say what the caller must do.
package enum StoreError: Error, Equatable, Sendable {
    /// The record is not at the version that the caller had read: read again and decide again.
    case conflict
    /// The owner has as many records as one owner may have.
    case quotaExceeded
    /// The sender has left as much unread with that owner, or has as much waiting, as one sender may. After so many seconds
    /// enough of it has expired; reading, or delivering, makes room earlier.
    case shareExceeded(retryAfterSeconds: Int)
    /// The text that should name a page of a list names none: the caller's mistake, or that of its client.
    case invalidContinuationToken
    /// No space or no inodes are left. Nothing was written.
    case full
    /// The store is on a read-only mount, may not be written by this user, or is a database's standby: reads work.
    case readOnly
    /// Others held the lock, or all connections, for longer than the deadline: try again after so many seconds.
    case busy(retryAfterSeconds: Int)
    /// A flush failed: what the disk holds is unknown, nothing more is written by this process (fsync is never retried).
    case poisoned
    /// The store's own files are not what they should be; `detail` names file and fault, never content.
    case damaged(detail: String)
    /// What the store is in is there, and was not made ready for this version; `detail` says what does that.
    case notReady(detail: String)
    /// The operating system refused; `detail` names the call, the file and the reason.
    case unavailable(detail: String)
}

extension StoreError: CustomStringConvertible {
    /// For people; names files, never contents.
    package var description: String {
        switch self {
        case .conflict: "another writer has changed the same record meanwhile"
        case .quotaExceeded: "the owner has as many records as one owner may have"
        case .shareExceeded: "the sender has left as much unread, or has as much waiting, as one sender may"
        case .invalidContinuationToken: "there is no such page"
        case .full: "no space is left on the disk; nothing was written"
        case .readOnly: "the store may not be written: a read-only mount or database, or files of another user"
        case .busy: "others have held a lock of the store, or all of its connections, for too long"
        case .poisoned: "the disk has failed to keep what was written; this process writes no more"
        case .damaged(let detail): "the store is damaged: \(detail)"
        case .notReady(let detail): "the store is not ready: \(detail)"
        case .unavailable(let detail): "the store cannot be used: \(detail)"
        }
    }
}
