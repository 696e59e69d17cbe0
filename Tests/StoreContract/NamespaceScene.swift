// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing
package import Text

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

    /// One that a key has made, by way of a process that knows one namespace.
    package static func registration(
        _ id: String, _ tags: [String], at time: Timestamp = noon, isNamespaced: Bool = false
    ) -> HubRegistration {
        HubRegistration(
            id: id, channel: "C" + id, tags: tags, description: .object([.init("n", .string(id))]), updatedAt: time,
            isNamespaced: isNamespaced)
    }
}

/// What a store does with registrations that a process of a version with one namespace makes after the migration.
package struct NamespaceContract {
    private let store: any SiteStore

    package init(store: any SiteStore) { self.store = store }

    private func sweep() throws {
        while try !store.sweep(budget: 1_000, now: noon).finishedRound {}
    }

    private func hears(_ tag: String) throws -> [HubRegistration] {
        try store.hubRegistrations(tag: tag, after: nil, limit: 9).elements
    }

    package func run() throws {
        let own = try NamespaceScene(store).own
        // In a copy of a store that others write to: its device is not there.
        let copied = try store.putHubRegistration(
            NamespaceScene.registration("d-2", ["username:alice"], isNamespaced: true))
        let users = [own, copied]
        let first = try store.putHubRegistration(NamespaceScene.registration("s-1", ["username:alice", "old"]))
        try sweep()
        #expect(try hears("username:alice") == users)
        #expect(try hears("~old") == [first.movedToServed])
        #expect(try store.hubRegistration("s-1") == nil && store.hubRegistrations(channel: "Cs-1").isEmpty)
        try sweep()
        #expect(try store.hubRegistration("~s-1") == first.movedToServed)
        // It renews what the other process has moved; then one of the hub itself is newer.
        _ = try store.putHubRegistration(NamespaceScene.registration("s-1", ["username:alice", "new"], at: noon + 1))
        try sweep()
        let renewed = try #require(try store.hubRegistration("~s-1"))
        #expect(renewed.tags == ["~username:alice", "~new"] && renewed.version > first.version)
        #expect(try hears("~old") == [] && hears("~new") == [renewed])
        _ = try store.putHubRegistration(NamespaceScene.registration("s-1", ["username:alice", "old"]))
        try sweep()
        #expect(try store.hubRegistration("~s-1") == renewed && store.hubRegistration("s-1") == nil)
        #expect(try hears("username:alice") == users)
        try orphan()
        try imports()
    }

    /// A process that knows one namespace has ended between the removal of a user's device and that of its registration.
    private func orphan() throws {
        let device = try store.putDevice(
            DeviceRecord(id: "o-1", owner: "olga", platform: "apns", handle: "OO", updatedAt: noon))
        _ = try store.putHubRegistration(NamespaceScene.registration("o-1", ["username:olga"]))
        #expect(try store.removeDevice(device.id, version: device.version))
        try sweep()
        #expect(try store.hubRegistration("o-1") == nil && store.hubRegistration("~o-1") == nil)
        #expect(try hears("username:olga") == [] && hears("~username:olga") == [])
    }

    /// What an import makes of the registrations of an export; there is one device, d-1.
    private func imports() throws {
        func imported(_ registration: HubRegistration) throws -> HubRegistration? {
            try store.inItsNamespace(.hubRegistration(registration)).record as? HubRegistration
        }
        let foreign = NamespaceScene.registration("s-2", ["all"])
        #expect(try imported(foreign) == foreign.movedToServed)
        let own = NamespaceScene.registration("d-1", ["all"])
        #expect(try imported(own) == NamespaceScene.registration("d-1", ["all"], isNamespaced: true))
        for later in [NamespaceScene.registration("d-9", ["all"], isNamespaced: true), foreign.movedToServed] {
            #expect(try imported(later) == later)
        }
    }
}
