// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Text

/// `POST /api/notifications` without `pns`: secure push
extension NotificationsController {
    /// What is kept when the sender gives no text: the tutorial's.
    static let defaultPayload = "Secure confirmation."

    func sendSecure(_ request: UserRequest, _ query: Query) throws -> Response {
        let sender = request.user
        // The body first: else a body that is refused would tell without a trace whether there is such a recipient.
        let payload = request.body.isEmpty ? Self.defaultPayload : try request.http.jsonString()
        let recipient = try secureRecipient(query["to_tag"] ?? "", sender: sender)
        return try keepAndSend(payload, to: recipient, on: notifications.platforms, request)
    }

    /// Keeps the payload for its recipient, durably, and only then sends its id, and nothing but its id, through
    /// the push services.
    /// - Parameter isMessage: whether it was sent as a message object, whose answer has its id.
    func keepAndSend(
        _ payload: String, to recipient: Principal, on platforms: [Platform], isMessage: Bool = false,
        _ request: UserRequest
    ) throws -> Response {
        let templates = try templateAudience(of: recipient.owner, on: platforms, request)
        let time = now()
        let kept = try store.createNotification(
            owner: recipient.owner, sender: request.user.owner, payload: payload, now: time,
            expiresAt: time + retentionSeconds)
        let messages = try messages(of: kept, on: platforms, templates: templates)
        var send = notifications.send(messages, requestID: request.id)
        send.secureID = kept.id
        if isMessage {
            send.message = SentMessage(
                id: kept.token, owner: request.user.owner, to: recipient.name, recipient: recipient.owner, sentAt: time,
                isSecure: true, keptID: kept.id, expiresAt: time + Self.sentSeconds)
        }
        return try answer(send, to: request)
    }

    /// What tells the devices of its owner that it waits, and nothing else of it.
    /// - Parameters:
    ///   - templates: devices of the older call; nil: the owner has no such device.
    ///   - recipient: as the outcome calls them; nil: it does not.
    func messages(
        of kept: SecureNotification, on platforms: [Platform], templates: TagExpression?, recipient: String? = nil
    ) throws(Problem) -> [OutgoingMessage] {
        let audience = TagExpression.tag(try RegisterController.userTag(kept.owner))
        let template = templates.map {
            [AddressedNotification(Payload.templateSecure(id: kept.id, token: kept.token), to: $0)]
        }
        return OutgoingMessage.messages(
            to: audience, on: platforms, templates: template ?? [], recipient: recipient
        ) { platform in
            Payload.secure(id: kept.id, token: kept.token, to: platform, notifications.secureForm)
        }
    }

    private func secureRecipient(_ text: String, sender: Principal) throws -> Principal {
        guard !text.isEmpty else {
            try sender.scope.check(recipient: sender.name, field: "to_tag")
            return sender
        }
        let recipient = try recipient(text, sender: sender)
        try checkExists(recipient, sender: sender)
        return recipient
    }

    /// Whether a message may be kept for the recipient: for users who are known to the store, and for those whom an issuer may
    /// name and who have a device. Otherwise any sender could fill the disk with payloads that no user can ever read. With the
    /// method `test` all names are users.
    func mayKeep(for recipient: Principal, from sender: Principal) throws(StoreError) -> Bool {
        guard sender.record != nil || sender.method == .bearer else { return true }
        if let record = recipient.record { return record.removedAt == nil }
        guard issuers?.hasUser(named: recipient.name) == true else { return false }
        if recipient.owner.hasSameBytes(as: sender.owner) { return true }
        return try store.devices(owner: recipient.owner).contains { !$0.platform.isEmpty }
    }

    /// - Parameter name: what a refusal calls the recipient.
    /// - Throws: `Problem` 400, where nothing may be kept for the recipient; `StoreError`.
    func checkExists(
        _ recipient: Principal, sender: Principal, field: String = "to_tag", named name: String? = nil
    ) throws {
        guard try mayKeep(for: recipient, from: sender) else { throw Self.noRecipient(field, named: name) }
    }
}
