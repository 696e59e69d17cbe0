// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub
import Store

/// `DELETE /api/register/{id}`
extension RegisterController {
    /// Forgets the device, and whatever else its app knows under that id. An id that is gone already, or was never handed out
    /// here, is no error: the caller wants it not to be, and it is not.
    func delete(_ request: Request, _ id: String) throws -> Response {
        let owner = try request.authenticatedUser().owner
        let hub = hub.tracking(request.id)
        let aliased = try aliased(id, of: owner)
        for id in aliased { try delete(id, of: owner, hub) }
        // Where it is an alias, the id itself may be the phone's former user's.
        if let id = RegistrationID(id), try aliased.isEmpty || isOwner(owner, of: id) { try delete(id, of: owner, hub) }
        return Response()
    }

    private func isOwner(_ owner: String, of id: RegistrationID) throws(StoreError) -> Bool {
        try store.device(id.description)?.owner.hasSameBytes(as: owner) == true
    }

    /// The record is emptied first, by which the store decides against everybody who is at work on it, and removed
    /// last: when the hub cannot be reached, the caller still owns the id and can ask again.
    private func delete(_ id: RegistrationID, of owner: String, _ hub: NotificationHubClient) throws {
        for _ in 0..<Self.maximumAttempts {
            guard var device = try store.device(id.description) else { return }
            guard device.owner.hasSameBytes(as: owner) else {
                throw Problem(.forbidden, "This registration id belongs to somebody else.")
            }
            device.platform = ""
            device.handle = ""
            device.isPending = true
            device.updatedAt = now()
            guard let emptied = try replace(device) else { continue }
            _ = try hub.delete(id)
            if try removeUnchanged(emptied) { return }
        }
        throw StoreError.conflict
    }
}
