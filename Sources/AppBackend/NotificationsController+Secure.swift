// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// `POST /api/notifications` without `pns`: secure push
extension NotificationsController {
    /// What is kept when the sender gives no text: the tutorial's.
    static let defaultPayload = "Secure confirmation."

    /// Keeps the payload for its recipient, durably, and only then sends its id, and nothing but its id, through
    /// the push services.
    func sendSecure(_ request: Request, _ query: Query) throws -> Response {
        let sender = try request.authenticatedUser()
        let recipient = try secureRecipient(query["to_tag"] ?? "", sender: sender)
        let payload = request.body.isEmpty ? Self.defaultPayload : try request.jsonString()
        let time = now()
        let kept = try store.createNotification(
            owner: recipient.owner, payload: payload, now: time, expiresAt: time + retentionSeconds)
        let audience = TagExpression.tag(try RegisterController.userTag(recipient.owner))
        let delivery = notifications.send(to: audience, on: notifications.platforms, requestID: request.id) {
            platform in
            Payload.secure(id: kept.id, token: kept.token, to: platform)
        }
        return try answer(delivery, id: kept.id, to: request)
    }

    private func secureRecipient(_ text: String, sender: Principal) throws -> Principal {
        if text.isEmpty { return sender }
        let recipient = try recipient(text, sender: sender)
        // A sender who is known to the store sends to users who are, or anybody could fill the disk with payloads
        // that nobody can ever read.
        if try store.user(sender.name) != nil, try store.user(recipient.name) == nil {
            throw Self.noRecipient
        }
        return recipient
    }
}
