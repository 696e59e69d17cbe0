// SPDX-License-Identifier: Apache-2.0
package import Store
internal import Text

/// A store of before the served hub had a namespace: its hub has the device of a user, and a registration that was removed.
package struct NamespaceScene {
    /// The registration of the user's device.
    package let own: HubRegistration

    package init(_ store: any SiteStore) throws {
        _ = try store.putDevice(
            DeviceRecord(id: "d-1", owner: "alice", platform: "apns", handle: "AA", updatedAt: noon))
        own = try store.putHubRegistration(Self.registration("d-1", ["username:alice"]))
        let removed = try store.putHubRegistration(Self.registration("s-x", ["all"]))
        _ = try store.removeHubRegistration(removed.id, version: nil)
    }

    /// One that a key has made.
    package static func registration(_ id: String, _ tags: [String]) -> HubRegistration {
        HubRegistration(
            id: id, channel: "C" + id, tags: tags, description: .object([.init("n", .string(id))]), updatedAt: noon)
    }
}
