// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTPTypes
import Store
import Testing
import Text

/// An operator removes one device of a user.
@Suite struct DeviceRemovalTests {
    @Test func `a device is removed, at the hub too, and no other one`() throws {
        let site = try TestSite()
        let (lost, kept) = (
            try site.register("bob", handle: TestSite.token(1)), try site.register("bob", handle: TestSite.token(2))
        )
        #expect(try site.targets(to: "bob", from: "alice") == 2)
        let removed = try #require(try site.upkeep().removeDevice(lost, of: "bob"))
        #expect(removed.devices == 1 && removed.unreachable == 0 && removed.failure == nil)
        #expect(try site.hubTags(lost) == nil && site.store.device(lost) == nil)
        #expect(try site.hubTags(kept) == ["username:bob"])
        #expect(try site.targets(to: "bob", from: "alice") == 1)
        #expect(try site.store.user("bob")?.upkeep.isEmpty == true)
        // An id of a registration that is gone, and one of another user.
        #expect(try site.upkeep().removeDevice(lost, of: "bob") == nil)
        #expect(try site.upkeep().removeDevice(kept, of: "alice") == nil)
        #expect(try site.upkeep().removeDevice(kept, of: "nosuch") == nil)
        #expect(try site.store.device(kept) != nil)
    }

    @Test func `a hub that is away loses the device when it is back`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let id = try site.register("bob")
        hub.setAway(true)
        let remains = try #require(try site.upkeep().removeDevice(id, of: "bob"))
        #expect(remains.unreachable == 1 && remains.failure?.hasPrefix("hub: ") == true && remains.devices == 0)
        #expect(try site.registrations(of: "bob").isEmpty)
        let due = try #require(try site.store.user("bob")?.upkeep.dueAt)
        #expect(due.seconds - site.clock.seconds == 10)
        try site.keepUp(for: 60)
        hub.setAway(false)
        #expect(try site.hubTags(id) != nil)
        try site.keepUp(for: 300)
        #expect(try site.hubTags(id) == nil && site.store.device(id) == nil)
        #expect(try site.store.user("bob")?.upkeep.isEmpty == true)
    }

    @Test func `the command may be given again, also while the service goes on with it`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let id = try site.register("bob")
        hub.setAway(true)
        #expect(try site.upkeep().removeDevice(id, of: "bob")?.unreachable == 1)
        #expect(try site.upkeep().removeDevice(id, of: "bob")?.unreachable == 1)
        hub.setAway(false)
        #expect(try site.upkeep().removeDevice(id, of: "bob")?.devices == 1)
        #expect(try site.hubTags(id) == nil && site.store.device(id) == nil)
        try site.keepUp(for: 60)
        #expect(try site.store.user("bob")?.upkeep.isEmpty == true)
    }

    @Test func `a device that registers again before the hub heard of its removal stays`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let id = try site.register("bob", handle: TestSite.token(1))
        hub.setAway(true)
        #expect(try site.upkeep().removeDevice(id, of: "bob")?.unreachable == 1)
        hub.setAway(false)
        #expect(site.put(id, as: "bob", handle: TestSite.token(1)).status == .ok)
        try site.keepUp(for: 300)
        #expect(try site.hubTags(id) == ["username:bob"])
        #expect(try site.targets(to: "bob", from: "alice") == 1)
        #expect(try site.store.user("bob")?.upkeep.isEmpty == true)
    }
}
