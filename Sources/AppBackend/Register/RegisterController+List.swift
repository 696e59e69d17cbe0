// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON

/// `GET /api/register`
extension RegisterController {
    /// The caller's own registrations. Ids that were handed out and never used are not among them; devices
    /// that are gone are, and say so.
    func list(_ request: UserRequest) throws -> Response {
        let devices = try store.devices(owner: request.user.owner).filter { !$0.platform.isEmpty }
        return .unstoredJSON(JSONWriter.array(devices) { $0.writeMembers(to: &$1) }.bytes)
    }
}
