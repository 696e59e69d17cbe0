// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
import HTTP
import HTTPTypes
package import NotificationHub
import Store
import Text

/// `GET /api/notifications/outcomes/{NotificationId}`
extension NotificationsController {
    /// For how long a sender may ask what became of a send, in seconds; the hub forgets it then as well.
    static let sentSeconds: Int64 = 7 * 86_400

    /// Until when it is remembered what was sent, or handed to the hub for later, at a time.
    func sentExpiry(_ time: Timestamp) -> Timestamp { (notifications.sendAt ?? time) + Self.sentSeconds }

    /// The outcome of a send, for its sender. The id of another user's send, one that the hub does not know (yet, or any
    /// more) and one that never existed are 404, all alike.
    func outcome(_ request: UserRequest, _ name: String) throws -> Response {
        let sender = request.user
        guard let id = NotificationID(name),
            try store.hasSent(id.description, owner: sender.owner, now: now()),
            let details = try notifications.hub.tracking(request.id).details(id.description)
        else { throw Problem(.noSuchMessage, "You have sent no such notification.") }
        return .unstoredJSON(SendOutcomeDetails(id, details).json)
    }

    /// Remembers the sender, who may ask, and of a message object what the hub has said. A failure of this does not fail the send.
    /// - Returns: whether the message can be asked after by its id.
    func remember(_ result: SendResult, _ message: SentMessage?, of request: UserRequest) -> Bool {
        let ids = result.outcomes.compactMap(\.notificationID).filter { NotificationID($0) != nil }
        guard !ids.isEmpty || message != nil else { return false }
        let time = now()
        let message = message.map { message in
            var message = message
            message.sequence = schedule.sequence.next()
            message.outcomes = result.outcomes.map {
                .init(platform: $0.platform, state: $0.state, notificationID: $0.notificationID)
            }
            return message
        }
        let isKept = attempt(request) { () throws(StoreError) in
            try store.rememberSent(
                ids, message: message, owner: request.user.owner, now: time, expiresAt: sentExpiry(time))
            if let message { changes.webhooks?.awaitOutcome(of: message) }
            return message != nil
        }
        return isKept ?? false
    }
}

extension SendOutcomeDetails {
    /// Without what else the hub tells: the message's text and the tags are not for the wire, nor is the reason of a wait,
    /// which is for the operator.
    package init(_ id: NotificationID, _ details: NotificationDetails) {
        self.init(
            notificationID: id.description, state: details.state,
            outcomes: details.outcomes.map { outcome in
                PlatformCounts(
                    platform: outcome.platform.rawValue, counts: outcome.counts.map { Count($0.name, $0.count) })
            })
        waitsForCredential = details.waitReason != nil
    }
}
