// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing
internal import Text

/// What every adapter of the two protocols must do, whatever it keeps its records in. Caps: 5 notifications, 3 plain ones,
/// 3 devices, 3 sessions, 3 app tokens, 4 sends and 4 idempotency keys per owner.
package struct Contract {
    private let store: any StateStore & HubStore & HubQueue

    package init(store: any StateStore & HubStore & HubQueue) { self.store = store }

    package func runAll() throws {
        try users()
        try usersOfLookalikeNames()
        try notifications()
        try notificationPages()
        try firstReading()
        try notificationQuota()
        try notificationRemoval()
        try InboxContract(store: store).runAll()
        try devices()
        try deviceChangesHands()
        try deviceQuota()
        try deviceInFavor()
        try UserContract(store: store).runAll()
        try HubContract(store: store).runAll()
        try SessionContract(store: store).runAll()
        try AppTokenContract(store: store).runAll()
        try IdempotencyContract(store: store).runAll()
        #expect(store.health() == .writable)
    }

    private func expect(_ error: StoreError, _ body: () throws -> Void, at location: SourceLocation = #_sourceLocation)
    {
        #expect(throws: error, sourceLocation: location) { try body() }
    }

    // MARK: Users

    func users() throws {
        #expect(try store.user("alice") == nil)
        let first = try store.putUser(User(name: "alice", passwordHash: "$y$1", tags: ["news:*"]))
        #expect(first == User(name: "alice", passwordHash: "$y$1", tags: ["news:*"], sendTo: nil, version: 1))
        #expect(try store.user("alice") == first)
        expect(.conflict) { _ = try store.putUser(User(name: "alice", passwordHash: "$y$2")) }
        expect(.conflict) { _ = try store.putUser(User(name: "nobody", passwordHash: "$y$2", version: 1)) }
        var second = first
        (second.passwordHash, second.tags, second.sendTo, second.isSecureOnly) = ("$y$2", [], ["*"], true)
        second.roles = ["editor", "app:helper"]
        second = try store.putUser(second)
        #expect(second.version == 2)
        #expect(try store.user("alice") == second)
        let strange = try store.putUser(User(name: "../\"é\n\\", passwordHash: ""))
        #expect(try store.user(strange.name) == strange)
        #expect(try store.users() == [strange, second].sorted { $0.name < $1.name })
        #expect(try store.removeUser(strange.name))
        #expect(try !store.removeUser(strange.name))
        #expect(try store.users() == [second])
        #expect(try store.user("Alice") == nil)
    }

    func usersOfLookalikeNames() throws {
        let composed = try store.putUser(User(name: "andr\u{E9}", passwordHash: "one"))
        let decomposed = try store.putUser(User(name: "andre\u{301}", passwordHash: "two"))
        #expect(try store.user("andr\u{E9}")?.passwordHash == composed.passwordHash)
        #expect(try store.user("andre\u{301}")?.passwordHash == decomposed.passwordHash)
        #expect(try store.removeUser("andr\u{E9}"))
        #expect(try store.user("andre\u{301}")?.passwordHash == "two")
    }

    // MARK: Notifications

    func notifications() throws {
        let made = try store.createNotification(
            owner: "bob", sender: "zo\u{EB} \"\\", payload: "a \"secret\"\n\u{0}", now: noon, expiresAt: nextDay)
        #expect((1...Int32.max - 1).contains(made.id))
        #expect(made.token.utf8.count == 22)
        #expect(made.token.contains { !$0.isNumber })
        #expect(!made.isRead)
        #expect(try store.notification(made.id, owner: "bob", now: noon) == made)
        #expect(try store.notification(token: made.token, owner: "bob", now: noon) == made)
        #expect(made.sender == "zo\u{EB} \"\\")
        let listed = try store.notifications(owner: "bob", unreadOnly: false, after: nil, limit: 9, now: noon)
        #expect(listed == [NotificationSummary(made, size: made.size)])
        #expect(try store.notification(made.id, owner: "carol", now: noon) == nil)
        #expect(try store.notification(token: made.token, owner: "carol", now: noon) == nil)
        #expect(try store.notification(made.id, owner: "bob", now: nextDay + -1) == made)
        #expect(try store.notification(made.id, owner: "bob", now: nextDay) == nil)
        #expect(try store.notification(token: made.token, owner: "bob", now: nextDay) == nil)
        for id in [0, -1, Int32.max, Int32.min] { #expect(try store.notification(id, owner: "bob", now: noon) == nil) }
        for token in ["", "\"", String(made.id)] {
            #expect(try store.notification(token: token, owner: "bob", now: noon) == nil)
        }
    }

    func notificationPages() throws {
        let made = try (0..<4).map {
            try store.createNotification(
                owner: "pat", sender: "\($0)", payload: "\($0)", now: noon + $0, expiresAt: nextDay + $0)
        }
        func payloads(unreadOnly: Bool = false, after: Int32? = nil, limit: Int = 10, now: Timestamp = noon) throws
            -> [String]
        {
            try store.notifications(owner: "pat", unreadOnly: unreadOnly, after: after, limit: limit, now: now)
                .compactMap { summary in made.first { $0.id == summary.id }?.payload }
        }
        #expect(try payloads() == ["3", "2", "1", "0"])
        #expect(try payloads(limit: 2) == ["3", "2"])
        #expect(try payloads(after: made[2].id) == ["1", "0"])
        #expect(try payloads(after: made[0].id) == [])
        #expect(try payloads(after: 0) == ["3", "2", "1", "0"])
        #expect(try payloads(limit: 0) == [])
        #expect(try payloads(now: nextDay + 1) == ["3", "2"])
        _ = try store.readNotification(made[2].id, owner: "pat", now: noon)
        #expect(try payloads(unreadOnly: true) == ["3", "1", "0"])
        #expect(try payloads(unreadOnly: true, after: made[2].id) == ["1", "0"])
        let same = try (0..<3).map {
            try store.createNotification(owner: "sam", sender: "\($0)", payload: "", now: noon, expiresAt: nextDay)
        }
        let ids = try store.notifications(owner: "sam", unreadOnly: false, after: nil, limit: 9, now: noon).map(\.id)
        #expect(ids == same.map(\.id).reversed())
    }

    func firstReading() throws {
        let made = try store.createNotification(owner: "rita", payload: "x", now: noon, expiresAt: nextDay)
        #expect(try store.readNotification(made.id, owner: "bob", now: noon) == nil)
        #expect(try store.readNotification(made.id, owner: "rita", now: nextDay) == nil)
        #expect(try store.readNotification(made.id, owner: "rita", now: noon)?.isRead == false)
        #expect(try store.readNotification(made.id, owner: "rita", now: noon)?.isRead == true)
        #expect(try store.notification(made.id, owner: "rita", now: noon)?.isRead == true)
        #expect(try store.readNotification(made.id &+ 1, owner: "rita", now: noon) == nil)
    }

    func notificationQuota() throws {
        func leave(_ text: String, from sender: String, at time: Timestamp = noon) throws -> SecureNotification {
            try store.createNotification(
                owner: "max", sender: sender, payload: text, now: time,
                expiresAt: nextDay + (time.seconds - noon.seconds))
        }
        func texts(at time: Timestamp = noon) throws -> [String] {
            try store.wholeNotifications(owner: "max", now: time).map(\.payload).sorted()
        }
        // One sender may leave two of five.
        let first = try leave("a1", from: "a")
        _ = try leave("a2", from: "a", at: noon + 1)
        expect(.shareExceeded(retryAfterSeconds: 86_398)) { _ = try leave("a3", from: "a", at: noon + 2) }
        // What was read does not count, and leaves first.
        _ = try store.readNotification(first.id, owner: "max", now: noon + 2)
        _ = try leave("a3", from: "a", at: noon + 2)
        for number in 1...2 { _ = try leave("b\(number)", from: "b", at: noon + 3) }
        #expect(try texts() == ["a1", "a2", "a3", "b1", "b2"])
        _ = try leave("c1", from: "c", at: noon + 4)
        #expect(try texts() == ["a2", "a3", "b1", "b2", "c1"])
        // Then the oldest of who holds most.
        _ = try leave("c2", from: "c", at: noon + 5)
        #expect(try texts() == ["a3", "b1", "b2", "c1", "c2"])
        expect(.shareExceeded(retryAfterSeconds: 86_399)) { _ = try leave("c3", from: "c", at: noon + 5) }
        _ = try leave("c3", from: "c", at: nextDay + 4)
        #expect(try texts(at: nextDay + 4) == ["c2", "c3"])
        // Who only looks alike is another sender.
        for sender in ["andr\u{E9}", "andre\u{301}", "andr\u{E9}"] {
            _ = try leave(sender, from: sender, at: nextDay + 4)
        }
    }

    func notificationRemoval() throws {
        let made = try store.createNotification(owner: "rosa", payload: "x", now: noon, expiresAt: nextDay)
        #expect(try !store.removeNotification(made.id, owner: "bob", now: noon))
        #expect(try !store.removeNotification(made.id, owner: "rosa", now: nextDay))
        #expect(try store.removeNotification(made.id, owner: "rosa", now: noon))
        #expect(try !store.removeNotification(made.id, owner: "rosa", now: noon))
        #expect(try store.notification(made.id, owner: "rosa", now: noon) == nil)
        #expect(try store.notification(token: made.token, owner: "rosa", now: noon) == nil)
        #expect(try store.readNotification(made.id, owner: "rosa", now: noon) == nil)
        #expect(try store.wholeNotifications(owner: "rosa", now: noon) == [])
    }

    // MARK: Devices

    private func device(_ id: String, _ owner: String, version: Int = 0) -> DeviceRecord {
        DeviceRecord(
            id: id, owner: owner, platform: "apns", handle: "AB", tags: ["x"], updatedAt: noon, version: version)
    }

    func devices() throws {
        #expect(try store.device("d1") == nil)
        var first = try store.putDevice(DeviceRecord(id: "d1", owner: "dan", updatedAt: noon))
        #expect(first.version == 1)
        expect(.conflict) { _ = try store.putDevice(device("d1", "dan")) }
        expect(.conflict) { _ = try store.putDevice(device("d2", "dan", version: 1)) }
        (first.handle, first.installationID, first.alias) = ("H", "i-1", "another backend's id")
        let second = try store.putDevice(first)
        #expect(second.version == 2)
        #expect(try store.device("d1") == second)
        #expect(try store.device("d1")?.alias == "another backend's id")
        let other = try store.putDevice(device("d0", "dan"))
        #expect(try store.devices(owner: "dan") == [other, second])
        expect(.conflict) { _ = try store.removeDevice("d1", version: 1) }
        #expect(try store.removeDevice("d1", version: 2))
        #expect(try !store.removeDevice("d1", version: 2))
        #expect(try store.device("d1") == nil)
        #expect(try store.devices(owner: "dan") == [other])
        _ = try store.putDevice(device("d1", "dan"))
        #expect(try store.devices(owner: "dan").map(\.id) == ["d0", "d1"])
    }

    func deviceChangesHands() throws {
        var record = try store.putDevice(device("h1", "eve"))
        for owner in ["fay", "eve", "fay"] {
            record.owner = owner
            record = try store.putDevice(record)
            for name in ["eve", "fay"] {
                #expect(try store.devices(owner: name).map(\.id) == (name == owner ? ["h1"] : []))
            }
        }
        #expect(record.version == 4)
    }

    func deviceInFavor() throws {
        let new = try store.putDevice(DeviceRecord(id: "new", owner: "erin", updatedAt: noon))
        let old = try store.putDevice(DeviceRecord(id: "old", owner: "frank", updatedAt: noon))
        var changed = new
        changed.version += 1
        expect(.conflict) { _ = try store.removeDevice("old", version: 1, inFavorOf: changed) }
        expect(.conflict) { _ = try store.removeDevice("old", version: 2, inFavorOf: new) }
        #expect(try store.device("old") == old)
        #expect(try store.removeDevice("old", version: 1, inFavorOf: new))
        #expect(try !store.removeDevice("old", version: 1, inFavorOf: new))
        #expect(try store.device("old") == nil)
        // A successor that is gone removes no device.
        expect(.conflict) { _ = try store.removeDevice("new", version: 1, inFavorOf: old) }
        #expect(try store.device("new") == new)
        #expect(try store.removeDevice("new", version: 1))
    }

    func deviceQuota() throws {
        for index in 0..<3 { _ = try store.putDevice(device("q\(index)", "quinn")) }
        expect(.quotaExceeded) { _ = try store.putDevice(device("q3", "quinn")) }
        #expect(try store.device("q3") == nil)
        var other = try store.putDevice(device("q4", "rose"))
        other.owner = "quinn"
        expect(.quotaExceeded) { _ = try store.putDevice(other) }
        #expect(try store.device("q4")?.owner == "rose")
        // An id that is not used yet takes no device's place, and there is one of it; it does when it is used.
        var unused = try store.putDevice(DeviceRecord(id: "q5", owner: "quinn", updatedAt: noon))
        expect(.quotaExceeded) { _ = try store.putDevice(DeviceRecord(id: "q6", owner: "quinn", updatedAt: noon)) }
        unused.alias = "mine"
        unused = try store.putDevice(unused)
        var used = unused
        (used.platform, used.handle) = ("apns", "AC")
        expect(.quotaExceeded) { _ = try store.putDevice(used) }
        #expect(try store.device("q5") == unused)
        #expect(try store.removeDevice("q2", version: 1))
        used = try store.putDevice(used)
        #expect(try store.putDevice(used).version == used.version + 1)
        #expect(try store.removeDevice("q5", version: used.version + 1))
        _ = try store.putDevice(device("q2", "quinn", version: 0))
        #expect(try store.putDevice(device("q0", "quinn", version: 1)).version == 2)
        #expect(try store.removeDevice("q0", version: 2))
        #expect(try store.putDevice(other).owner == "quinn")
    }
}
