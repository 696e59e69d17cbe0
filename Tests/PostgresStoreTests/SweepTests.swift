// SPDX-License-Identifier: Apache-2.0
import JSON
import PostgresStore
import Store
import StoreContract
import Support
import Testing
import Text

@Suite struct `Sweeping a database` {
    @Test func `what has expired goes, a bounded piece at a time, and the rest stays`() throws {
        let site = try Site()
        let store = try site.open {
            ($0.quotas.notificationsPerOwner, $0.quotas.notificationBytesPerOwner) = (.max, .max)
        }
        for index in 0..<1_200 {
            _ = try store.createNotification(
                owner: "o\(index % 7)", payload: "", now: noon, expiresAt: index < 1_100 ? noon + 1 : nextDay)
        }
        try store.createSession(
            Session(id: "s", owner: "o", binding: "", createdAt: noon, expiresAt: noon + 1), now: noon)
        let first = try store.sweep(budget: 1, now: noon + 1)
        #expect((first.visited, first.compacted, first.finishedRound) == (1, 500, false))
        var rounds = 0
        while try !store.sweep(budget: 2, now: noon + 1).finishedRound { rounds += 1 }
        #expect(rounds < 20)
        #expect(try site.run("SELECT count(*) FROM app_backend.notifications") == "100")
        #expect(try site.run("SELECT count(*) FROM app_backend.sessions") == "0")
    }

    @Test func `too many finished sends go, the oldest first, and ids that were not used for a day`() throws {
        let site = try Site()
        let store = try site.open { $0.quotas.hubMessages = 10 }
        for number in 0..<30 {
            try store.putHubMessage(
                HubMessage(id: "m\(number)", document: .null, createdAt: noon, expiresAt: nextDay + Int64(number)))
        }
        var unused = DeviceRecord(id: "unused", owner: "dan", updatedAt: noon)
        unused = try store.putDevice(unused)
        for id in ["used", "pending"] {
            _ = try store.putDevice(
                DeviceRecord(
                    id: id, owner: "dan", platform: id == "used" ? "apns" : "", needsReconciliation: id == "pending",
                    updatedAt: noon))
        }
        func sweep(at time: Timestamp) throws { while try !store.sweep(budget: 9, now: time).finishedRound {} }
        try sweep(at: nextDay + -1)
        #expect(try store.device("unused") == unused)
        #expect(try (0..<30).filter { try store.hubMessage("m\($0)", now: noon) != nil } == Array(20..<30))
        try sweep(at: nextDay)
        #expect(try store.devices(owner: "dan").map(\.id) == ["pending", "used"])
        #expect(throws: StoreError.conflict) { try store.putDevice(unused) }
        #expect(try store.putDevice(DeviceRecord(id: "unused", owner: "dan", updatedAt: nextDay)).version == 2)
    }

    @Test func `of too many finished sends those of the sender with most go first`() throws {
        let site = try Site()
        let store = try site.open { $0.quotas.hubMessages = 10 }
        let owners: [String?] = ["alice", "bob", "bob", nil]
        for number in 0..<1_200 {
            let owner = number < owners.count ? owners[number] : ":Manage"
            try store.putHubMessage(
                HubMessage(
                    id: "m\(number)", owner: owner, document: .null, createdAt: noon,
                    expiresAt: nextDay + Int64(number)))
        }
        while try !store.sweep(budget: 9, now: noon).finishedRound {}
        let left = try (0..<1_200).filter { try store.hubMessage("m\($0)", now: noon) != nil }
        #expect(left == Array(0..<4) + Array(1_194..<1_200))
    }

    @Test func `what a sender may not ask after any more is forgotten at the hub as well`() throws {
        let site = try Site()
        let store = try site.open { $0.quotas.sentPerOwner = 4 }
        for id in ["first", "other"] {
            try store.putHubMessage(HubMessage(id: id, document: .null, createdAt: noon, expiresAt: nextDay))
        }
        try store.rememberSent(["first"], owner: "alice", now: noon, expiresAt: nextDay)
        // One call of 64 forgets: that of 1,500 none does happens once in 10^10 runs.
        for number in 0..<1_500 {
            try store.rememberSent(["m\(number)"], owner: "alice", now: noon, expiresAt: nextDay)
        }
        #expect(try store.hubMessage("first", now: noon) == nil)
        #expect(try store.hubMessage("other", now: noon) != nil)
        #expect(try store.hasSent("m1499", owner: "alice", now: noon))
    }

    @Test func `a message is there as long as its send is remembered, and goes with it`() throws {
        let site = try Site()
        let store = try site.open { $0.quotas.sentPerOwner = 4 }
        // All of one second, and the ids of those that were sent later come first.
        func message(_ number: Int) -> SentMessage {
            let digits = String(9_999 - number)
            return SentMessage(
                id: digits + String(repeating: "M", count: 22 - digits.utf8.count), owner: "alice", to: "bob",
                recipient: "bob", sentAt: noon, keptID: nil, outcomes: [], expiresAt: nextDay)
        }
        func send(_ number: Int) throws {
            let message = message(number)
            try store.rememberSent(
                ["a\(number)", "b\(number)"], message: message, owner: "alice", now: noon, expiresAt: nextDay)
        }
        try send(0)
        for number in 1..<1_500 { try send(number) }
        #expect(try store.sentMessage(message(0).id, now: noon) == nil)
        for number in [1_498, 1_499] {
            #expect(try store.hasSent("a\(number)", owner: "alice", now: noon))
            #expect(try store.sentMessage(message(number).id, now: noon)?.id == message(number).id)
        }
    }

    @Test func `a record that was removed counts on for a day, and starts over after that`() throws {
        let site = try Site()
        let store = try site.open()
        let user = try store.putUser(User(name: "dan", passwordHash: "x"))
        let device = try store.putDevice(DeviceRecord(id: "d", owner: "dan", updatedAt: noon))
        let registration = try store.putHubRegistration(
            HubRegistration(id: "r", channel: "c", tags: ["t"], description: .null, updatedAt: noon))
        func remove() throws {
            #expect(try store.removeUser("dan"))
            #expect(try store.removeDevice("d", version: store.device("d")?.version ?? 0))
            #expect(try store.removeHubRegistration("r", version: nil))
        }
        func makeAgain() throws -> [Int] {
            try [
                store.putUser(User(name: "dan", passwordHash: "y")).version,
                store.putDevice(DeviceRecord(id: "d", owner: "eve", updatedAt: noon)).version,
                store.putHubRegistration(
                    HubRegistration(id: "r", channel: "c", tags: [], description: .null, updatedAt: noon)
                ).version,
            ]
        }
        try remove()
        _ = try store.sweep(budget: 100, now: nextDay)
        #expect(try makeAgain() == [2, 2, 2])
        #expect(throws: StoreError.conflict) { try store.putUser(user) }
        #expect(throws: StoreError.conflict) { try store.putDevice(device) }
        #expect(throws: StoreError.conflict) { try store.putHubRegistration(registration) }
        try remove()
        for table in ["users", "devices", "hub_registrations"] {
            try site.run("UPDATE app_backend.\(table) SET removed_at = now() - interval '25 hours'")
        }
        _ = try store.sweep(budget: 100, now: nextDay)
        #expect(try makeAgain() == [1, 1, 1])
    }

    @Test func `a removed record that is made again while a sweep is at it stays`() throws {
        let site = try Site()
        let store = try site.open()
        _ = try store.putUser(User(name: "dan", passwordHash: "x"))
        _ = try store.removeUser("dan")
        try site.run("UPDATE app_backend.users SET removed_at = now() - interval '25 hours'")
        try site.holdWriters(of: "users")
        let made = Background { try store.putUser(User(name: "dan", passwordHash: "y")) }
        try site.waitForHeldWriter()
        _ = try site.open().sweep(budget: 100, now: noon)
        #expect(try made.outcome(seconds: Site.seconds).version == 2)
        #expect(try store.user("dan")?.passwordHash == "y")
    }

    @Test func `a key that is claimed again while a sweep is at it stays`() throws {
        let site = try Site()
        let store = try site.open()
        let old = IdempotentRequest(owner: "o", key: "k", fingerprint: "f", createdAt: noon, expiresAt: nextDay)
        #expect(try store.claimIdempotencyKey(old, now: noon) == nil)
        try site.holdWriters(of: "idempotent_requests")
        let new = IdempotentRequest(
            owner: "o", key: "k", fingerprint: "g", createdAt: nextDay, expiresAt: nextDay + 86_400)
        let claim = Background { try store.claimIdempotencyKey(new, now: nextDay) }
        try site.waitForHeldWriter()
        _ = try site.open().sweep(budget: 100, now: nextDay)
        #expect(try claim.outcome(seconds: Site.seconds) == nil)
        #expect(try site.open().claimIdempotencyKey(new, now: nextDay) == new)
    }

    @Test func `of a removed device nothing is left that names it`() throws {
        let site = try Site()
        let store = try site.open()
        _ = try store.putDevice(
            DeviceRecord(id: "d", owner: "dan", platform: "apns", handle: "secret-handle", updatedAt: noon))
        _ = try store.putHubRegistration(
            HubRegistration(
                id: "r", channel: "secret-handle", tags: ["t"], description: .string("secret-handle"), updatedAt: noon))
        _ = try store.removeDevice("d", version: 1)
        _ = try store.removeHubRegistration("r", version: nil)
        for table in ["devices", "hub_registrations", "hub_registration_tags"] {
            let rows = try site.run("SELECT encode(t::text::bytea, 'escape') FROM app_backend.\(table) AS t")
            // As hexadecimal digits, too.
            #expect(!rows.contains("secret-handle") && !rows.contains("7365637265742d68616e646c65"))
        }
    }
}
