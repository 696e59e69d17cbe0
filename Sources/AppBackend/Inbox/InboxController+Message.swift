// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store

/// `POST /api/inbox/{id}/read` and `DELETE /api/inbox/{id}`
extension InboxController {
    /// Notes that the caller has read it, secure or plain, on one device or another. Doing it again changes nothing. An id that
    /// is another user's, has expired or never existed is 404, all alike.
    func markAsRead(_ request: UserRequest, _ name: String) throws -> Response {
        guard let id = Self.id(name),
            let notification = try store.readNotification(id, owner: request.user.owner, now: now())
        else { throw Self.noSuchMessage }
        changes.noteReading(of: notification)
        return Response()
    }

    /// Removes it; 404 as above.
    func delete(_ request: UserRequest, _ name: String) throws -> Response {
        guard let id = Self.id(name),
            try store.removeNotification(id, owner: request.user.owner, now: now())
        else { throw Self.noSuchMessage }
        changes.noteRemoval(of: id, owner: request.user.owner)
        return Response()
    }

    private static func id(_ name: String) -> Int32? {
        Int32(name).flatMap { $0 > 0 && $0 < .max ? $0 : nil }
    }
}
