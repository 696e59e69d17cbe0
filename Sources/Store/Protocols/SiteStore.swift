// SPDX-License-Identifier: Apache-2.0
package import Text

/// All that a site keeps. The program that runs a site knows no more of its store than this.
package protocol SiteStore: StateStore, HubStore, HubQueue, SweptStore, TransferStore {}

/// A store whose expired records are removed by and by.
package protocol SweptStore: Sendable {
    /// Looks at no more than `budget` pieces (files, or rows), continuing where the last call ended, and removes what has
    /// expired or was superseded. Readers never see that anyway, so this is about space, and about payloads not lying on
    /// the disk for longer than they must.
    /// - Throws: `readOnly` and `poisoned` at least.
    func sweep(budget: Int, now: Timestamp) throws(StoreError) -> SweepProgress
}

/// How far a sweep has come.
package struct SweepProgress: Equatable, Sendable {
    /// Files, or rows, that were looked at by this call.
    package var visited = 0
    /// Those among them that were rewritten, or removed.
    package var compacted = 0
    /// Whether the last of them was reached; the next call begins a new round.
    package var finishedRound = false

    package init() {}
}

/// A store whose records can be moved to another one.
package protocol TransferStore: Sendable {
    /// Calls `body` with every record that has not expired, whole and none twice. What is written meanwhile may be among
    /// them or not.
    func forEachRecord(
        now: Timestamp, _ body: (StoredRecord) throws(StoreError) -> Void
    ) throws(StoreError)

    /// Keeps the records as they are, durably: ids, tokens, versions and readings included, whatever the quotas. One whose
    /// key is taken is left as it is, so that doing it again changes nothing.
    /// - Returns: how many were kept.
    func putRecords(_ records: [StoredRecord], now: Timestamp) throws(StoreError) -> Int
}

/// The hub's name of a send, or the id of a message that the hub has no name of, under its sender.
package struct SentNotification: Hashable, Sendable {
    package var id: String
    package var owner: String
    /// The message that is forgotten together with it.
    package var message: String?
    /// From this moment on it is forgotten.
    package var expiresAt: Timestamp

    package init(id: String, owner: String, message: String? = nil, expiresAt: Timestamp) {
        (self.id, self.owner, self.message, self.expiresAt) = (id, owner, message, expiresAt)
    }
}
