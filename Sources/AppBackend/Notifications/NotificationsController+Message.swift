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
        body.first { ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains($0) }
            == UInt8(ascii: "{")
    }

    /// Sends a message object to the devices of a user, or to those with a tag, and to those that may hear the sender. A secure
    /// one is kept for the recipient alone, and its id is sent.
    func sendMessage(_ request: UserRequest, _ query: Query) throws -> Response {
        try request.http.requireJSON()
        guard query["to_tag"] == nil else {
            throw Problem(.badRequest, "A message object names its recipient itself, in To.", field: "to_tag")
        }
        let message = try PushMessage(body: request.body)
        let platforms = try platforms(of: message)
        let sender = request.user
        let field = PushMessage.Member.to.rawValue
        if let tag = message.to.tagText {
            return try send(message, to: try self.tag(tag, for: message, sender: sender), on: platforms, request)
        }
        return try send(message, to: try recipient(message.to, sender: sender, field: field), on: platforms, request)
    }

    /// Sends to a user, whom the sender may send to, and to those that may hear the sender.
    func send(
        _ message: PushMessage, to recipient: Principal, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user
        if message.isSecure || policy.isSecureOnly(sender.record, recipient.record) {
            if let fault = message.secureFault { throw fault }
            try checkExists(recipient, sender: sender, field: PushMessage.Member.to.rawValue)
            return try keepAndSend(PlainMessage(message).text, to: recipient, on: platforms, isMessage: true, request)
        }
        let templates = message.isSilent ? nil : try templateAudience(of: recipient.owner, on: platforms, request)
        let devices = try Self.audience(
            .tag(try RegisterController.userTag(recipient.owner)), hearing: sender.name)
        let kept = message.isSilent ? nil : keep(PlainMessage(message), for: recipient, request)
        return try send(
            message,
            to: Audience(devices, templates: templates, recipient: recipient.owner, kept: kept), on: platforms, request)
    }

    /// Sends to all devices with a tag. Those that have registered templates are of any platform, so they are left out where the
    /// message names its platforms.
    private func send(
        _ message: PushMessage, to tag: Tag, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let hasTemplates = !message.isSilent && message.platforms.isEmpty
        return try send(
            message,
            to: Audience(
                try Self.audience(.tag(tag), hearing: request.user.name), templates: hasTemplates ? .tag(tag) : nil),
            on: platforms, request)
    }

    /// Whom a message object reaches.
    struct Audience {
        let devices: TagExpression
        /// Devices that have registered templates; nil: it is not for them.
        let templates: TagExpression?
        /// The owner whose message it is; nil: it is for all with a tag.
        let recipient: String?
        /// What the recipient's inbox has of it.
        let kept: Kept?

        init(_ devices: TagExpression, templates: TagExpression?, recipient: String? = nil, kept: Kept? = nil) {
            (self.devices, self.templates, self.recipient, self.kept) = (devices, templates, recipient, kept)
        }
    }

    func send(
        _ message: PushMessage, to audience: Audience, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user.name
        let time = now()
        var random = KernelRandom()
        let id = audience.kept?.token ?? NotificationNames.token(using: &random)
        var payloads: [Platform: MessagePayload] = [:]
        for platform in platforms {
            payloads[platform] = MessagePayload(
                message, from: sender, to: platform, inboxID: audience.kept?.id, messageID: id, now: time.seconds)
        }
        let template = audience.templates.map {
            AddressedNotification(Payload.templateMessage(PlainMessage(message).text, from: sender), to: $0)
        }
        var send = notifications.send(
            to: audience.devices, on: platforms, template: template, requestID: request.id
        ) { payloads[$0]?.notification }
        send.kept = audience.kept
        send.message = SentMessage(
            id: id, owner: request.user.owner, to: message.to, recipient: audience.recipient, sentAt: time,
            keptID: audience.kept?.id, expiresAt: time + Self.sentSeconds)
        send.ignored = platforms.map { ($0.rawValue, payloads[$0]?.ignored ?? [.silent]) }
        return try answer(send, to: request)
    }

    /// The tag, checked against the sender's policy.
    /// - Throws: `Problem` 400 for what is no tag and for a secure message, 403 for a tag that the sender may not send to.
    private func tag(_ text: String, for message: PushMessage, sender: Principal) throws(Problem) -> Tag {
        let field = PushMessage.Member.to.rawValue
        guard let tag = try? Tag(text) else {
            throw Problem(
                .badRequest, "To must be a user's name, or tag: and a tag, as in tag:news.", field: field)
        }
        let rights = policy.rights(of: sender)
        guard rights.maySend(to: tag) else { throw rights.forbiddenRecipient(field) }
        try sender.scope.check(recipient: message.to, field: field)
        guard !message.isSecure else {
            throw Problem(
                .badRequest, "A message to a tag cannot be secure: a text is kept for one user.",
                field: PushMessage.Member.secure.rawValue)
        }
        guard !policy.isSecureOnly(sender.record, nil) else {
            throw Self.onlySecure(field)
        }
        return tag
    }

    /// - Parameter field: where the request names what cannot be kept; nil: it is all of it.
    static func onlySecure(_ field: String?) -> Problem {
        Problem(.forbidden, "Only secure messages may be sent here, and those to one user.", field: field)
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
}

extension String {
    /// Of a recipient that is a tag, the tag; nil: it is a user.
    fileprivate var tagText: String? {
        guard lowercased().hasPrefix(TagPolicy.tagPrefix) else { return nil }
        return String(dropFirst(TagPolicy.tagPrefix.count))
    }
}
