// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store
import Text

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

    /// Which list of the inbox it is: two queries of one state have different answers.
    var tag: String { "\(limit)" + (unreadOnly ? "u" : "") + (after.map { "a\($0)" } ?? "") }

    /// Whether the place that the list begins behind is still known. To be asked after the list was read: a list behind a message
    /// that is gone would begin again, and who follows the pages would never end.
    /// - Throws: `Problem` 400; `StoreError`.
    func checkPlace(in store: any StateStore, owner: String, now: Timestamp) throws {
        guard let after, try store.notification(after, owner: owner, now: now) == nil else { return }
        throw Problem(
            .listPositionGone, "after names a message that is not there any more: begin again without it.",
            field: "after")
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
                .invalidValue, "\(name) must be a number from \(range.lowerBound) to \(range.upperBound).", field: name)
        }
        return number
    }
}
