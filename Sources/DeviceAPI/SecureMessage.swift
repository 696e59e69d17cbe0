// SPDX-License-Identifier: Apache-2.0
public import HTTP
internal import JSON
import Text

/// A secure notification as its owner reads it:
/// `{"Id":7,"Payload":"…","Read":false,"From":"bob","SentAt":"2026-11-22T09:00:00Z"}`.
public struct SecureMessage: Equatable, Sendable {
    /// 1 ... 2^31 - 2.
    public var id: Int32
    /// What the sender left for this user.
    public var payload: String
    /// Whether it had been read before this reading.
    public var isRead: Bool
    /// The name of the user who left it; nil when the backend has not recorded it.
    public var sender: String?
    /// When it was left, as RFC 3339 writes it, in UTC; nil when the backend does not say.
    public var sentAt: String?

    /// A message with an id of the range above.
    public init(id: Int32, payload: String, isRead: Bool, sender: String? = nil, sentAt: String? = nil) {
        self.id = id
        self.payload = payload
        self.isRead = isRead
        self.sender = sender
        self.sentAt = sentAt
    }

    /// As it crosses the wire.
    public var json: [UInt8] {
        JSONWriter.object(reservingCapacity: 64 + payload.utf8.count) { json in
            json.member("Id", id)
            json.member("Payload", payload)
            json.member("Read", isRead)
            json.origin(sender: sender, sentAt: sentAt)
        }.bytes
    }

    /// - Throws: `Problem` 502, when the answer is not a secure notification.
    public init(_ response: Response) throws(Problem) {
        guard let document = try? JSONValue(parsing: response.body),
            let id = document["Id"]?.integer.flatMap({ Int32(exactly: $0) }),
            let payload = document["Payload"]?.string, let isRead = document["Read"]?.bool
        else { throw Problem.malformedAnswer("The answer is not a secure notification.") }
        self.init(
            id: id, payload: payload, isRead: isRead, sender: document["From"]?.string,
            sentAt: document["SentAt"]?.string)
    }
}

/// The hub's name for one send: `95b3a2e4ebad4a6792844af93a2e2a88-20200723042900-586152-11`. It is no secret.
public struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    /// In characters.
    public static let maximumLength = 128

    /// As it is in a path; it needs no percent-encoding.
    public let description: String

    /// Nil for anything but 1 ... 128 letters (ASCII), digits, `-` and `_`: nothing else leads anywhere in a path.
    public init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy(ASCII.isURLSafe)
        else { return nil }
        description = text
    }
}
