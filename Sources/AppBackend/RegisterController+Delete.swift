// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub
import Store

/// `DELETE /api/register/{id}`
extension RegisterController {
    /// Forgets the device. An id that is gone already, or was never handed out here, is no error: the caller wants
    /// it not to be, and it is not. When the hub cannot be reached, the caller still owns the id and can ask again.
    func delete(_ request: Request, _ id: String) throws -> Response {
        let user = try request.authenticatedUser()
        guard RegistrationID(id) != nil else { return Response() }
        let ending = RegistrationEnding(store: store, hub: hub.tracking(request.id), now: now)
        _ = try ending.end(id) { device in
            guard device.owner.hasSameBytes(as: user.owner) else {
                throw Problem(.forbidden, "This registration id belongs to somebody else.")
            }
            return true
        }
        return Response()
    }
}
