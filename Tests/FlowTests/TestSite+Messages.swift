// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing

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
