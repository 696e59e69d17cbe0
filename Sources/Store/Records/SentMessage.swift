// SPDX-License-Identifier: Apache-2.0
package import Text

/// A message object that was sent: by whom, to whom, when, and by which names the hub can be asked for it. Without its text.
package struct SentMessage: Hashable, Sendable {
    /// What the sender was told, and what the message is named by to the recipient's devices: `NotificationNames.token`.
    package var id: String
    /// The sender, as the owner that they were.
    package var owner: String
    /// The recipients as the sender wrote them, as one text.
    package var to: String
    /// The owner whose message it is; nil: it is not one user's.
    package var recipient: String?
    package var sentAt: Timestamp
    /// Its place among those of one second, by `CreationSequence`; 0: earlier versions have sent it.
    package var sequence: Int64
    /// Whether only its id has travelled.
    package var isSecure: Bool
    /// The id under which the mailbox of `recipient` keeps it, or has kept it; nil: it was not kept.
    package var keptID: Int32?
    /// One for each platform.
    package var outcomes: [PlatformOutcome]
    /// From this moment on it is forgotten.
    package var expiresAt: Timestamp

    /// Where a message is in a list of the newest first: by the time, then by the sequence, then by the id.
    package struct Place: Comparable, Hashable, Sendable {
        package var sentAt: Timestamp
        package var sequence: Int64
        package var id: String

        /// - Parameter id: empty, with the sequence 0: the place is before all messages of that moment.
        package init(sentAt: Timestamp, sequence: Int64 = 0, id: String = "") {
            (self.sentAt, self.sequence, self.id) = (sentAt, sequence, id)
        }

        package static func < (one: Place, other: Place) -> Bool {
            (one.sentAt, one.sequence, one.id) < (other.sentAt, other.sequence, other.id)
        }
    }

    package var place: Place { Place(sentAt: sentAt, sequence: sequence, id: id) }

    /// What the hub said when it was handed the message for one platform.
    package struct PlatformOutcome: Hashable, Sendable {
        package var platform: String
        package var state: String
        /// The hub's name of the send; nil: it gave none.
        package var notificationID: String?

        package init(platform: String, state: String, notificationID: String? = nil) {
            (self.platform, self.state, self.notificationID) = (platform, state, notificationID)
        }
    }

    package init(
        id: String, owner: String, to: String, recipient: String? = nil, sentAt: Timestamp, sequence: Int64 = 0,
        isSecure: Bool = false, keptID: Int32? = nil, outcomes: [PlatformOutcome] = [], expiresAt: Timestamp
    ) {
        (self.id, self.owner, self.to, self.recipient) = (id, owner, to, recipient)
        (self.sentAt, self.sequence, self.isSecure, self.keptID) = (sentAt, sequence, isSecure, keptID)
        (self.outcomes, self.expiresAt) = (outcomes, expiresAt)
    }
}

/// That a user has opened a message, on whatever device.
package struct MessageOpening: Hashable, Sendable {
    /// The owner who has opened it.
    package var opener: String
    /// `SentMessage.id`.
    package var message: String
    /// From this moment on it is forgotten: with its message.
    package var expiresAt: Timestamp

    package init(opener: String, message: String, expiresAt: Timestamp) {
        (self.opener, self.message, self.expiresAt) = (opener, message, expiresAt)
    }
}
