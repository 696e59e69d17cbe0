// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Synchronization
import Testing
import Text

/// What the hub or a push service removes, the user's list knows.
@Suite struct GoneDeviceTests {
    private let site: TestSite

    init() throws {
        site = try TestSite(
            users: ["alice", "bob", "root"], policy: TagPolicy(roles: [Role(name: "admin", administers: true)]),
            road: .direct)
        try site.change("root") { $0.roles = ["admin"] }
    }

    /// Does what the delivery does when a push service calls a device gone.
    private func end(_ id: String) throws {
        try site.store.noteGone(id, reason: "ExpiredChannel", now: Timestamp(seconds: site.clock.seconds))
        _ = try site.store.removeHubRegistration(id, version: nil)
    }

    /// Puts so many of the user's devices into the store, each a second younger than the one before.
    private func fill(_ count: Int) throws -> [String] {
        try (0..<count).map { number in
            site.clock.advance(1)
            return try site.register("alice", handle: TestSite.token(1_000 + number))
        }
    }

    private func list(_ user: String = "alice") throws -> [String: JSONValue] {
        let found = try site.registrations(of: user).map { ($0["RegistrationId"]?.string ?? "", $0) }
        return Dictionary(uniqueKeysWithValues: found)
    }

    @Test func `a device that is gone is said to be so at every place, and counts nowhere`() throws {
        let (gone, live) = (
            try site.register("alice", handle: TestSite.token(1)), try site.register("alice", handle: TestSite.token(2))
        )
        try end(gone)
        let page = try site.page(of: "root")
        let users = try JSONValue(parsing: page.call(.get, "/api/admin/users", query: "name=alice").body)
        let shown = try JSONValue(parsing: page.call(.get, "/api/admin/users/alice").body)
        #expect(users.array?.first?["DeviceCount"]?.integer == 1 && shown["DeviceCount"]?.integer == 1)
        let time = Timestamp(seconds: site.clock.seconds).text
        for device in try Array(list().values) + (shown["Devices"]?.array ?? []) {
            let isGone = device["RegistrationId"]?.string == gone
            #expect(device["Gone"]?["Reason"]?.string == (isGone ? "ExpiredChannel" : nil))
            #expect(device["Gone"]?["At"]?.string == (isGone ? time : nil))
        }
        #expect(try Set(list().keys) == [gone, live] && shown["Devices"]?.array?.count == 2)
        // A message to it reaches nothing, and its sender learns that.
        let sent = site.call(.post, Path.notifications, as: "bob", body: #"{"To":"device:\#(gone)","Body":"x"}"#)
        #expect(sent.status == .ok && String(decoding: sent.body, as: UTF8.self).contains("NoTargetFound"))
    }

    @Test func `a user whose hundred devices are gone registers another, in the place of the longest gone`() throws {
        let ids = try fill(100)
        for id in ids.reversed() {
            site.clock.advance(1)
            try end(id)
        }
        let next = try site.register("alice", handle: TestSite.token(1))
        #expect(try Set(list().keys) == Set(ids.dropLast() + [next]))
        #expect(try list()[next]?["Gone"] == nil)
        // The calls of the older tutorials, too.
        let older = #"{"platform":"ios","instId":"phone","deviceToken":"\#(TestSite.token(2))"}"#
        #expect(site.call(.post, Path.register, as: "alice", body: older).status == .ok)
        let alias = site.put("my-phone", as: "alice", handle: TestSite.token(3))
        #expect(try alias.status == .ok && list().count == 100 && list()[ids[97]] == nil && list()[ids[96]] != nil)
    }

    @Test func `a gone device that is replaced is removed from the hub too, if it is still there`() throws {
        let ids = try fill(100)
        let now = Timestamp(seconds: site.clock.seconds)
        try site.store.noteGone(ids[7], reason: "ExpiredChannel", now: now, isAtHub: true)
        _ = try site.register("alice", handle: TestSite.token(1))
        #expect(try site.store.device(ids[7]) == nil && site.store.hubRegistration(ids[7]) == nil)
    }

    @Test func `a device that comes back while its registration is being removed keeps it`() throws {
        let id = try site.register("alice")
        let found = try #require(try site.store.hubRegistration(id))
        let now = Timestamp(seconds: site.clock.seconds)
        try site.store.noteGone(id, reason: "ExpiredChannel", now: now, isAtHub: true)
        #expect(site.put(id, as: "alice", handle: TestSite.token(1)).status == .ok)
        // The process that called it gone goes on with what it has read.
        #expect(throws: StoreError.conflict) { try site.store.removeHubRegistration(id, version: found.version) }
        #expect(try site.expectAgreement(on: id)?.isLive == true)
    }

    @Test func `of a hundred live devices the one that was not renewed for longest is replaced, at the hub too`() throws
    {
        let ids = try fill(100)
        site.clock.advance(RegistrationDescription.renewalSeconds + 1)
        #expect(site.put(ids[0], as: "alice", handle: TestSite.token(1_000)).status == .ok)
        let next = try site.register("alice", handle: TestSite.token(1))
        #expect(try Set(list().keys) == Set(ids).subtracting([ids[1]]).union([next]))
        #expect(try site.store.hubRegistration(ids[1]) == nil && site.store.hubRegistration(ids[0]) != nil)
        #expect(try site.targets(to: "alice", from: "bob") == 100)
    }

    @Test func `who only asks for ids ends no device, and a device is registered under the last id`() throws {
        let ids = try fill(100)
        var fresh = ""
        for _ in 0..<3 {
            site.clock.advance(1)
            fresh = try site.newID("alice")
            #expect(try Set(list().keys) == Set(ids) && site.targets(to: "alice", from: "bob") == 100)
        }
        #expect(try site.store.devices(owner: "alice").count == 101)
        #expect(site.put(fresh, as: "alice", handle: TestSite.token(1)).status == .ok)
        #expect(try Set(list().keys) == Set(ids.dropFirst() + [fresh]))
        #expect(try site.store.hubRegistration(ids[0]) == nil && site.targets(to: "alice", from: "bob") == 100)
    }

    enum Return: CaseIterable {
        case underItsID, byItsHandle, underAFreshID, underAnAlias
    }

    @Test(arguments: Return.allCases) func `a handle that comes again takes the place of its gone record`(
        how: Return
    ) throws {
        let handle = TestSite.token(1)
        let id = try site.register("alice", handle: handle)
        let other = try site.register("bob", handle: TestSite.token(2))
        try end(id)
        switch how {
        case .underItsID: #expect(site.put(id, as: "alice", handle: handle).status == .ok)
        case .byItsHandle:
            let known = site.call(.post, Path.register, query: "handle=\(handle.lowercased())", as: "alice")
            #expect(try JSONValue(parsing: known.body).string == id)
            #expect(site.put(id, as: "alice", handle: handle).status == .ok)
        case .underAFreshID: _ = try site.register("alice", handle: handle)
        case .underAnAlias: #expect(site.put("my-phone", as: "alice", handle: handle).status == .ok)
        }
        let devices = try list()
        #expect(devices.count == 1 && devices.values.allSatisfy { $0["Gone"] == nil })
        #expect(try site.hubTags(#require(devices.keys.first)) == ["username:alice"])
        #expect(try list("bob").keys.sorted() == [other])
    }

    @Test func `a phone that was called gone four times is listed once`() throws {
        for _ in 0..<4 { try end(site.register("alice", handle: TestSite.token(1))) }
        #expect(try list().count == 1 && list().values.first?["Gone"] != nil)
        // To another user it is another device.
        _ = try site.register("bob", handle: TestSite.token(1))
        #expect(try list("bob").count == 1 && list().count == 1)
    }

    @Test func `a first registration at the local hub looks at none of the user's other devices`() throws {
        let lists = CallCount()
        let site = try TestSite(road: .direct) { $0.store = TroubledStore(inner: $0.store, deviceLists: lists) }
        let gone = try site.register("alice", handle: TestSite.token(1))
        try site.store.noteGone(gone, reason: "ExpiredChannel", now: Timestamp(seconds: site.clock.seconds))
        _ = try site.store.removeHubRegistration(gone, version: nil)
        let fresh = try site.newID("alice")
        #expect(site.put(fresh, as: "alice", handle: TestSite.token(1)).status == .ok)
        #expect(lists.number.load(ordering: .relaxed) == 0)
        #expect(try site.store.devices(owner: "alice").map(\.id) == [fresh])
    }

    @Test func `a device that is gone is forgotten after thirty days, and one that came again is not`() throws {
        let ids = try fill(2)
        for id in ids { try end(id) }
        #expect(site.put(ids[1], as: "alice", handle: TestSite.token(1_001)).status == .ok)
        site.clock.advance(DeviceRecord.goneSeconds)
        while try !site.store.sweep(budget: 1_000, now: Timestamp(seconds: site.clock.seconds)).finishedRound {}
        #expect(try list().keys.sorted() == [ids[1]])
    }
}

/// A hub elsewhere says nothing when it ends a registration; the next look at it does.
@Suite struct LostRegistrationTests {
    @Test func `a registration that the hub does not find any more is gone`() throws {
        let site = try TestSite()
        let (lost, kept) = (
            try site.register("alice", handle: TestSite.token(1), tags: ["news"]),
            try site.register("alice", handle: TestSite.token(2), tags: ["news"])
        )
        _ = try site.store.removeHubRegistration(lost, version: nil)
        var alice = try #require(try site.store.user("alice"))
        alice.tags = []
        #expect(try site.upkeep().change(alice)?.failure == nil)
        let list = try site.registrations(of: "alice")
        #expect(list.count == 2)
        for device in list {
            let isLost = device["RegistrationId"]?.string == lost
            #expect(device["Gone"]?["Reason"]?.string == (isLost ? "NotFound" : nil))
        }
        #expect(try site.hubTags(kept) == ["username:alice"])
        // Its tags are of its next registration.
        #expect(site.put(lost, as: "alice", handle: TestSite.token(1)).status == .ok)
        #expect(try site.hubTags(lost) == ["username:alice"] && site.store.device(lost)?.isLive == true)
    }

    @Test func `a device that registers while it is called gone is in the list and at the hub`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let id = try site.newID("alice")
        let (store, now) = (site.store, Timestamp(seconds: site.clock.seconds))
        hub.interrupt { try? store.noteGone(id, reason: "ExpiredChannel", now: now) }
        #expect(site.put(id, as: "alice", handle: TestSite.token(1)).status == .ok)
        #expect(try site.expectAgreement(on: id)?.isLive == true)
    }
}
