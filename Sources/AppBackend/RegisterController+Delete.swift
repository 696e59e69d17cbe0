// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub
import Store

/// `DELETE /api/register/{id}`
extension RegisterController {
    /// Forgets the device. An id that is gone already, or was never handed out here, is no error: the caller wants
    /// it not to be, and it is not.
    ///
    /// The record is emptied first, by which the store decides against everybody who is at work on it, and removed
    /// last: when the hub cannot be reached, the caller still owns the id and can ask again.
    func delete(_ request: Request, _ id: String) throws -> Response {
        let user = try request.authenticatedUser()
        guard let registrationID = RegistrationID(id) else { return Response() }
        let hub = hub.tracking(request.id)
        for _ in 0..<Self.maximumAttempts {
            guard var device = try store.device(id) else { return Response() }
            guard device.owner.hasSameBytes(as: user.owner) else {
                throw Problem(.forbidden, "This registration id belongs to somebody else.")
            }
            device.platform = ""
            device.handle = ""
            device.isPending = true
            device.updatedAt = now()
            guard let emptied = try replace(device) else { continue }
            _ = try hub.delete(registrationID)
            if try removeUnchanged(emptied) { return Response() }
        }
        throw StoreError.conflict
    }
}
