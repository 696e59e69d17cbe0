// SPDX-License-Identifier: Apache-2.0
package import Store
package import Text

/// For tests to which it does not matter who has left a notification.
extension StateStore {
    package func createNotification(
        owner: String, payload: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification {
        try createNotification(owner: owner, sender: "", payload: payload, now: now, expiresAt: expiresAt)
    }

    /// All of the owner's, whole, newest first.
    package func wholeNotifications(owner: String, now: Timestamp) throws(StoreError) -> [SecureNotification] {
        var found: [SecureNotification] = []
        for summary in try notifications(owner: owner, unreadOnly: false, after: nil, limit: .max, now: now) {
            if let whole = try notification(summary.id, owner: owner, now: now) { found.append(whole) }
        }
        return found
    }
}
