// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store

/// `GET /api/notifications/{id}`
extension NotificationsController {
    /// The payload, for its owner alone. What is somebody else's, has expired or never was is 404, all alike.
    func read(_ request: Request, _ name: String) throws -> Response {
        let owner = try request.authenticatedUser()
        guard let id = try id(named: name, owner: owner),
            let notification = try store.readNotification(id, owner: owner, now: now())
        else { throw Problem(.notFound, "You have no such notification.") }
        let message = SecureMessage(
            id: notification.id, payload: notification.payload, isRead: notification.isRead)
        var response = Response.json(message.json)
        response.fields[.cacheControl] = "no-store"
        return response
    }

    /// The path holds the id, or the token that newer clients get beside it, which always has a non-digit.
    private func id(named name: String, owner: String) throws(StoreError) -> Int32? {
        if let id = Int32(name) { return id > 0 && id < .max ? id : nil }
        return try store.notification(token: name, owner: owner, now: now())?.id
    }
}
