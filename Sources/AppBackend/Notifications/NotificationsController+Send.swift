// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub

/// `POST /api/notifications?pns=P&to_tag=U` with a JSON string
extension NotificationsController {
    /// Sends the message to the devices of a user on one platform, and to those that may hear the sender. Where no plain
    /// text may leave, it is kept for the recipient alone, and its id is sent to that platform.
    func send(_ request: UserRequest, _ query: Query, pns: String) throws -> Response {
        let sender = request.user
        let platform = try platform(named: pns)
        guard let toTag = query["to_tag"], !toTag.isEmpty else {
            throw Problem(.missingValue, "to_tag is missing: the name of the user to send to.", field: "to_tag")
        }
        let recipient = try recipient(toTag, sender: sender)
        let message = try request.http.jsonString()
        if policy.isSecureOnly(sender.record, recipient.record) {
            try checkExists(recipient, sender: sender)
            return try keepAndSend(message, to: recipient, on: [platform], request)
        }
        let audience = try Self.audience(
            .tag(try TagPolicy.userTag(recipient.owner)), hearing: sender.name)
        let templates = try templateAudience(of: recipient.owner, devices(of: recipient.owner, request), on: [platform])
            .map { [AddressedNotification(Payload.templateMessage(message, from: sender.name), to: $0)] }
        let kept = keep(PlainMessage(message), for: recipient, request)
        let messages = OutgoingMessage.messages(to: audience, on: [platform], templates: templates ?? []) { platform in
            Payload.message(message, from: sender.name, to: platform, inboxID: kept?.id)
        }
        var send = notifications.send(messages, by: request.user.owner, requestID: request.id)
        send.kept = kept.map { [$0] } ?? []
        return try answer(send, to: request)
    }

    /// These devices, and those that may hear the sender.
    static func audience(_ devices: TagExpression, hearing sender: String) throws -> TagExpression {
        .or(devices, .tag(try TagPolicy.senderTag(sender)))
    }

    /// - Parameter field: where the request names it.
    /// - Throws: `Problem` 400, naming the platforms that there are.
    func platform(named name: String, field: String = "pns") throws(Problem) -> Platform {
        if let platform = Platform(appName: name), notifications.platforms.contains(platform) { return platform }
        let names = notifications.platforms.map(\.rawValue).joined(separator: ", ")
        let rule = field == "pns" ? "must be one of" : "may name"
        throw Problem(.unknownPlatform, "\(field) \(rule) \(names).", field: field)
    }
}
