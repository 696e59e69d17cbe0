// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub

/// `DELETE /api/register/{id}`
extension RegisterController {
    /// Forgets the device. An id that is gone already, or was never handed out here, is no error: the caller wants
    /// it not to be, and it is not.
    func delete(_ request: Request, _ id: String) throws -> Response {
        let user = try request.authenticatedUser()
        guard let registrationID = RegistrationID(id), let device = try store.device(id) else { return Response() }
        guard device.owner == user else {
            throw Problem(.forbidden, "This registration id belongs to somebody else.")
        }
        _ = try hub.tracking(request.id).delete(registrationID)
        _ = try store.removeDevice(id, version: device.version)
        return Response()
    }
}
