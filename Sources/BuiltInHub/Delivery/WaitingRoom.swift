// SPDX-License-Identifier: Apache-2.0

/// Decides which messages are given up where too much waits for another try or for a credential: the oldest of the sender with
/// most of it. So no sender's messages that cannot be delivered keep those of others out of the queue.
enum WaitingRoom {
    struct Message {
        let id: String
        /// As `HubNotification.sender`. All without one count as one sender's.
        let sender: String?
        let dueAt: Int64
        /// In the unit of the limit: bytes, or 1 of a number of messages.
        let size: Int
    }

    /// - Returns: those that leave, so that the size of the rest is at most `limit`, in the order in which they leave.
    static func excess(of messages: [Message], above limit: Int) -> [Message] {
        var left = messages.reduce(0) { $0 + $1.size }
        guard left > limit else { return [] }
        var senders = Dictionary(grouping: messages, by: \.sender).mapValues { own in
            (
                rest: own.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }[...],
                size: own.reduce(0) { $0 + $1.size }
            )
        }
        var leaving: [Message] = []
        while left > limit {
            // Of several with as much the first by name, so that it is known whose turn it is.
            let largest = senders.max { ($0.value.size, $1.key ?? "") < ($1.value.size, $0.key ?? "") }
            guard let sender = largest?.key, let oldest = senders[sender]?.rest.popFirst() else { return leaving }
            senders[sender]?.size -= oldest.size
            left -= oldest.size
            leaving.append(oldest)
        }
        return leaving
    }
}
