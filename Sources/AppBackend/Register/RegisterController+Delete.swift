// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub
import Store

/// `DELETE /api/register/{id}`
extension RegisterController {
    /// Forgets the device, and whatever else its app knows under that id. An id that is gone already, or was never handed out
    /// here, is no error: the caller wants it not to be, and it is not. When the hub cannot be reached, the caller still owns
    /// the id and can ask again.
    func delete(_ request: UserRequest, _ id: String) throws -> Response {
        let owner = request.user.owner
        let hub = hub.tracking(request.id)
        let aliased = try aliased(id, of: owner)
        for id in aliased { try delete(id, of: owner, hub) }
        // Where it is an alias, the id itself may be the phone's former user's.
        if let id = RegistrationID(id), try aliased.isEmpty || isOwner(owner, of: id) { try delete(id, of: owner, hub) }
        return Response()
    }

    /// `DELETE /api/notifications/installations/{id}`: forgets what the app has registered under the id of its installation.
    func deleteInstallation(_ request: UserRequest, _ id: String) throws -> Response {
        let owner = request.user.owner
        let hub = hub.tracking(request.id)
        for id in try aliased(id, of: owner) { try delete(id, of: owner, hub) }
        return Response()
    }

    private func isOwner(_ owner: String, of id: RegistrationID) throws(StoreError) -> Bool {
        try store.device(id.description)?.owner.hasSameBytes(as: owner) == true
    }

    private func delete(_ id: RegistrationID, of owner: String, _ hub: any Hub) throws {
        _ = try RegistrationRemoval(store: store, hub: hub, now: now).remove(id.description) { device in
            guard device.owner.hasSameBytes(as: owner) else {
                throw Problem.foreignRegistration
            }
            return true
        }
    }
}
