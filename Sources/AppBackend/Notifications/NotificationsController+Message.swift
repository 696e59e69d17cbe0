// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub

/// `POST /api/notifications` with a JSON object
extension NotificationsController {
    /// Whether the body is an object, and not the string of the tutorials' calls.
    static func holdsMessage(_ body: [UInt8]) -> Bool {
        body.first { ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains($0) }
            == UInt8(ascii: "{")
    }

    /// Sends a message object to the devices of a user, and to those that may hear the sender. A secure one is kept for the
    /// recipient alone, and its id is sent.
    func sendMessage(_ request: UserRequest, _ query: Query) throws -> Response {
        try request.http.requireJSON()
        guard query["to_tag"] == nil else {
            throw Problem(.badRequest, "A message object names its recipient itself, in To.", field: "to_tag")
        }
        let message = try PushMessage(body: request.body)
        let platforms = try platforms(of: message)
        let sender = request.user
        let recipient = try recipient(message.to, sender: sender, field: PushMessage.Member.to.rawValue)
        if message.isSecure || policy.isSecureOnly(sender.record, recipient.record) {
            if let fault = message.secureFault { throw fault }
            try checkExists(recipient, sender: sender, field: PushMessage.Member.to.rawValue)
            return try keepAndSend(PlainMessage(message).text, to: recipient, on: platforms, request)
        }
        return try send(message, to: recipient, on: platforms, request)
    }

    private func send(
        _ message: PushMessage, to recipient: Principal, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user.name
        let templates = message.isSilent ? nil : try templateAudience(of: recipient.owner, on: platforms, request)
        let template = templates.map {
            AddressedNotification(Payload.templateMessage(PlainMessage(message).text, from: sender), to: $0)
        }
        let audience = try audience(of: recipient, hearing: sender)
        let kept = message.isSilent ? nil : keep(PlainMessage(message), for: recipient, request)
        let time = now().seconds
        var payloads: [Platform: MessagePayload] = [:]
        for platform in platforms {
            payloads[platform] = MessagePayload(message, from: sender, to: platform, inboxID: kept?.id, now: time)
        }
        var send = notifications.send(
            to: audience, on: platforms, template: template, requestID: request.id
        ) { payloads[$0]?.notification }
        send.kept = kept
        send.ignored = platforms.map { ($0.rawValue, payloads[$0]?.ignored ?? [.silent]) }
        return try answer(send, to: request)
    }

    /// - Throws: `Problem` 400, naming the platforms that there are.
    private func platforms(of message: PushMessage) throws(Problem) -> [Platform] {
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
