// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

/// Which messages a list has: `?unread=true&after=<id>&limit=<n>`
struct ListQuery {
    static let defaultLimit = 50
    static let maximumLimit = 100

    let unreadOnly: Bool
    /// The list begins behind the message of this id.
    let after: Int32?
    let limit: Int

    /// - Throws: `Problem` and `Query.Malformed`, which are 400 and name the parameter.
    init(_ text: String) throws {
        let query = try Query(text)
        unreadOnly = try query.flag("unread")
        after = try Self.number(query, "after", 1...Int32.max)
        limit = try Self.limit(query)
    }

    /// How long the list may be.
    /// - Throws: `Problem` 400.
    static func limit(_ query: Query) throws(Problem) -> Int {
        Int(try number(query, "limit", 1...Int32(maximumLimit)) ?? Int32(defaultLimit))
    }

    private static func number(
        _ query: Query, _ name: String, _ range: ClosedRange<Int32>
    ) throws(Problem) -> Int32? {
        guard let text = query[name] else { return nil }
        guard let number = Int32(text), range.contains(number) else {
            throw Problem(
                .badRequest, "\(name) must be a number from \(range.lowerBound) to \(range.upperBound).", field: name)
        }
        return number
    }
}
