// SPDX-License-Identifier: Apache-2.0

/// How much a store keeps, whatever it keeps it in. The defaults are the product's; tests make them small.
package struct Quotas: Sendable {
    /// Secure notifications that are neither expired nor removed, per owner. For new ones older ones leave (`MailboxRoom`).
    package var notificationsPerOwner = 1_000
    /// Bytes of them (`SecureNotification.size`), per owner.
    package var notificationBytesPerOwner = 1 << 20
    /// Plain messages that are kept, per owner, apart from the secure ones: neither kind takes the other's room.
    package var plainMessagesPerOwner = 500
    /// Bytes of them, counted alike.
    package var plainMessageBytesPerOwner = 512 << 10
    /// Devices per owner, with ids that are not used yet; one more where that is such an id, which takes no device's place before it is
    /// used. Calls in flight at the same moment may exceed it by their number.
    package var devicesPerOwner = 100
    /// Bytes of messages that the local hub may deliver and has not delivered yet, of all senders together (`queueRoom`).
    package var queueBytes = 16 << 20
    /// Bytes of messages that are not to be delivered before a given time, of all together. Only a command of the operator's and
    /// the keys of a served hub put them in.
    package var scheduledBytes = 64 << 20
    /// How far ahead that time may be, in seconds.
    package var scheduledSeconds: Int64 = 31 * 86_400
    /// Sessions per owner; the oldest end for new ones. Log-ins at the same moment may exceed it by their number.
    package var sessionsPerOwner = 50
    /// App tokens per owner. Calls in flight at the same moment may exceed it by their number.
    package var appTokensPerOwner = 50
    /// Sends per owner that are remembered, a message object as one for each platform; the oldest are forgotten for new ones.
    package var sentPerOwner = 1_000
    /// Finished sends of the local hub that are remembered, of all senders together; the oldest are forgotten for new ones.
    /// As many message objects, too.
    package var hubMessages = 200_000
    /// Users who are counted when they open one message.
    package var openersPerMessage = 10_000
    /// Openings of all messages together; the oldest are forgotten for new ones. As many as fill each of a file store's 256
    /// files with one message.
    package var openings = 256 * 10_000
    /// Bytes of events that wait to be told to webhooks, of all users together (`room(of:)`).
    package var webhookBytes = 16 << 20
    /// Bytes of users' messages for later, of all users together (`room(of:)`).
    package var sendBytes = 4 << 20
    /// Idempotency keys per owner; of those that were answered the oldest are forgotten for new ones.
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
