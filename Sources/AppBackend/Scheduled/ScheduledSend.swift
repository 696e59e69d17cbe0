// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import JSON
import NotificationHub
import Store
import Text

/// A user's message for later, as the store keeps it. Members of its document that this version does not know stay there.
struct ScheduledSend: Sendable {
    /// For how long after the first try it is tried, in seconds.
    static let triedSeconds: Int64 = 3_600
    /// For how long after its time a service that was away begins it still, in seconds.
    static let lateSeconds: Int64 = 86_400
    /// Between two tries, in seconds.
    static let pauseSeconds: Int64 = 60
    /// For how long it is the process's that has begun it, in seconds: longer than a call to a hub may take (`hub.timeout`). Then
    /// another takes that process for dead.
    static let holdSeconds: Int64 = 300
    /// For how long after its time a store keeps it at most, in seconds: longer, so that its sender hears that it was not sent.
    private static let keptSeconds: Int64 = 7 * 86_400

    let stored: HubMessage
    /// The sender, as the owner that they were.
    let owner: String
    /// How the sender was authenticated.
    let method: AuthenticationMethod
    /// The roles that the sender's token gave.
    let roles: [String]
    /// The owners of the recipients in `To`. Empty in what a version before has kept.
    let recipients: NamedOwners
    let sendAt: Timestamp
    /// Its place among those that were put in within one second, by `CreationSequence`; 0: earlier versions have put it in.
    let sequence: Int64
    /// The message without its time, as it crosses the wire. It is read when it is needed: a look at the list passes by most of them.
    let text: String
    /// Not begun before this.
    let dueAt: Timestamp
    /// Nil before the first try.
    let triedAt: Timestamp?
    /// Whether a process has begun to send it. One that is killed then leaves it so.
    let hasBegun: Bool

    /// The id of the message that it will be.
    var id: String { stored.id }
    /// The soonest comes first, and of several for one moment the one that was put in first.
    var place: (Timestamp, Timestamp, Int64, String) { (sendAt, stored.createdAt, sequence, id) }
    /// Nil for a text that this version does not take for a message.
    var message: PushMessage? { try? PushMessage(body: Array(text.utf8)) }

    /// A new one, as the store is to keep it.
    /// - Parameter recipients: the owners of the names in `To`.
    /// - Returns: nil for a sender who was not authenticated.
    static func new(
        id: String, of sender: Principal, _ message: PushMessage, to recipients: NamedOwners, now: Timestamp,
        sendAt: Timestamp, sequence: Int64
    ) -> ScheduledSend? {
        guard let method = sender.method else { return nil }
        var message = message
        message.sendAt = nil
        let document = JSONValue.object([
            JSONValue.Member("owner", .string(sender.owner)), JSONValue.Member("method", .string(method.rawValue)),
            JSONValue.Member("roles", .array(sender.tokenRoles.map(JSONValue.string))),
            JSONValue.Member(
                "recipients",
                .object(
                    recipients.owners.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) })),
            JSONValue.Member("sendAt", .string(sendAt.text)),
            JSONValue.Member("sequence", .number(String(sequence))),
            JSONValue.Member("message", .string(String(decoding: message.json, as: UTF8.self))),
        ])
        return ScheduledSend(
            HubMessage(
                id: id, owner: sender.owner, document: document, createdAt: now, expiresAt: sendAt + keptSeconds))
    }

    /// Nil for what is no such message.
    init?(_ stored: HubMessage) {
        let json = stored.document
        guard let owner = json["owner"]?.string,
            let method = json["method"]?.string.flatMap(AuthenticationMethod.init(rawValue:)),
            let sendAt = Self.time(json["sendAt"]), let text = json["message"]?.string
        else { return nil }
        (self.stored, self.owner, self.method, self.sendAt, self.text) = (stored, owner, method, sendAt, text)
        let names = (json["recipients"]?.members ?? []).compactMap { member in
            member.value.string.map { (member.name, $0) }
        }
        recipients = NamedOwners(Dictionary(names) { first, _ in first })
        sequence = json["sequence"]?.integer.map { Int64($0) } ?? 0
        roles = json["roles"]?.array?.compactMap(\.string) ?? []
        (dueAt, triedAt) = (Self.time(json["dueAt"]) ?? sendAt, Self.time(json["triedAt"]))
        hasBegun = json["begun"]?.bool ?? false
    }

    private static func time(_ value: JSONValue?) -> Timestamp? {
        value?.string.flatMap { Timestamp(text: $0) }
    }

    /// As the store is to have it when a process begins it.
    func begun(at now: Timestamp) -> HubMessage { changed(hasBegun: true, dueAt: now + Self.holdSeconds, now) }

    /// As the store is to have it when a try has done nothing, and another is to come.
    func paused(at now: Timestamp) -> HubMessage {
        changed(hasBegun: hasBegun, dueAt: now + Self.pauseSeconds, now)
    }

    private func changed(hasBegun: Bool, dueAt: Timestamp, _ now: Timestamp) -> HubMessage {
        let new = [
            JSONValue.Member("begun", .bool(hasBegun)), JSONValue.Member("dueAt", .string(dueAt.text)),
            JSONValue.Member("triedAt", .string((triedAt ?? now).text)),
        ]
        let names = Set(new.map(\.name))
        var changed = stored
        changed.document = .object((stored.document.members ?? []).filter { !names.contains($0.name) } + new)
        return changed
    }
}
