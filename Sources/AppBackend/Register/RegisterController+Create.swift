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

    /// Gives the device a registration id: the one that the hub has for its handle, or that the user had for it before it was
    /// gone, or a fresh one.
    func create(_ request: UserRequest) throws -> Response {
        if !request.http.isWithoutBody { return try install(request) }
        let user = request.user
        let handle = try Query(request.query)["handle"] ?? ""
        guard handle.utf8.count <= Self.maximumHandleBytes else {
            throw Problem(.invalidValue, "handle is longer than \(Self.maximumHandleBytes) bytes.", field: "handle")
        }
        let hub = hub.tracking(request.id)
        var ids = try known(handle, hub)
        if ids.isEmpty, let former = try former(handle, of: user.owner) { ids = [former] }
        let id = ids.isEmpty ? try hub.createRegistrationID() : ids.removeFirst()
        let record = try claim(id.description, for: user.owner, hub)
        try deleteSuperseded(ids, by: record, hub)
        return .json(JSONWriter(.string(id.description)).bytes)
    }

    /// The native registrations that the hub has for this handle. The first one stays; with the others the device would get
    /// everything several times. Those with a template are the older call's, which looks after them itself.
    private func known(_ handle: String, _ hub: any Hub) throws -> [RegistrationID] {
        guard !handle.isEmpty else { return [] }
        return try hub.registrations(channel: handle).filter { $0.template == nil }.compactMap(\.id)
    }

    /// The user's native registration of this handle that the hub does not have any more.
    private func former(_ handle: String, of owner: String) throws(StoreError) -> RegistrationID? {
        let channels = ChannelQuery(anyForm: handle).channels
        guard !channels.isEmpty else { return nil }
        let device = try store.devices(owner: owner).first { device in
            !device.hasTemplate && channels.contains { $0.hasSameBytes(as: device.handle) }
        }
        return device.flatMap { RegistrationID($0.id) }
    }

    /// Makes an id the user's, unless it has an owner already, who keeps it until a PUT shows the handle.
    /// - Parameter alias: what the user's app calls it.
    /// - Returns: its record, also when another user owns it.
    @discardableResult func claim(
        _ id: String, for user: String, alias: String? = nil, _ hub: any Hub
    ) throws -> DeviceRecord {
        for _ in 0..<Self.maximumAttempts {
            if let device = try store.device(id) { return device }
            // When another request gave it out in this moment, it has an owner now, and that is all we want.
            let record = DeviceRecord(id: id, owner: user, alias: alias, updatedAt: now())
            if let made = try replace(record, hub) { return made }
        }
        throw StoreError.conflict
    }
}
