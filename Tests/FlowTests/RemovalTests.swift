// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTPTypes
import JSON
import Store
import Support
import Testing
import Text

/// What is left of a user who was removed: nothing, for anybody, from the first moment on.
@Suite struct RemovalTests {
    @Test func `a new user of the name gets nothing of the former one`() throws {
        let site = try TestSite()
        let secret = try site.leaveSecret("for the old bob only", for: "bob", from: "alice")
        let id = try site.register("bob")
        let page = try site.page(of: "bob")
        let removed = try #require(try site.upkeep().remove("bob"))
        #expect(removed.devices == 1 && removed.sessions == 1 && removed.secrets == 1 && removed.failure == nil)
        #expect(site.call(.get, Path.register, as: "bob").status == .unauthorized)
        #expect(try !page.isKnown)
        #expect(try site.hubTags(id) == nil && site.store.device(id) == nil)
        try site.addAgain("bob")
        #expect(site.call(.get, "\(Path.notifications)/\(secret)", as: "bob").status == .notFound)
        #expect(try site.registrations(of: "bob").isEmpty)
        #expect(try !page.isKnown)
        #expect(try site.targets(to: "bob", from: "alice") == 0)
        // The phone of both: either it asks for another id, or it is given one.
        #expect([.gone, .ok].contains(site.put(id, as: "bob", handle: TestSite.token(1)).status))
        _ = try site.register("bob")
        #expect(try site.targets(to: "bob", from: "alice") == 1)
        // Under the name that everybody knows, whatever the store calls the owner.
        let session = try JSONValue(parsing: site.page(of: "bob").call(.get, Path.session).body)
        #expect(session["User"]?.string == "bob")
    }

    @Test func `a new user of the name is another owner also where nothing of the former one could be removed`() throws
    {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let secret = try site.leaveSecret("old", for: "bob", from: "alice")
        let id = try site.register("bob")
        hub.setAway(true)
        let removed = try #require(try site.upkeep().remove("bob"))
        #expect(removed.unreachable == 1 && removed.failure?.hasPrefix("hub: ") == true && removed.secrets == 1)
        try site.addAgain("bob")
        // A process that looks at nothing but the former owner goes on writing.
        _ = try site.store.createNotification(
            owner: "bob", sender: "alice", payload: "late", now: Timestamp(seconds: site.clock.seconds),
            expiresAt: .init(seconds: .max))
        #expect(site.call(.get, "\(Path.notifications)/\(secret)", as: "bob").status == .notFound)
        #expect(try JSONValue(parsing: site.call(.get, Path.notifications, as: "bob").body).array?.isEmpty == true)
        #expect(try site.registrations(of: "bob").isEmpty)
        hub.setAway(false)
        #expect(try site.hubTags(id) == ["username:bob"])
        #expect(try site.targets(to: "bob", from: "alice") == 0)
        // The phone of both: either it asks for another id, or it is given one.
        #expect([.gone, .ok].contains(site.put(id, as: "bob", handle: TestSite.token(1)).status))
        _ = try site.register("bob")
        #expect(try site.targets(to: "bob", from: "alice") == 1)
        #expect(try site.hubTags(id) == nil)
    }

    @Test func `a removed user hears nothing any more, also not by the tag of a sender`() throws {
        let site = try TestSite(users: ["alice", "bob", "carol"], policy: TagPolicy(defaultTags: ["from:*"]))
        _ = try site.register("bob", tags: ["from:alice"])
        #expect(try site.targets(to: "carol", from: "alice") == 1)
        #expect(try site.targets(to: "bob", from: "alice") == 1)
        _ = try site.upkeep().remove("bob")
        #expect(try site.targets(to: "carol", from: "alice") == 0)
        #expect(try site.targets(to: "bob", from: "alice") == 0)
        let refused = site.call(.post, Path.notifications, query: "to_tag=bob", as: "alice", body: #""secret""#)
        #expect(refused.status == .badRequest)
    }

    @Test func `a hub that is away is asked again with growing pauses, until it has done its part`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let ids = try (1...3).map { try site.register("bob", handle: TestSite.token($0)) }
        hub.setAway(true)
        #expect(try site.upkeep().remove("bob")?.unreachable == 3)
        var pauses: [Int64] = []
        for _ in 0..<4 {
            let due = try #require(try site.store.userRecord("bob")?.upkeep.dueAt)
            pauses.append(due.seconds - site.clock.seconds)
            site.clock.advance(due.seconds - site.clock.seconds - 1)
            let asked = site.hub.requests.count
            try site.upkeep().run()
            #expect(site.hub.requests.count == asked)
            site.clock.advance(1)
            try site.upkeep().run()
            // One call and its second try: a hub that does not answer is not asked for each device.
            #expect((asked + 1...asked + 4).contains(site.hub.requests.count))
        }
        #expect(pauses == [10, 20, 40, 80])
        hub.setAway(false)
        try site.keepUp(for: 400)
        for id in ids { #expect(try site.hubTags(id) == nil && site.store.device(id) == nil) }
        #expect(try site.store.userRecord("bob")?.upkeep.isEmpty == true)
    }

    @Test func `what a request under way still writes is removed as well`() throws {
        let site = try TestSite()
        _ = try site.upkeep().remove("bob")
        let now = Timestamp(seconds: site.clock.seconds)
        let late = Timestamp(seconds: site.clock.seconds + 100_000)
        try site.keepUp(for: 100)
        _ = try site.store.createNotification(owner: "bob", sender: "alice", payload: "late", now: now, expiresAt: late)
        _ = try site.store.putDevice(DeviceRecord(id: "late-1", owner: "bob", updatedAt: now))
        try site.store.createSession(
            Session(id: "late", owner: "bob", binding: "x", createdAt: now, expiresAt: late), now: now)
        try site.store.rememberSent(["m"], owner: "bob", now: now, expiresAt: late)
        #expect(try site.store.userRecord("bob")?.upkeep.isEmpty == false)
        try site.keepUp(for: 100)
        #expect(try site.store.holdings(of: "bob", now: now) == Holdings())
        #expect(try site.store.devices(owner: "bob").isEmpty)
        #expect(try !site.store.hasSent("m", owner: "bob", now: now))
        #expect(try site.store.userRecord("bob")?.upkeep.isEmpty == true)
    }

    @Test func `a registration that overlaps with the removal is taken back`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let id = try site.newID("bob")
        let upkeep = site.upkeep()
        hub.interrupt {
            #expect(throws: Never.self) { _ = try upkeep.remove("bob") }
        }
        let status = site.put(id, as: "bob", handle: TestSite.token(1)).status
        #expect(status == .forbidden || status == .gone)
        #expect(try site.hubTags(id) == nil && site.store.device(id) == nil)
    }

    @Test func `who dies at it is followed by another process`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        let id = try site.register("bob")
        hub.setAway(true)
        _ = try site.upkeep().remove("bob")
        hub.setAway(false)
        // Given again, the command does at once what is left.
        #expect(try site.upkeep().remove("bob")?.devices == 1)
        #expect(try site.hubTags(id) == nil)
        try site.keepUp(for: 300)
        #expect(try site.upkeep().remove("bob") == nil)
    }

    @Test func `data that is kept is the next user's of the name`() throws {
        let site = try TestSite()
        let secret = try site.leaveSecret("kept", for: "bob", from: "alice")
        let page = try site.page(of: "bob")
        _ = try site.register("bob")
        #expect(try site.upkeep().remove("bob", keepingData: true) != nil)
        #expect(try !page.isKnown && site.store.user("bob") == nil)
        try site.addAgain("bob")
        #expect(site.call(.get, "\(Path.notifications)/\(secret)", as: "bob").status == .ok)
        #expect(try site.registrations(of: "bob").count == 1)
        #expect(try !page.isKnown)
        #expect(try site.upkeep().remove("bob", keepingData: true) != nil)
        #expect(try site.upkeep().remove("bob")?.secrets == 1)
        try site.addAgain("bob")
        #expect(try site.registrations(of: "bob").isEmpty)
    }

    @Test func `many removals of one name leave nothing, and a record that does not grow`() throws {
        let site = try TestSite(users: ["alice", "bob"])
        var random = SeededRandom(seed: 11)
        let hash = try #require(try site.store.user("bob")).passwordHash
        for round in 1...300 {
            let secret = try site.leaveSecret("of \(round)", for: "bob", from: "alice")
            if round.isMultiple(of: 20) { _ = try site.register("bob", handle: TestSite.token(round)) }
            _ = try site.upkeep().remove("bob")
            site.clock.advance(Int64.random(in: 0...3, using: &random))
            var user = try #require(try site.store.userRecord("bob"))
            #expect(user.upkeep.cleanings.count <= Upkeep.maximumCleanings)
            user = try #require(try User(name: "bob", passwordHash: hash, after: user, now: Timestamp(seconds: 0)))
            _ = try site.store.putUser(user)
            let now = Timestamp(seconds: site.clock.seconds)
            #expect(try site.store.notification(Int32(secret), owner: user.owner, now: now) == nil)
            try site.upkeep().run()
        }
        try site.keepUp(for: 300)
        let user = try #require(try site.store.user("bob"))
        #expect(user.generation == 300 && user.upkeep.isEmpty)
        let now = Timestamp(seconds: site.clock.seconds)
        for generation in 0..<300 {
            let owner = User.owner(of: "bob", generation: generation)
            #expect(try site.store.holdings(of: owner, now: now) == Holdings())
            #expect(try site.store.devices(owner: owner).isEmpty)
        }
        // Nor does a file hold a text any more.
        let files = try FileManager.default.subpathsOfDirectory(atPath: site.folder.path + "/notifications")
        for file in files {
            let text = try? String(contentsOf: site.folder.appending(path: "notifications/" + file), encoding: .utf8)
            #expect(text?.contains("\"payload\":\"of ") != true)
        }
    }

    /// As it is after thousands of removals that followed each other, or after a hand has edited the record.
    @Test(arguments: [40, 2_000_000])
    func `what many former users of a name have left is removed a few at a time`(last: Int) throws {
        let site = try TestSite()
        var user = try #require(try site.store.userRecord("bob"))
        let time = Timestamp(seconds: site.clock.seconds)
        user.generation = 41
        user.upkeep.cleanings = [Cleaning(first: 0, last: last, schedule: Schedule(until: time, dueAt: time))]
        _ = try site.store.putUser(user)
        for generation in 0...40 {
            _ = try site.store.createNotification(
                owner: User.owner(of: "bob", generation: generation), sender: "alice", payload: "old", now: time,
                expiresAt: time + 3_600)
        }
        func left() throws -> [Int] {
            try (0...40).filter { generation in
                let owner = User.owner(of: "bob", generation: generation)
                return try site.store.holdings(of: owner, now: time).waiting.count > 0
            }
        }
        var steps: [Int] = []
        while !(try site.store.userRecord("bob")?.upkeep.isEmpty ?? true), steps.count < 10 {
            try site.upkeep().run()
            steps.append(try left().count)
        }
        #expect(steps.first.map { (20..<41).contains($0) } == true && steps.last == 0 && steps.count < 10, "\(steps)")
    }

    @Test func `what a late request wrote for one of many former users is removed as well`() throws {
        let site = try TestSite()
        var user = try #require(try site.store.userRecord("bob"))
        let time = Timestamp(seconds: site.clock.seconds)
        user.generation = 41
        user.upkeep.cleanings = [Cleaning(first: 0, last: 40, schedule: Schedule(until: time + 20, dueAt: time))]
        _ = try site.store.putUser(user)
        try site.upkeep().run()
        let latest = User.owner(of: "bob", generation: 40)
        _ = try site.store.createNotification(
            owner: latest, sender: "alice", payload: "late", now: time, expiresAt: time + 3_600)
        // The walk that has passed the latest one ends when no request of before is under way any more.
        try site.keepUp(for: 100)
        #expect(try site.store.userRecord("bob")?.upkeep.isEmpty == true)
        #expect(try site.store.holdings(of: latest, now: time).waiting.count == 0)
    }

    @Test func `a hub that is away keeps nothing from being removed here`() throws {
        let hub = HubHandle()
        let site = try TestSite(surroundingHub: hub.surround)
        var user = try #require(try site.store.userRecord("bob"))
        let time = Timestamp(seconds: site.clock.seconds)
        user.generation = 40
        _ = try site.store.putUser(user)
        let id = try site.register("bob")
        user = try #require(try site.store.userRecord("bob"))
        user.generation = 41
        user.upkeep.cleanings = [Cleaning(first: 0, last: 40, schedule: Schedule(until: time, dueAt: time))]
        _ = try site.store.putUser(user)
        let oldest = User.owner(of: "bob", generation: 0)
        _ = try site.store.createNotification(
            owner: oldest, sender: "alice", payload: "old", now: time, expiresAt: time + 3_600)
        hub.setAway(true)
        try site.keepUp(for: 60)
        #expect(try site.store.holdings(of: oldest, now: time).waiting.count == 0)
        #expect(try site.store.userRecord("bob")?.upkeep.isEmpty == false)
        hub.setAway(false)
        try site.keepUp(for: 4_000)
        #expect(try site.store.userRecord("bob")?.upkeep.isEmpty == true)
        #expect(try site.store.device(id) == nil)
    }
}
