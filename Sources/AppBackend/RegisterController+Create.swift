// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store

/// `POST /api/register?handle=H`
extension RegisterController {
    /// A push handle longer than this is no push service's, in bytes.
    static let maximumHandleBytes = 4096

    /// Gives the device a registration id: the one that the hub has for its handle, or a fresh one.
    func create(_ request: Request) throws -> Response {
        if !request.body.isEmpty { return try install(request) }
        let user = try request.authenticatedUser()
        let handle = try Query(request.query)["handle"] ?? ""
        guard handle.utf8.count <= Self.maximumHandleBytes else {
            throw Problem(.badRequest, "handle is longer than \(Self.maximumHandleBytes) bytes.", field: "handle")
        }
        let hub = hub.tracking(request.id)
        let id = try reuse(handle, hub) ?? hub.createRegistrationID()
        try claim(id.description, for: user)
        var json = JSONWriter()
        json.string(id.description)
        return .json(json.bytes)
    }

    /// The first of the native registrations that the hub has for this handle; the others are deleted, or the device
    /// would get everything several times. Those with a template are the older call's, which looks after them itself.
    private func reuse(_ handle: String, _ hub: NotificationHubClient) throws -> RegistrationID? {
        guard !handle.isEmpty else { return nil }
        var ids = try hub.registrations(channel: handle).filter { $0.template == nil }.compactMap(\.id)
        guard !ids.isEmpty else { return nil }
        let first = ids.removeFirst()
        for id in ids { try remove(id, hub) }
        return first
    }

    /// Makes an id the user's, unless it is somebody's already: then he keeps it until a PUT shows the handle.
    func claim(_ id: String, for user: String) throws(StoreError) {
        guard try store.device(id) == nil else { return }
        // When another request gave it out in this moment, it has an owner now, and that is all we want.
        _ = try replace(DeviceRecord(id: id, owner: user, updatedAt: now()))
    }
}
