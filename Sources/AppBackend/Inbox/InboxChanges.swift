// SPDX-License-Identifier: Apache-2.0
import Logging
import Store
import Text

/// What follows from the reading of a message, and from its removal: it is passed on to receivers and devices.
struct InboxChanges: Sendable {
    let store: any StateStore
    /// Nil: there are no receivers.
    let webhooks: Webhooks?
    /// Nil: devices do not hear of it.
    let sync: InboxSync?
    let now: @Sendable () -> Timestamp
    let logger: Logger

    /// - Parameter notification: as it was before the reading.
    func noteReading(of notification: SecureNotification) {
        guard !notification.isRead else { return }
        sync?.note(notification.id, owner: notification.owner)
        guard let webhooks, webhooks.tell(of: .messageRead) else { return }
        do throws(StoreError) {
            guard let message = try store.sentMessage(notification.token, now: now()) else { return }
            webhooks.tellReading(of: message)
        } catch {
            logger.warning("store: \(error)")
        }
    }

    func noteRemoval(of id: Int32, owner: String) { sync?.note(id, owner: owner) }
}
