// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import JSON
import NotificationHub
import Store
import Text

/// A user's message for later.
struct ScheduledSend: Sendable {
    /// For how long after its time it is tried, in seconds.
    static let triedSeconds: Int64 = 3_600
    /// For how long after its time a service that was away sends it still, in seconds.
    static let lateSeconds: Int64 = 86_400
    /// For how long after its time a store keeps it at most, in seconds: longer, so that its sender hears that it was not sent.
    private static let keptSeconds: Int64 = 7 * 86_400

    /// The id of the message that it will be.
    let id: String
    /// The sender, as the owner that they were.
    let owner: String
    /// How the sender was authenticated.
    let method: AuthenticationMethod
    /// The roles that the sender's token gave.
    let roles: [String]
    let createdAt: Timestamp
    let sendAt: Timestamp
    /// The message without its time, as it crosses the wire. It is read when it is needed: a look at the list passes by most of them.
    let text: String
    /// Whether a process has begun to send it: a process that is killed then leaves it so.
    var hasBegun = false

    /// Nil for a sender who was not authenticated.
    init?(id: String, of sender: Principal, _ message: PushMessage, now: Timestamp, sendAt: Timestamp) {
        guard let method = sender.method else { return nil }
        (self.id, owner, self.method, roles) = (id, sender.owner, method, sender.tokenRoles)
        (createdAt, self.sendAt) = (now, sendAt)
        var message = message
        message.sendAt = nil
        text = String(decoding: message.json, as: UTF8.self)
    }

    /// Nil for a text that this version does not take for a message.
    var message: PushMessage? { try? PushMessage(body: Array(text.utf8)) }

    /// As the store keeps it.
    var stored: HubMessage {
        HubMessage(
            id: id,
            document: .object([
                JSONValue.Member("owner", .string(owner)), JSONValue.Member("method", .string(method.rawValue)),
                JSONValue.Member("roles", .array(roles.map(JSONValue.string))),
                JSONValue.Member("sendAt", .string(sendAt.text)), JSONValue.Member("begun", .bool(hasBegun)),
                JSONValue.Member("message", .string(text)),
            ]), createdAt: createdAt, expiresAt: sendAt + Self.keptSeconds)
    }

    /// Nil for what is no such message.
    init?(_ stored: HubMessage) {
        let json = stored.document
        guard let owner = json["owner"]?.string,
            let method = json["method"]?.string.flatMap(AuthenticationMethod.init(rawValue:)),
            let sendAt = json["sendAt"]?.string.flatMap({ Timestamp(text: $0) }), let hasBegun = json["begun"]?.bool,
            let text = json["message"]?.string
        else { return nil }
        (id, self.owner, self.method, createdAt) = (stored.id, owner, method, stored.createdAt)
        (self.sendAt, self.hasBegun, self.text) = (sendAt, hasBegun, text)
        roles = json["roles"]?.array?.compactMap(\.string) ?? []
    }
}
