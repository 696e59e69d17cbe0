// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing

/// Rights that are taken away are taken from devices that are registered already.
@Suite struct ChangedRightsTests {
    private func change(_ name: String, to tags: [String], _ site: TestSite) throws -> UserRemains? {
        var user = try #require(try site.store.user(name))
        user.tags = tags
        return try site.upkeep().change(user)
    }

    @Test func `a device loses the tags that its user may not claim any more, at the hub and in the list`() throws {
        let site = try TestSite(users: ["alice", "bob", "carol"])
        _ = try change("bob", to: ["*", "from:*"], site)
        let id = try site.register("bob", tags: ["news", "sports", "from:alice"])
        #expect(try site.targets(to: "carol", from: "alice") == 1)
        let changed = try #require(try change("bob", to: ["news"], site))
        #expect(changed.devices == 1 && changed.failure == nil)
        #expect(try site.hubTags(id) == ["news", "username:bob"])
        #expect(try site.store.device(id)?.tags == ["news"])
        #expect(try site.targets(to: "carol", from: "alice") == 0)
        #expect(try site.targets(to: "bob", from: "alice") == 1)
        try site.keepUp(for: 300)
        #expect(try site.store.user("bob")?.upkeep.isEmpty == true)
        #expect(try change("bob", to: ["news", "x"], site)?.devices == 0)
    }

    @Test func `a hub that is away learns of it when it is back`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let id = try site.register("bob", tags: ["news"])
        hub.setAway(true)
        #expect(try change("bob", to: ["none"], site)?.unreachable == 1)
        #expect(try site.store.device(id)?.tags == [])
        hub.setAway(false)
        #expect(try site.hubTags(id) == ["news", "username:bob"])
        try site.keepUp(for: 300)
        #expect(try site.hubTags(id) == ["username:bob"])
        #expect(try site.store.user("bob")?.upkeep.isEmpty == true)
    }

    @Test func `a registration that overlaps with the change has no tag more than is allowed`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let id = try site.newID("bob")
        var user = try #require(try site.store.user("bob"))
        user.tags = ["news"]
        let (upkeep, changed) = (site.upkeep(), user)
        hub.interrupt {
            #expect(throws: Never.self) { _ = try upkeep.change(changed) }
        }
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: ["news", "sports"]).json
        let response = site.call(.put, "\(Path.register)/\(id)", as: "bob", body: String(decoding: body, as: UTF8.self))
        #expect([.ok, .forbidden].contains(response.status))
        #expect(try site.hubTags(id) == ["news", "username:bob"])
        #expect(try site.store.device(id)?.tags == ["news"])
    }
}
