// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store

/// `GET /api/notifications?unread=true&after=<id>&limit=<n>`
extension NotificationsController {
    static let defaultLimit = 50
    static let maximumLimit = 100

    /// The caller's own, newest first, without payloads.
    func list(_ request: UserRequest) throws -> Response {
        let query = try Query(request.query)
        let found = try store.notifications(
            owner: request.user.owner, unreadOnly: try query.flag("unread"),
            after: try Self.number(query, "after", 1...Int32.max),
            limit: Int(try Self.number(query, "limit", 1...Int32(Self.maximumLimit)) ?? Int32(Self.defaultLimit)),
            now: now())
        var json = JSONWriter()
        json.array { json in
            for notification in found {
                SecureMessageSummary(
                    id: notification.id, isRead: notification.isRead, sender: Self.shownSender(notification.sender),
                    sentAt: notification.createdAt.text
                ).write(to: &json)
            }
        }
        var response = Response.json(json.bytes)
        response.fields[.cacheControl] = "no-store"
        return response
    }

    /// The name of a message's sender, as it is shown: a sender is kept as the owner that it was, so that a later user of the
    /// name has a share of a mailbox of their own.
    /// - Returns: nil, when that is not known.
    static func shownSender(_ sender: String) -> String? {
        sender.isEmpty ? nil : User.name(ofOwner: sender)
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
