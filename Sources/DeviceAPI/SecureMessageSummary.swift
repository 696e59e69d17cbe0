// SPDX-License-Identifier: Apache-2.0
public import HTTP
public import JSON

/// A secure notification as the list shows it, without its payload: `{"Id":7,"Read":false}`, one element of what
/// `GET /api/notifications` answers.
public struct SecureMessageSummary: Equatable, Sendable {
    /// 1 ... 2^31 - 2.
    public var id: Int32
    /// Whether its owner has read it.
    public var isRead: Bool

    /// - Parameter id: 1 ... 2^31 - 2.
    public init(id: Int32, isRead: Bool) {
        self.id = id
        self.isRead = isRead
    }

    /// Writes this element into a list that is being written.
    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("Id", id)
            json.member("Read", isRead)
        }
    }

    /// Reads the whole list.
    /// - Throws: `Problem` 502, when the answer is not a list of secure notifications.
    public static func list(_ response: Response) throws(Problem) -> [SecureMessageSummary] {
        let elements = (try? JSONValue(parsing: response.body))?.array
        let summaries = elements?.compactMap(SecureMessageSummary.init(element:))
        guard let summaries, summaries.count == elements?.count else {
            throw Problem(.badGateway, "The answer is not a list of secure notifications.")
        }
        return summaries
    }

    private init?(element: JSONValue) {
        guard let id = element["Id"]?.integer.flatMap({ Int32(exactly: $0) }), let isRead = element["Read"]?.bool
        else { return nil }
        self.init(id: id, isRead: isRead)
    }
}
