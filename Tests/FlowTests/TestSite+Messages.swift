// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing
import Text

/// The answer to one message object, and whether anything of it went further. Two are equal whatever their texts are.
struct SendVerdict: Equatable, Sendable {
    /// Nil: it was accepted.
    let problem: Problem?
    /// Whether the hub got a message by it, on the wire; where it was refused, also whether a mailbox did.
    let isSent: Bool

    static let sent = SendVerdict(problem: nil, isSent: true)

    static func refused(_ code: ProblemCode, field: String = "To") -> SendVerdict {
        SendVerdict(problem: Problem(code, "", field: field), isSent: false)
    }

    static func == (one: SendVerdict, other: SendVerdict) -> Bool {
        one.isSent == other.isSent && one.problem?.code == other.problem?.code
            && one.problem?.field == other.problem?.field
    }

    /// Whether a refusal tells the person each of them.
    func names(_ parts: String...) -> Bool { parts.allSatisfy { problem?.detail.contains($0) ?? false } }
}

extension TestSite {
    static let roles = [
        Role(name: "oncall"), Role(name: "Desk.2", tags: ["press"]), Role(name: "all", mayBroadcast: true),
    ]

    /// Bob may send to every kind of recipient, alice and carol have the role `oncall`, and dora may hear every sender.
    static func withAllRecipients(road: Road = .wire, isSecureOnly: Bool = false) throws -> TestSite {
        let site = try TestSite(
            users: ["alice", "bob", "carol", "dora"], policy: TagPolicy(roles: roles, isSecureOnly: isSecureOnly),
            road: road, adjusting: { $0.plainSeconds = 86_400 })
        for name in ["alice", "carol"] { try site.change(name) { $0.roles = ["oncall", "gone"] } }
        try site.change("bob") { ($0.roles, $0.sendTo) = (["Desk.2", "all"], ["*", "tag:*", "role:*"]) }
        try site.change("dora") { $0.tags = ["from:*"] }
        return site
    }

    /// Changes a user's record, as another process does it.
    func change(_ name: String, _ body: (inout User) throws -> Void) throws {
        var user = try #require(try store.user(name))
        try body(&user)
        _ = try store.putUser(user)
    }

    /// The header field of a new app token of bob's that may send.
    /// - Parameter members: of the wanted token, in JSON: `,"To":["alice"]`.
    func sendingToken(_ members: String = "") throws -> HTTPFields {
        let made = call(.post, Path.tokens, as: "bob", body: #"{"Scopes":["send"]\#(members)}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        return [.authorization: "Bearer \(token)"]
    }

    /// Sends a message object.
    /// - Parameter user: whose password goes with it, unless the fields have credentials.
    func send(_ message: PushMessage, as user: String = "bob", fields: HTTPFields = [:]) -> Response {
        call(
            .post, Path.notifications, as: fields[.authorization] == nil ? user : nil,
            body: String(decoding: message.json, as: UTF8.self), fields: fields)
    }

    /// Sends a message object of bob's.
    func verdict(_ message: PushMessage, fields: HTTPFields = [:]) throws -> SendVerdict {
        let now = Timestamp(seconds: clock.seconds)
        func unread() throws -> [Int] {
            try store.users().map { try store.mailboxState(owner: $0.name, now: now).unread }
        }
        let (unreadBefore, sentBefore) = (try unread(), hub.messages.count)
        let answer = send(message, fields: fields)
        let isSent = hub.messages.count > sentBefore
        if answer.status == .ok { return SendVerdict(problem: nil, isSent: isSent) }
        return SendVerdict(problem: Problem(answer), isSent: try isSent || unread() != unreadBefore)
    }

    /// How many devices the hub has found for what was sent.
    /// - Parameter platform: nil: on all of them.
    func devices(of sent: SendOutcome, on platform: String? = nil) throws -> Int {
        try sent.outcomes.filter { platform == nil || $0.platform == platform }.compactMap(\.notificationID)
            .compactMap { try hubClient.details($0) }.flatMap(\.outcomes).flatMap(\.counts).reduce(0) { $0 + $1.count }
    }

    /// - Throws: `Problem`, if the message was refused.
    func devices(of answer: Response) throws -> Int {
        guard answer.status == .ok else { throw Problem(answer) }
        return try devices(of: SendOutcome(answer))
    }

    /// Sends a message object of bob's.
    /// - Returns: how many devices the hub has found on each platform for which it took the message.
    /// - Throws: `Problem`, if the message was refused.
    func found(_ message: PushMessage) throws -> [String: Int] {
        let answer = send(message)
        guard answer.status == .ok else { throw Problem(answer) }
        let sent = try SendOutcome(answer)
        let platforms = sent.outcomes.filter { $0.notificationID != nil }.map(\.platform)
        return Dictionary(uniqueKeysWithValues: try platforms.map { ($0, try devices(of: sent, on: $0)) })
    }
}

extension PushMessage.Recipients {
    /// With an id in the place of a name that is used until there is one.
    func replacing(_ name: String, with id: String) -> PushMessage.Recipients {
        switch self {
        case .one(let text): .one(text.replacing(name, with: id))
        case .several(let texts): .several(texts.map { $0.replacing(name, with: id) })
        }
    }
}
