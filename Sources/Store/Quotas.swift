// SPDX-License-Identifier: Apache-2.0

/// How much a store keeps, whatever it keeps it in. The defaults are the product's; tests make them small.
package struct Quotas: Sendable {
    /// Secure messages of one recipient that have neither expired nor been deleted. New ones replace older ones
    /// (`MailboxRoom`).
    package var notificationsPerOwner = 1_000
    /// Bytes of one recipient's secure messages (`SecureNotification.size`).
    package var notificationBytesPerOwner = 1 << 20
    /// Plain messages that are stored for one recipient, in addition to the secure ones.
    package var plainMessagesPerOwner = 500
    /// Bytes of one recipient's plain messages.
    package var plainMessageBytesPerOwner = 512 << 10
    /// Devices of one user. Concurrent requests may exceed it by their number.
    package var devicesPerOwner = 100
    /// Bytes of due messages that the built-in hub has not delivered yet, of all senders (`queueRoom`).
    package var queueBytes = 16 << 20
    /// Bytes of messages that the operator's command and the keys of a served hub have scheduled.
    package var scheduledBytes = 64 << 20
    /// How far ahead the store accepts these. The command and the hub's REST API accept seven days.
    package var scheduledSeconds: Int64 = 31 * 86_400
    /// Sessions of one user. New ones end the oldest. Concurrent logins may exceed it by their number.
    package var sessionsPerOwner = 50
    /// App tokens of one user. Concurrent requests may exceed it by their number.
    package var appTokensPerOwner = 50
    /// Sends of one sender whose results are stored. A message object counts once for each platform. New ones replace the
    /// oldest.
    package var sentPerOwner = 1_000
    /// Finished sends of the built-in hub whose results are stored, of all senders, and as many message objects. A new send
    /// replaces the oldest one of the sender with most, a new object the oldest.
    package var hubMessages = 200_000
    /// Users who are counted as having opened one message.
    package var openersPerMessage = 10_000
    /// Openings of all messages. New ones replace the oldest.
    package var openings = 256 * 10_000
    /// Bytes of events that wait for webhooks, of all users (`room(of:)`).
    package var webhookBytes = 16 << 20
    /// Bytes of users' scheduled messages, of all users (`room(of:)`).
    package var sendBytes = 4 << 20
    /// Idempotency keys of one user. New ones replace the oldest of those whose request has its response.
    package var idempotencyKeysPerOwner = 1_000

    /// One sender may fill one of so many parts of a mailbox with what is unread.
    private static let senderParts = 2
    package var notificationsPerSender: Int { max(1, notificationsPerOwner / Self.senderParts) }
    package var notificationBytesPerSender: Int { notificationBytesPerOwner / Self.senderParts }
    /// Of plain messages with what is read, too.
    package var plainMessagesPerSender: Int { (plainMessagesPerOwner + 1) / Self.senderParts }
    package var plainMessageBytesPerSender: Int { (plainMessageBytesPerOwner + 1) / Self.senderParts }

    /// One sender may have one of so many parts of the queue, or of the events for webhooks, where more than half is taken.
    private static let queueParts = 8
    /// The same of the messages for later, which wait for days: they are many users' at the same time.
    private static let sendParts = 256

    package init() {}

    /// How many devices the owner of this one may have, with it.
    package func devices(with device: DeviceRecord) -> Int {
        device.isUnused && devicesPerOwner < .max ? devicesPerOwner + 1 : devicesPerOwner
    }

    package var queueRoom: SharedRoom { SharedRoom(total: queueBytes, share: queueBytes / Self.queueParts) }

    /// What a list of what waits may hold.
    package func room(of list: WaitingList) -> SharedRoom {
        switch list {
        case .webhookEvents: SharedRoom(total: webhookBytes, share: webhookBytes / Self.queueParts)
        case .sends: SharedRoom(total: sendBytes, share: sendBytes / Self.sendParts)
        }
    }
}
