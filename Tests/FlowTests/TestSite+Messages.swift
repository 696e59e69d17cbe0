// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing

/// To whom a sender may send.
struct RecipientRow: CustomTestStringConvertible, Sendable {
    /// The sender's; nil: those that the policy gives.
    let patterns: [String]?
    let to: String
    /// Of the answer: 200, or what refuses `To`.
    let status: Int

    init(_ patterns: [String]?, _ to: String, _ status: Int) {
        (self.patterns, self.to, self.status) = (patterns, to, status)
    }

    var testDescription: String { "\(patterns?.description ?? "default"): \(to)" }

    /// Sends to it, by a sender who has the patterns, and expects the status, and that nothing was sent where it is a refusal.
    func expect(at site: TestSite, sourceLocation: SourceLocation = #_sourceLocation) -> Response {
        let response = site.send(PushMessage(to: .one(to), body: "Hi"))
        #expect(response.status.code == status, sourceLocation: sourceLocation)
        #expect(Problem(response).field == (status == 200 ? nil : "To"), sourceLocation: sourceLocation)
        #expect(site.hub.messages.isEmpty == (status != 200), sourceLocation: sourceLocation)
        return response
    }
}

extension TestSite {
    /// Changes a user's record, as another process does it.
    func change(_ name: String, _ body: (inout User) throws -> Void) throws {
        var user = try #require(try store.user(name))
        try body(&user)
        _ = try store.putUser(user)
    }

    /// Sends a message object.
    /// - Parameter user: whose password goes with it, unless the fields have credentials.
    func send(_ message: PushMessage, as user: String = "bob", fields: HTTPFields = [:]) -> Response {
        call(
            .post, Path.notifications, as: fields[.authorization] == nil ? user : nil,
            body: String(decoding: message.json, as: UTF8.self), fields: fields)
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
}
