// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import JSON

/// `GET /api/register`
extension RegisterController {
    /// The caller's own registrations. Ids that were handed out and never used are not among them.
    func list(_ request: UserRequest) throws -> Response {
        let devices = try store.devices(owner: request.user.owner)
        var json = JSONWriter()
        json.array { json in
            for device in devices where !device.platform.isEmpty { device.write(to: &json) }
        }
        var response = Response.json(json.bytes)
        response.fields[.cacheControl] = "no-store"
        return response
    }
}
