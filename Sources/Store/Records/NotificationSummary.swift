// SPDX-License-Identifier: Apache-2.0
package import Text

/// A notification without its payload, as lists and quotas see it.
package struct NotificationSummary: Hashable, Sendable {
    package var id: Int32
    package var token: String
    /// Empty where it was not recorded.
    package var sender: String
    package var isRead: Bool
    package var createdAt: Timestamp
    package var expiresAt: Timestamp
    /// What it counts against the quotas, in bytes: `SecureNotification.size`.
    package var size: Int

    package init(
        id: Int32, token: String, sender: String, isRead: Bool, createdAt: Timestamp, expiresAt: Timestamp, size: Int
    ) {
        (self.id, self.token, self.sender, self.isRead) = (id, token, sender, isRead)
        (self.createdAt, self.expiresAt, self.size) = (createdAt, expiresAt, size)
    }

    package init(_ notification: SecureNotification, size: Int) {
        self.init(
            id: notification.id, token: notification.token, sender: notification.sender, isRead: notification.isRead,
            createdAt: notification.createdAt, expiresAt: notification.expiresAt, size: size)
    }
}
