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
    /// - Parameters:
    ///   - message: what was sent, a message object, whose answer has its id; nil: it was a string.
    ///   - sending: the device that is not told of it.
    func keepAndSend(
        _ payload: String, to recipient: Principal, on platforms: [Platform], message: PushMessage? = nil,
        from sending: SendingDevice? = nil, _ request: UserRequest
    ) throws -> Response {
        let devices = devices(of: recipient.owner, request)
        let audience = try secureAudience(of: recipient, devices, on: platforms, besides: sending)
        let field = message != nil ? PushMessage.Member.to.rawValue : "to_tag"
        if let message, let response = try schedule(message, request) { return response }
        let kept = try keepSecure(payload, for: recipient, field: field, as: dueID, request)
        let messages = messages(of: kept, to: audience, on: platforms)
        var send = notifications.send(messages, by: request.user.owner, requestID: request.id)
        send.secureID = kept.id
        send.kept = dueKept([kept])
        if let message {
            send.ignored = undelivered(message, to: devices, on: platforms).map { ($0.rawValue, []) }
            send.message = SentMessage(
                id: kept.token, owner: request.user.owner, to: recipient.name, recipient: recipient.owner,
                sentAt: kept.createdAt, isSecure: true, keptID: kept.id, expiresAt: kept.createdAt + Self.sentSeconds)
        }
        return try answer(send, to: request)
    }

    /// Keeps the payload for its recipient, durably.
    /// - Parameters:
    ///   - field: where the request names them.
    ///   - name: what a refusal calls them, where there are several; nil: it is the only one.
    ///   - token: that it is to have; nil: a new one.
    /// - Throws: `Problem` 429, when the sender has left too much unread with them; 400, when the message is for later; `StoreError`.
    func keepSecure(
        _ payload: String, for recipient: Principal, field: String, named name: String? = nil, as token: String? = nil,
        _ request: UserRequest
    ) throws -> SecureNotification {
        guard notifications.sendAt == nil else {
            throw Problem(
                .secureNotPossible, "A secure message is not sent later: it can be read at once.", field: field)
        }
        do throws(StoreError) {
            return try create(
                payload, isPlain: false, for: recipient, as: token, from: request.user,
                expiresAt: now() + retentionSeconds)
        } catch {
            guard case .shareExceeded(let seconds) = error else { throw error }
            let shown = name ?? "this user"
            throw Problem(
                .tooMuchUnread, "You have left as much unread with \(shown) as one sender may.", field: field,
                retryAfter: seconds)
        }
    }

    /// Those of a user's devices that are told of a message that waits for them.
    func secureAudience(
        of recipient: Principal, _ devices: [DeviceRecord], on platforms: [Platform], besides sending: SendingDevice?
    ) throws(Problem) -> Audience {
        let templates = try templateAudience(of: recipient.owner, devices, on: platforms, besides: sending)
        return try Audience(
            devices: .tag(try TagPolicy.userTag(recipient.owner)), templates: templates.map { [$0] } ?? [],
            besides: sending)
    }

    /// What tells the devices of its owner that it waits, and nothing else of it.
    /// - Parameter recipient: as the outcome calls them; nil: it does not.
    func messages(
        of kept: SecureNotification, to audience: Audience, on platforms: [Platform], recipient: String? = nil
    ) -> [OutgoingMessage] {
        let templates = audience.templates.map {
            AddressedNotification(Payload.templateSecure(id: kept.id, token: kept.token), to: $0)
        }
        return OutgoingMessage.messages(
            to: audience.devices, on: platforms, templates: templates, recipient: recipient
        ) { platform in
            Payload.secure(id: kept.id, token: kept.token, to: platform, notifications.secureForm)
        }
    }

    private func secureRecipient(_ text: String, sender: Principal) throws -> Principal {
        guard !text.isEmpty else {
            try sender.scope.check(recipient: sender, field: "to_tag")
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
