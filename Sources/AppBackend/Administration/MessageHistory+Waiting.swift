// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import JSON
package import Store
package import Text

/// Users' messages for later, for operators.
extension MessageHistory {
    /// One that waits for its time, or is being sent.
    package struct Waiting: Sendable {
        /// What it will be: it is sent at `sentAt`. Without recipients where this version cannot read it.
        package let message: SentMessage
        /// When a process has tried to send it first; nil: none has.
        package let triedAt: Timestamp?

        init(_ send: ScheduledSend) {
            let given = send.message
            message = SentMessage(
                id: send.id, owner: send.owner, to: given?.to.text ?? "", sentAt: send.sendAt,
                sequence: send.sequence, isSecure: given?.isSecure ?? false, expiresAt: send.stored.expiresAt)
            triedAt = send.triedAt
        }
    }

    /// The soonest first.
    package func waiting(_ wish: Wish) throws(StoreError) -> [Waiting] {
        let waiting = try SendSchedule(store: store).all().map(Waiting.init).filter { wish.includes($0.message) }
        return Array(waiting.sorted { $0.message.place < $1.message.place }.prefix(max(0, wish.limit)))
    }

    /// Takes back a message that no process has begun to send.
    /// - Returns: what it was; nil, when no such message waits.
    package func cancel(_ id: String) throws(StoreError) -> Waiting? {
        try SendSchedule(store: store).cancel(id, owner: nil).map(Waiting.init)
    }
}

extension MessageHistory.Waiting {
    /// As `GET /api/admin/messages/scheduled` has it.
    func writeMembers(to json: inout JSONWriter) {
        json.member("MessageId", message.id)
        json.member("From", message.sender)
        json.member("To", message.to)
        json.member("SendAt", message.sentAt.text)
        json.member("Secure", message.isSecure)
        if let triedAt { json.member("TriedAt", triedAt.text) }
    }
}
