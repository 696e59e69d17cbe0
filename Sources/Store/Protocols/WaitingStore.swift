// SPDX-License-Identifier: Apache-2.0

/// What waits for this program itself. Each entry has the form of a message that waits.
package enum WaitingList: CaseIterable, Sendable {
    /// Events for receivers elsewhere. No change of it costs a flush: what was written last survives a kill and may be lost with the
    /// power.
    case webhookEvents
    /// Users' messages for later. What a call has written survives a loss of power, too.
    case sends
}

/// The lists of what waits. Many processes may put entries in. One at a time works on a list: the holder of its lease.
package protocol WaitingStore: Sendable {
    /// Keeps the entries, each in the place of one of its id. They have one owner, or none.
    /// - Throws: `quotaExceeded`, when as much waits as may and an entry is new; `shareExceeded`, when as much of its owner's does
    ///   (`Quotas.room(of:)`).
    func putWaiting(_ entries: [HubMessage], in list: WaitingList) throws(StoreError)

    /// The entries of the list, without those of the ids; the oldest comes first.
    func waiting(in list: WaitingList, except ids: Set<String>) throws(StoreError) -> [HubMessage]

    /// The entries of that owner, and those without an owner, which an earlier version has written; the oldest comes first. It
    /// costs what these are, however long the list is.
    func waiting(in list: WaitingList, of owner: String) throws(StoreError) -> [HubMessage]

    /// The entry of that id; nil when there is none. It costs the same however long the list is.
    func waitingEntry(_ id: String, in list: WaitingList) throws(StoreError) -> HubMessage?

    /// Takes the entries of these ids from the list.
    func removeWaiting(_ ids: [String], from list: WaitingList) throws(StoreError)

    /// Replaces the entry, or removes it, as long as it is there as the caller has seen it. Of two callers at once one succeeds.
    /// - Parameter new: of the same id and times; nil: the entry is removed.
    /// - Returns: false, when it is not there any more, or has another document.
    func changeWaiting(_ entry: HubMessage, to new: HubMessage?, in list: WaitingList) throws(StoreError) -> Bool

    /// The right to work on the list; as `HubQueue.acquireDeliveryLease()`.
    func acquireLease(of list: WaitingList) throws(StoreError) -> DeliveryLease?
}

extension WaitingStore {
    package func waiting(in list: WaitingList) throws(StoreError) -> [HubMessage] { try waiting(in: list, except: []) }
}
