// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store

/// `GET` and `DELETE /api/notifications/{id}`, of a secure message or of a plain one that is kept
extension NotificationsController {
    /// The payload, for its owner alone. An id that is another user's, has expired or never existed is 404, all alike.
    ///
    /// Reading changes something, so another site's page, which a browser lends its user's cookie, may not do it. HEAD shows
    /// nothing, and marks nothing as read.
    func read(_ request: UserRequest, _ name: String) throws -> Response {
        guard !RequestOrigin.isAnotherPage(request.http) else { throw RequestOrigin.crossSiteRequest }
        let owner = request.user.owner
        guard let id = try id(named: name, owner: owner),
            let notification = request.http.method == .head
                ? try store.notification(id, owner: owner, now: now()) : try read(id, owner: owner)
        else { throw Self.noSuchNotification }
        let message = SecureMessage(
            id: notification.id, payload: notification.text, isRead: notification.isRead,
            sender: User.shownSender(notification.sender), sentAt: notification.createdAt.text)
        return Response(fields: Self.messageFields, body: message.json)
    }

    /// Made once.
    private static let messageFields: HTTPFields = [
        .contentType: "application/json; charset=utf-8", .cacheControl: "no-store",
    ]

    /// Removes it, for its owner alone; 404 as above.
    func delete(_ request: UserRequest, _ name: String) throws -> Response {
        let owner = request.user.owner
        guard let id = try id(named: name, owner: owner),
            try store.removeNotification(id, owner: owner, now: now())
        else { throw Self.noSuchNotification }
        changes.noteRemoval(of: id, owner: owner)
        return Response()
    }

    private static let noSuchNotification = Problem(.noSuchMessage, "You have no such notification.")

    /// What cannot be marked as read is still shown, and stays unread: a full disk or a read-only mount must not
    /// keep a message from its owner.
    private func read(_ id: Int32, owner: String) throws(StoreError) -> SecureNotification? {
        do throws(StoreError) {
            let notification = try store.readNotification(id, owner: owner, now: now())
            if let notification { changes.noteReading(of: notification) }
            return notification
        } catch {
            guard error.leavesReading else { throw error }
            return try store.notification(id, owner: owner, now: now())
        }
    }

    /// The path holds the id, or the token that newer clients get beside it, which always has a non-digit.
    private func id(named name: String, owner: String) throws(StoreError) -> Int32? {
        if let id = Int32(name) { return id > 0 && id < .max ? id : nil }
        return try store.notification(token: name, owner: owner, now: now())?.id
    }
}

extension SecureNotification {
    fileprivate var text: String { isPlain ? PlainMessage(payload: payload).text : payload }
}

extension StoreError {
    /// Whether it concerns writing alone.
    fileprivate var leavesReading: Bool {
        switch self {
        case .full, .readOnly, .busy, .poisoned: true
        case .conflict, .quotaExceeded, .shareExceeded, .invalidContinuationToken, .damaged, .notReady, .unavailable:
            false
        }
    }
}
