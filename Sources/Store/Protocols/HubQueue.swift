// SPDX-License-Identifier: Apache-2.0
package import Text

/// Messages that the local hub took and has not delivered yet.
///
/// The rules of `StateStore` hold. Many processes may put messages in. One at a time delivers them: the holder of the
/// delivery lease. Only the holder changes or removes what waits.
package protocol HubQueue: Sendable {
    /// Keeps the message until it is removed.
    /// - Throws: `quotaExceeded`, when as much waits as may, or it is due later than it may be; `shareExceeded`, when as much of
    ///   its owner's does (`Quotas.queueRoom`).
    func enqueueHubMessage(_ message: HubMessage) throws(StoreError)

    /// The waiting message of that id, due or not; nil when none of that id waits.
    /// - Parameter notBefore: the message's own: a store may keep messages by the time at which they are due.
    func queuedHubMessage(_ id: String, notBefore: Timestamp?) throws(StoreError) -> HubMessage?

    /// The messages that are due, without those of the ids; what was due first comes first. Messages that are not due cost
    /// nothing, however many they are.
    /// - Throws: `conflict`, when the lease was lost.
    func dueHubMessages(except ids: Set<String>, limit: Int, now: Timestamp) throws(StoreError) -> DueHubMessages

    /// Replaces messages that were due, durably. Those that were due at once are replaced in one write.
    /// - Throws: `conflict`, when the lease was lost; nothing was written then.
    func updateQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError)

    /// Ends the wait of these messages, due or not; only their ids and `notBefore` matter. After a loss of power they may wait again, as they were when they were last
    /// updated.
    /// - Throws: as `updateQueuedHubMessages(_:)`.
    func removeQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError)

    /// Keeps what became of these messages, as `HubStore.putHubMessage(_:)` does, and ends their wait. Each is to be found
    /// at every moment, among those that wait or among those that are done. Their `notBefore` is that of the waiting ones.
    /// - Throws: as `updateQueuedHubMessages(_:)`.
    func finishQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError)

    /// Differs from an earlier one when any process has since put in something that is due, or is due before everything
    /// that waited for its time. Cheap, so it may be called often. It need not differ because time has passed:
    /// `DueHubMessages.next` tells when to look again.
    func hubQueueRevision(now: Timestamp) -> QueueRevision

    /// How much is due and waits, from all processes; for monitoring. Its cost grows with what is due, and is nearly nothing
    /// as long as that does not change. Lines that cannot be read may be counted.
    func hubQueueBacklog(now: Timestamp) throws(StoreError) -> QueueBacklog

    /// The right to deliver; nil while another holder has it. It lasts until `release()`, until the last reference to it
    /// is gone, or until the process ends, however that happens. In some stores it also ends when `renew()` was not called
    /// for some seconds.
    func acquireDeliveryLease() throws(StoreError) -> DeliveryLease?
}

extension HubQueue where Self: HubStore {
    /// For stores whose lease is not lost: one after the other.
    package func finishQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        for message in messages { try putHubMessage(message) }
        try removeQueuedHubMessages(messages)
    }
}

/// The state of a queue at one moment, to be compared with that of another.
package struct QueueRevision: Equatable, Sendable {
    private let state: [Int]

    package init(_ state: [Int]) {
        self.state = state
    }
}

/// What a look at a queue has found.
package struct DueHubMessages: Equatable, Sendable {
    package var messages: [HubMessage]
    /// When the next look is worthwhile even though the revision is still the same: then something may be due that is not
    /// yet. Nil: nothing waits for its time. Unknown, and perhaps nil, where there were as many messages as the limit.
    package var next: Timestamp?

    package init(_ messages: [HubMessage], next: Timestamp? = nil) {
        self.messages = messages
        self.next = next
    }
}

/// How much is due and waits in a queue.
package struct QueueBacklog: Equatable, Sendable {
    package var messages: Int
    /// Since when the oldest of them is due; nil when none waits.
    package var oldest: Timestamp?
    /// What the queue takes on the disk, messages included that have left it and are not yet swept away.
    package var bytes: Int

    package init(messages: Int = 0, oldest: Timestamp? = nil, bytes: Int = 0) {
        self.messages = messages
        self.oldest = oldest
        self.bytes = bytes
    }
}

/// The right to deliver what waits, held by one at a time.
package final class DeliveryLease: Sendable {
    private let renewal: @Sendable () -> Bool
    private let giveBack: @Sendable () -> Void

    /// - Parameters:
    ///   - renewal: as `renew()`, for leases that end by themselves; called by one thread, often.
    ///   - giveBack: ends the lease; called once or more.
    package init(renewal: @escaping @Sendable () -> Bool = { true }, _ giveBack: @escaping @Sendable () -> Void) {
        self.renewal = renewal
        self.giveBack = giveBack
    }

    /// The holder calls it again and again, because some stores end a lease that is not renewed.
    /// - Returns: false when the lease is lost; another process may be delivering by now, so nothing more may be begun.
    package func renew() -> Bool {
        renewal()
    }

    deinit {
        giveBack()
    }

    package func release() {
        giveBack()
    }
}
