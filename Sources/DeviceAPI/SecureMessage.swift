// SPDX-License-Identifier: Apache-2.0
public import HTTP
import JSON

/// A secure notification as its owner reads it: `{"Id":7,"Payload":"…","Read":false}`.
public struct SecureMessage: Equatable, Sendable {
    /// 1 ... 2^31 - 2.
    public var id: Int32
    /// What the sender left for this user.
    public var payload: String
    /// Whether it had been read before this reading.
    public var isRead: Bool

    /// A message with an id of the range above.
    public init(id: Int32, payload: String, isRead: Bool) {
        self.id = id
        self.payload = payload
        self.isRead = isRead
    }

    /// As it crosses the wire.
    public var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 64 + payload.utf8.count)
        json.object { json in
            json.member("Id", id)
            json.member("Payload", payload)
            json.member("Read", isRead)
        }
        return json.bytes
    }

    /// - Throws: `Problem` 502, when the answer is not a secure notification.
    public init(_ response: Response) throws(Problem) {
        guard let document = try? JSONValue(parsing: response.body),
            let id = document["Id"]?.integer.flatMap({ Int32(exactly: $0) }),
            let payload = document["Payload"]?.string, let isRead = document["Read"]?.bool
        else { throw Problem(.badGateway, "The answer is not a secure notification.") }
        self.init(id: id, payload: payload, isRead: isRead)
    }
}
