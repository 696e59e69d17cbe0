// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
package import Text

extension FileSiteStore {
    package func holdings(of owner: String, now: Timestamp) throws(StoreError) -> Holdings {
        let sessions = try sessions(owner: owner, now: now)
        let notifications = try notifications(owner: owner, unreadOnly: false, after: nil, limit: .max, now: now)
        return Holdings(
            sessions: .init(sessions.map(\.createdAt)),
            waiting: .init(notifications.filter { !$0.isRead }.map(\.createdAt)),
            read: .init(notifications.filter(\.isRead).map(\.createdAt)))
    }

    package func removeNotifications(owner: String) throws(StoreError) -> Int {
        try notificationTable.removeRecords(of: owner)
    }

    package func forgetSent(owner: String) throws(StoreError) -> Int {
        let sent = CurrentRecords(try sentTable.read(owner), sentTable, key: owner)
        sentMessageTable.forget(sent.decoded(as: SentNotification.self).compactMap(\.forgottenMessage))
        return try sentTable.removeRecords(of: owner)
    }

    package func removeIdempotencyKeys(owner: String) throws(StoreError) -> Int {
        try idempotencyTable.removeRecords(of: owner)
    }
}

extension BucketTable {
    /// Removes all records of that key, in a table whose key is the owner, and rewrites their file so that nothing of them stays in it.
    /// - Returns: how many there were, expired ones included.
    fileprivate func removeRecords(of key: String) throws(StoreError) -> Int {
        guard CurrentRecords(try read(key), self, key: key).count > 0 else { return 0 }
        let hash = hash(of: key)
        return try withLock(hash) { () throws(StoreError) -> Int in
            guard let (file, depth) = try open(hash, O_RDWR | O_APPEND) else { return 0 }
            let bucket = try BucketWriter(context, file)
            let records = CurrentRecords(try bucket.content(), self, key: key)
            let ids = records.inOrder.compactMap { records.line(of: $0)?.id }
            guard !ids.isEmpty else { return 0 }
            try bucket.append(ids.flatMap { LineCodec.removal(of: $0, owner: key) })
            try bucket.flush()
            do throws(StoreError) {
                try compact(file, hash, depth: depth, now: nil)
            } catch .full {
                // They are removed; that they lie on the disk for longer is the lesser evil.
                context.report(.tidyingFailed(file: file.name, .full))
            }
            return ids.count
        }
    }
}
