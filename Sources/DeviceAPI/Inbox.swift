// SPDX-License-Identifier: Apache-2.0
public import HTTP
import HTTPTypes
internal import JSON

/// One page of a user's inbox, newest first, as `GET /api/inbox` answers it: `{"Unread":1,"Messages":[…]}`.
public struct Inbox: Equatable, Sendable {
    /// How many messages of the whole inbox were not read, for a badge.
    public var unread: Int
    /// Newest first.
    public var messages: [InboxMessage]
    /// Names this state of the inbox; to be shown when it is asked for again. nil when the backend named none.
    public var entityTag: String?

    /// A page with the number of all unread messages.
    public init(unread: Int, messages: [InboxMessage], entityTag: String? = nil) {
        (self.unread, self.messages, self.entityTag) = (unread, messages, entityTag)
    }

    /// As it crosses the wire.
    public var json: [UInt8] {
        JSONWriter.object { json in
            json.member("Unread", unread)
            json.member("Messages", messages) { $0.writeMembers(to: &$1) }
        }.bytes
    }

    /// - Throws: `Problem` 502, when the answer is not an inbox.
    public init(_ response: Response) throws(Problem) {
        let document = try? JSONValue(parsing: response.body)
        let elements = document?["Messages"]?.array
        let messages = elements?.compactMap(InboxMessage.init(element:))
        guard let unread = document?["Unread"]?.integer, let messages, messages.count == elements?.count else {
            throw Problem.malformedAnswer("The answer is not an inbox.")
        }
        self.init(unread: unread, messages: messages, entityTag: response.fields[.eTag])
    }
}

/// A message of the inbox. The text of a secure one is not in it: `GET /api/notifications/{id}` has that, and notes the reading.
public struct InboxMessage: Equatable, Sendable {
    /// 1 ... 2^31 - 2.
    public var id: Int32
    /// Whether only its id has travelled.
    public var isSecure: Bool
    /// Whether its owner has read it, on whatever device.
    public var isRead: Bool
    /// The name of the user who sent it; nil when the backend has not recorded it.
    public var sender: String?
    /// When it was sent, as RFC 3339 writes it, in UTC.
    public var sentAt: String?
    /// Of a plain one, as its sender gave it.
    public var title: String?
    /// The text of a plain one, below the title.
    public var body: String?
    /// What a plain one opens.
    public var link: String?

    /// - Parameter id: 1 ... 2^31 - 2.
    public init(
        id: Int32, isSecure: Bool, isRead: Bool, sender: String? = nil, sentAt: String? = nil, title: String? = nil,
        body: String? = nil, link: String? = nil
    ) {
        (self.id, self.isSecure, self.isRead) = (id, isSecure, isRead)
        (self.sender, self.sentAt) = (sender, sentAt)
        (self.title, self.body, self.link) = (title, body, link)
    }

    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("Id", id)
        json.member("Secure", isSecure)
        json.member("Read", isRead)
        json.origin(sender: sender, sentAt: sentAt)
        if let title { json.member("Title", title) }
        if let body { json.member("Body", body) }
        if let link { json.member("Link", link) }
    }

    fileprivate init?(element: JSONValue) {
        guard let id = element["Id"]?.integer.flatMap({ Int32(exactly: $0) }), let isRead = element["Read"]?.bool,
            let isSecure = element["Secure"]?.bool
        else { return nil }
        self.init(
            id: id, isSecure: isSecure, isRead: isRead, sender: element["From"]?.string,
            sentAt: element["SentAt"]?.string, title: element["Title"]?.string, body: element["Body"]?.string,
            link: element["Link"]?.string)
    }
}
