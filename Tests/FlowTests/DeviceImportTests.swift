// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing
import Text

/// Devices that an operator registers from a list, in the name of their users.
struct DeviceImportTests {
    private func user(_ name: String, _ site: TestSite) throws -> User { try #require(try site.store.user(name)) }

    private func apple(_ number: Int, tags: [String] = []) -> DeviceRegistration {
        DeviceRegistration(platform: "apns", handle: TestSite.token(number), tags: tags)
    }

    /// Registers a device, and has it checked before and afterwards.
    /// - Returns: whether it was registered.
    @discardableResult private func register(
        _ device: DeviceRegistration, id: String? = nil, of name: String = "alice", _ site: TestSite
    ) throws -> Bool {
        let user = try user(name, site)
        let isNew = try site.backend.deviceImport.isNew(device, id: id, of: user, planned: 0)
        let isRegistered = try site.backend.deviceImport.register(device, id: id, of: user)
        #expect(isNew == isRegistered)
        #expect(try !site.backend.deviceImport.isNew(device, id: id, of: user, planned: 0))
        return isRegistered
    }

    @Test(arguments: TestSite.Road.allCases)
    func `a device is registered as its app would do it, and a second time changes nothing`(road: TestSite.Road) throws
    {
        let site = try TestSite(road: road)
        #expect(try register(apple(1, tags: ["news"]), site))
        let device = try #require(try site.store.devices(owner: "alice").first)
        #expect(device.handle == TestSite.token(1) && device.tags == ["news"] && !device.needsReconciliation)
        try site.expectAgreement(on: device.id)
        #expect(try !register(apple(1, tags: ["other"]), site))
        #expect(try site.store.device(device.id) == device)
        // The app comes, with an id of its own and another tag, and is the same device.
        #expect(site.put("own", as: "alice", handle: TestSite.token(1)).status == .ok)
        #expect(try site.store.devices(owner: "alice").map(\.handle) == [TestSite.token(1)])
    }

    @Test func `the app that registers under the id of the list changes that registration`() throws {
        let site = try TestSite(road: .direct)
        #expect(try register(apple(1), id: "app-1", site))
        #expect(site.put("app-1", as: "alice", handle: TestSite.token(2)).status == .ok)
        #expect(try site.store.devices(owner: "alice").map(\.handle) == [TestSite.token(2)])
        // What the app has said since is newer than the list.
        #expect(try !register(apple(1), id: "app-1", site))
        #expect(try site.store.devices(owner: "alice").map(\.handle) == [TestSite.token(2)])
    }

    @Test(arguments: TestSite.Road.allCases)
    func `a device that another user has registered stays that user's`(road: TestSite.Road) throws {
        let site = try TestSite(road: road)
        let id = try site.register("bob", handle: TestSite.token(1))
        let alice = try user("alice", site)
        #expect(throws: DeviceImport.Refusal.anothers) {
            try site.backend.deviceImport.register(apple(1), id: nil, of: alice)
        }
        #expect(try site.store.device(id)?.owner == "bob" && site.store.devices(owner: "alice").isEmpty)
        let tags = try site.hubClient.registrations(channel: TestSite.token(1)).flatMap(\.tags).map(\.description)
        #expect(tags.filter { $0.hasPrefix("username:") } == ["username:bob"])
    }

    @Test func `no device of a user makes room for one of the list`() throws {
        let site = try TestSite(road: .direct)
        for number in 1...Quotas().devicesPerOwner { try register(apple(number), site) }
        let (alice, full) = (try user("alice", site), DeviceImport.Refusal.full(Quotas().devicesPerOwner))
        #expect(throws: full) { try site.backend.deviceImport.register(apple(1_000), id: nil, of: alice) }
        #expect(throws: full) { try site.backend.deviceImport.isNew(apple(1_000), id: nil, of: alice, planned: 0) }
        #expect(try !register(apple(7), site))
        let bob = try user("bob", site)
        #expect(try site.backend.deviceImport.isNew(apple(1_001), id: nil, of: bob, planned: full.count - 1))
        #expect(throws: full) {
            try site.backend.deviceImport.isNew(apple(1_001), id: nil, of: bob, planned: full.count)
        }
        #expect(try site.store.devices(owner: "alice").count == full.count)
    }

    @Test func `a device that is gone does not come back by a list`() throws {
        let site = try TestSite(road: .direct)
        try register(apple(1), site)
        let id = try #require(try site.store.devices(owner: "alice").first).id
        try site.store.noteGone(id, reason: "ExpiredChannel", now: Timestamp(seconds: site.clock.seconds))
        _ = try site.store.removeHubRegistration(id, version: nil)
        #expect(try !register(apple(1), site))
        #expect(try site.store.device(id)?.isGone == true)
    }

    @Test(arguments: TestSite.Road.allCases, [nil, "app-1"])
    func `what an import has begun before it was killed the next one finishes`(road: TestSite.Road, id: String?) throws
    {
        let site = try TestSite(road: road)
        let time = Timestamp(seconds: site.clock.seconds)
        let states = [
            // The id was handed out.
            DeviceRecord(id: "1-2-1", owner: "alice", alias: id, updatedAt: time),
            // The device was written, and the hub was not asked yet.
            DeviceRecord(
                id: "1-2-2", owner: "bob", platform: "apns", handle: TestSite.token(2), alias: id,
                needsReconciliation: true,
                updatedAt: time),
        ]
        for (number, state) in states.enumerated() {
            _ = try site.store.putDevice(state)
            #expect(try register(apple(number + 1), id: id, of: state.owner, site))
            let devices = try site.store.devices(owner: state.owner).filter(\.isLive)
            #expect(devices.map(\.handle) == [TestSite.token(number + 1)] && devices.first?.alias == id)
            #expect(devices.first?.needsReconciliation == false)
            try site.expectAgreement(on: try #require(devices.first).id)
        }
    }

    @Test(arguments: [
        (DeviceRegistration(platform: "apns", handle: "xyz"), nil, "Handle"),
        (DeviceRegistration(platform: "nokia", handle: "AB"), nil, "Platform"),
        (DeviceRegistration(platform: "browser", handle: "https://p.example/1"), nil, "Keys"),
        (DeviceRegistration(platform: "fcm", handle: "x", tags: ["sport"]), nil, "Tags"),
        (DeviceRegistration(platform: "fcm", handle: "x", tags: ["username:bob"]), nil, "Tags"),
        (DeviceRegistration(platform: "fcm", handle: "x", tags: ["a tag"]), nil, "Tags"),
        (DeviceRegistration(platform: "fcm", handle: "x", app: "chat"), nil, "App"),
        (DeviceRegistration(platform: "fcm", handle: "x"), "a/b", "id"),
        (DeviceRegistration(platform: "fcm", handle: "x"), String(repeating: "7", count: 257), "id"),
    ])
    func `what an app would be refused a list is refused, too`(
        device: DeviceRegistration, id: String?, field: String
    ) throws {
        let site = try TestSite(policy: TagPolicy(defaultTags: ["news"]), road: .direct)
        let alice = try user("alice", site)
        let problems = [
            #expect(throws: Problem.self) {
                try site.backend.deviceImport.isNew(device, id: id, of: alice, planned: 0)
            },
            #expect(throws: Problem.self) { try site.backend.deviceImport.register(device, id: id, of: alice) },
        ]
        #expect(problems.map { $0?.field } == [field, field])
        #expect(problems.allSatisfy { $0?.detail.contains("xyz") == false })
        #expect(try site.store.devices(owner: "alice").isEmpty)
    }

    @Test func `a user who may not log in gets no device`() throws {
        let site = try TestSite(road: .direct)
        try site.change("alice") { $0.disabledAt = Timestamp(seconds: site.clock.seconds) }
        let alice = try user("alice", site)
        let problem = #expect(throws: Problem.self) {
            try site.backend.deviceImport.register(apple(1), id: nil, of: alice)
        }
        #expect(problem?.status == .forbidden)
        #expect(try site.store.devices(owner: "alice").isEmpty)
    }
}

extension DeviceImport.Refusal {
    /// The number of devices of a user who has as many as one may have.
    fileprivate var count: Int {
        if case .full(let count) = self { count } else { 0 }
    }
}
