// SPDX-License-Identifier: Apache-2.0
public import HTTP
package import JSON

/// A secure notification as the list shows it, without its payload, one element of what `GET /api/notifications` answers:
/// `{"Id":7,"Read":false,"From":"bob","SentAt":"2026-11-22T09:00:00Z"}`.
public struct SecureMessageSummary: Equatable, Sendable {
    /// 1 ... 2^31 - 2.
    public var id: Int32
    /// Whether its owner has read it.
    public var isRead: Bool
    /// The name of the user who left it; nil when the backend has not recorded it.
    public var sender: String?
    /// When it was left, as RFC 3339 writes it, in UTC; nil when the backend does not say.
    public var sentAt: String?

    /// - Parameter id: 1 ... 2^31 - 2.
    public init(id: Int32, isRead: Bool, sender: String? = nil, sentAt: String? = nil) {
        self.id = id
        self.isRead = isRead
        self.sender = sender
        self.sentAt = sentAt
    }

    /// Writes its members into an object that is being written.
    package func writeMembers(to json: inout JSONWriter) {
        json.member("Id", id)
        json.member("Read", isRead)
        json.origin(sender: sender, sentAt: sentAt)
    }

    /// Reads the whole list.
    /// - Throws: `Problem` 502, when the answer is not a list of secure notifications.
    public static func list(_ response: Response) throws(Problem) -> [SecureMessageSummary] {
        let elements = (try? JSONValue(parsing: response.body))?.array
        let summaries = elements?.compactMap(SecureMessageSummary.init(element:))
        guard let summaries, summaries.count == elements?.count else {
            throw Problem.malformedAnswer("The answer is not a list of secure notifications.")
        }
        return summaries
    }

    private init?(element: JSONValue) {
        guard let id = element["Id"]?.integer.flatMap({ Int32(exactly: $0) }), let isRead = element["Read"]?.bool
        else { return nil }
        self.init(id: id, isRead: isRead, sender: element["From"]?.string, sentAt: element["SentAt"]?.string)
    }
}

extension JSONWriter {
    /// Who left a secure notification, and when. These members come after the tutorial's, and what is not known is left
    /// out.
    mutating func origin(sender: String?, sentAt: String?) {
        if let sender { member("From", sender) }
        if let sentAt { member("SentAt", sentAt) }
    }
}
