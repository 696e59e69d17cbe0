// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
package import Store
package import System
import Text

/// Users' messages for later, as requests see them: they are put in, listed and taken back. `ScheduledSender` sends them.
package final class SendSchedule: Sendable {
    /// Messages of one user that may wait.
    static let maximumPerUser = 100
    /// Bytes of them; fewer where the messages of all users are many (`Quotas.room(of:)`).
    static let maximumBytesPerUser = 256 << 10
    /// How often `ScheduledSender` looks for what other processes have put in, in seconds.
    static let pollSeconds: Int64 = 10

    let store: any WaitingStore
    /// Of the thread that sends them; woken when there is a new one that is due before its next look.
    package let loop = WorkLoop()
    /// Of messages that are sent, and of those that are put in here.
    let sequence = CreationSequence()

    package init(store: any WaitingStore) {
        self.store = store
    }

    /// All that wait, of all users.
    func all() throws(StoreError) -> [ScheduledSend] {
        try store.waiting(in: .sends).compactMap { ScheduledSend($0) }
    }

    /// Those of the owner that no process has begun to send, the soonest first.
    func sends(of owner: String) throws(StoreError) -> [ScheduledSend] {
        try waiting(of: owner).filter { !$0.hasBegun }.sorted { $0.place < $1.place }
    }

    private func waiting(of owner: String) throws(StoreError) -> [ScheduledSend] {
        try store.waiting(in: .sends, of: owner).compactMap { ScheduledSend($0) }
            .filter { $0.owner.hasSameBytes(as: owner) }
    }

    /// Keeps the message, durably.
    /// - Throws: `Problem` 429, when as many of the user's, or as many bytes, wait as may, or as many of all users'; `StoreError`.
    func add(_ send: ScheduledSend) throws {
        let field = PushMessage.Member.sendAt.rawValue
        let others = try waiting(of: send.owner)
        let bytes = others.reduce(send.text.utf8.count) { $0 + $1.text.utf8.count }
        guard others.count < Self.maximumPerUser, bytes <= Self.maximumBytesPerUser else {
            throw Problem(
                .tooManyScheduled, "As many messages of yours wait for their time as may.", field: field,
                retryAfter: Problem.quotaRetryAfter)
        }
        do throws(StoreError) {
            try store.putWaiting([send.stored], in: .sends)
        } catch {
            let detail =
                switch error {
                case .quotaExceeded: "As many messages of all users wait for their time as may."
                case .shareExceeded: "Messages of many users wait for their time, and of yours as many as then may."
                default: throw error
                }
            throw Problem(.tooManyScheduled, detail, field: field, retryAfter: Problem.quotaRetryAfter)
        }
        // What is due later is found by the next look; each look reads the messages of all users.
        if send.sendAt <= send.stored.createdAt + Self.pollSeconds { loop.wake() }
    }

    /// Takes back a message that no process has begun to send.
    /// - Parameter owner: whose it must be; nil: any user's.
    /// - Returns: what it was; nil, when no such message waits.
    func cancel(_ id: String, owner: String?) throws(StoreError) -> ScheduledSend? {
        guard let send = try store.waitingEntry(id, in: .sends).flatMap({ ScheduledSend($0) }), !send.hasBegun,
            owner.map({ send.owner.hasSameBytes(as: $0) }) ?? true
        else { return nil }
        return try store.changeWaiting(send.stored, to: nil, in: .sends) ? send : nil
    }

    /// How many wait, and the soonest time of them. Those that are being sent are among them.
    package func backlog() throws(StoreError) -> QueueBacklog {
        let sends = try all()
        return QueueBacklog(messages: sends.count, oldest: sends.map(\.sendAt).min())
    }
}

extension WaitingStore {
    /// Takes away all messages for later of an owner who is removed.
    /// - Returns: how many there were.
    func removeScheduledSends(owner: String) throws(StoreError) -> Int {
        let ids = try waiting(in: .sends, of: owner).filter {
            $0.document["owner"]?.string?.hasSameBytes(as: owner) == true
        }
        .map(\.id)
        try removeWaiting(ids, from: .sends)
        return ids.count
    }
}
