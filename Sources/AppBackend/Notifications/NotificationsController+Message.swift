// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Text

/// `POST /api/notifications` with a JSON object
extension NotificationsController {
    /// Whether the body is an object, and not the string of the tutorials' calls.
    static func holdsMessage(_ body: [UInt8]) -> Bool {
        body.first { !ASCII.isBlank($0) } == UInt8(ascii: "{")
    }

    /// Sends a message object to those whom its `To` names, and to the devices that may hear the sender. A secure one is kept
    /// for its users alone, and its id is sent.
    func sendMessage(_ request: UserRequest, _ query: Query) throws -> Response {
        try request.http.requireJSON()
        guard query["to_tag"] == nil else {
            throw Problem(.unexpectedMember, "A message object names its recipient itself, in To.", field: "to_tag")
        }
        let message = try PushMessage(body: request.body)
        guard let sendAt = message.sendAt else { return try send(message, request) }
        var controller = self
        controller.turn = try later(sendAt)
        return try controller.send(message, request)
    }

    /// Sends it, or keeps it until its time. A store that cannot keep the record of a message gets no push on its way.
    /// - Throws: `Problem`; `StoreError`, before anything was handed to the hub.
    func send(_ message: PushMessage, _ request: UserRequest) throws -> Response {
        let platforms = try platforms(of: message)
        switch message.to {
        case .several(let texts): return try sendToSeveral(texts, message, on: platforms, request)
        case .one(let text):
            switch Recipient(text) {
            case .user(let name): return try sendToUser(name, message, on: platforms, request)
            case .tag(let tag): return try sendToTag(tag, message, on: platforms, request)
            case .role(let role): return try sendToRole(role, message, on: platforms, request)
            case .device(let id): return try sendToDevice(id, message, on: platforms, request)
            case .expression(let text): return try sendToExpression(text, message, on: platforms, request)
            case .everyone: return try sendToEveryone(message, on: platforms, request)
            }
        }
    }

    private func sendToUser(
        _ name: String, _ message: PushMessage, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user
        let field = PushMessage.Member.to.rawValue
        return try send(message, to: try recipient(name, sender: sender, field: field), on: platforms, request)
    }

    /// Sends to a user, whom the sender may send to, and to those that may hear the sender.
    func send(
        _ message: PushMessage, to recipient: Principal, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user
        let from = try sendingDevice(of: message, sender)
        if message.isSecure || policy.isSecureOnly(sender.record, recipient.record) {
            if let fault = message.secureFault { throw fault }
            try checkExists(recipient, sender: sender, field: PushMessage.Member.to.rawValue)
            return try keepAndSend(
                PlainMessage(message).text, to: recipient, on: platforms, message: message, from: from, request)
        }
        // A silent message has no templates, so its devices matter only if the request leaves out a platform.
        let isForAll = platforms.count == notifications.platforms.count
        let devices = message.isSilent && isForAll ? [] : devices(of: recipient.owner, request)
        let templates =
            message.isSilent ? nil : try templateAudience(of: recipient.owner, devices, on: platforms, besides: from)
        let reached = try Self.audience(
            .tag(try TagPolicy.userTag(recipient.owner)), hearing: sender.name)
        var audience = try Audience(devices: reached, templates: templates.map { [$0] } ?? [], besides: from)
        audience.undelivered = undelivered(message, to: devices, on: platforms)
        let kept = message.isSilent ? nil : keep(PlainMessage(message), for: recipient, as: dueID, request)
        (audience.kept, audience.recipient) = (kept.map { [$0] } ?? [], recipient.owner)
        if countsBadges, message.badge == nil, kept != nil { audience.unread = unread(of: recipient.owner, request) }
        return try send(message, to: audience, on: platforms, request)
    }

    /// Whom a message object reaches.
    struct Audience {
        /// Nil: all.
        let devices: TagExpression?
        /// Devices that have registered templates, a message each; nil: all of them.
        let templates: [TagExpression?]
        /// What the recipients' inboxes have of it.
        var kept: [Kept] = []
        /// The owner whose message it is; nil: it is not one user's.
        var recipient: String?

        /// Where the one recipient has devices, and no others, and nothing is delivered.
        var undelivered: [Platform] = []

        /// What the one recipient has not read, for the badge; nil: it is not told.
        var unread: Int?

        /// What the one recipient's inbox has of it.
        var own: Kept? { recipient == nil ? nil : kept.first }

        /// - Parameter sending: the device that is not to get it.
        /// - Throws: as `SendingDevice.left(outOf:)`.
        init(devices: TagExpression?, templates: [TagExpression?], besides sending: SendingDevice?) throws(Problem) {
            guard let sending else {
                (self.devices, self.templates) = (devices, templates)
                return
            }
            self.devices = sending.hasTemplate ? devices : try sending.left(outOf: devices)
            var others: [TagExpression?] = []
            for audience in templates {
                others.append(sending.hasTemplate ? try sending.left(outOf: audience) : audience)
            }
            self.templates = others
        }
    }

    func send(
        _ message: PushMessage, to audience: Audience, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        if let response = try schedule(message, request) { return response }
        // A message that an inbox keeps, or whose time has come, was written a moment ago.
        if turn == nil, audience.kept.isEmpty { try writeCheck.check(store) }
        let sender = request.user.name
        let time = now()
        var random = KernelRandom()
        let id = dueID ?? audience.own?.token ?? NotificationNames.token(using: &random)
        var payloads: [Platform: MessagePayload] = [:]
        for platform in platforms {
            payloads[platform] = MessagePayload(
                message, from: sender, to: platform, inboxID: audience.own?.id, messageID: id, badge: audience.unread,
                now: (notifications.sendAt ?? time).seconds)
        }
        let templates = audience.templates.map {
            AddressedNotification(Payload.templateMessage(PlainMessage(message).text, from: sender), to: $0)
        }
        let messages = OutgoingMessage.messages(to: audience.devices, on: platforms, templates: templates) {
            payloads[$0]?.notification
        }
        var send = notifications.send(messages, by: request.user.owner, requestID: request.id)
        send.kept = audience.kept
        send.message = SentMessage(
            id: id, owner: request.user.owner, to: message.to.text, recipient: audience.recipient, sentAt: time,
            keptID: audience.own?.id, expiresAt: sentExpiry(time))
        send.ignored = platforms.map { ($0.rawValue, payloads[$0]?.ignored ?? [.silent]) }
        send.ignored += audience.undelivered.map { ($0.rawValue, []) }
        return try answer(send, to: request)
    }

    /// - Throws: `Problem` 400, naming the platforms that there are.
    func platforms(of message: PushMessage) throws(Problem) -> [Platform] {
        var wanted: [Platform] = []
        for name in message.platforms {
            let platform = try platform(named: name, field: PushMessage.Member.platforms.rawValue)
            if !wanted.contains(platform) { wanted.append(platform) }
        }
        if !wanted.isEmpty { return wanted }
        let delivering = notifications.platforms.filter(delivering.contains)
        return delivering.isEmpty ? notifications.platforms : delivering
    }

    /// The platforms that a message leaves out because nothing is delivered there, although all of its recipient's devices are
    /// of them: so its sender learns why it reaches none.
    func undelivered(_ message: PushMessage, to devices: [DeviceRecord], on platforms: [Platform]) -> [Platform] {
        let own = Set(devices.map(\.platform))
        guard message.platforms.isEmpty, own.isDisjoint(with: platforms.map(\.rawValue)) else { return [] }
        return notifications.platforms.filter { own.contains($0.rawValue) }
    }
}
