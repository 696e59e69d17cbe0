// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import JSON
import Store

/// `GET /api/notifications?unread=true&after=<id>&limit=<n>`
extension NotificationsController {
    /// The caller's own secure ones, newest first, without payloads.
    func list(_ request: UserRequest) throws -> Response {
        let query = try ListQuery(request.query)
        let (owner, time) = (request.user.owner, now())
        let found = try store.notifications(
            owner: owner, unreadOnly: query.unreadOnly, secureOnly: true, after: query.after, limit: query.limit,
            now: time)
        try query.checkPlace(in: store, owner: owner, now: time)
        let json = JSONWriter.array(found) { notification, json in
            SecureMessageSummary(
                id: notification.id, isRead: notification.isRead, sender: User.shownSender(notification.sender),
                sentAt: notification.createdAt.text
            ).writeMembers(to: &json)
        }
        return .unstoredJSON(json.bytes)
    }
}

extension User {
    /// The name of a message's sender, as it is shown: a sender is kept as the owner that it was, so that a later user of the
    /// name has a share of a mailbox of their own.
    /// - Returns: nil, when that is not known.
    static func shownSender(_ sender: String) -> String? {
        sender.isEmpty ? nil : User.name(ofOwner: sender)
    }
}
