// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing
internal import Text

/// What every store must keep of users who were removed, and of the work that is left to be done for a name.
package struct UserContract {
    private let store: any StateStore

    package init(store: any StateStore) { self.store = store }

    package func runAll() throws {
        try removedUser()
        try successor()
        try work()
        try sightings()
        try sightingsWithoutRecord()
        try holdings()
    }

    private func cleaning(_ first: Int, due: Timestamp) -> Cleaning {
        Cleaning(first: first, last: first, schedule: Schedule(until: due + 150, dueAt: due, attempts: 2))
    }

    func removedUser() throws {
        var user = try store.putUser(User(name: "rhea", passwordHash: "$y$1", tags: ["x"]))
        (user.passwordHash, user.tags, user.removedAt) = ("", nil, noon)
        user.upkeep.add(cleaning(0, due: noon))
        user = try store.putUser(user)
        #expect(user.version == 2)
        #expect(try store.userRecord("rhea") == user)
        #expect(try store.user("rhea") == nil)
        #expect(try !store.users().contains { $0.name == "rhea" })
        // The name is not free for a caller that has not read the record.
        #expect(throws: StoreError.conflict) { try store.putUser(User(name: "rhea", passwordHash: "$y$2")) }
        user.keepsData = true
        #expect(try store.putUser(user) == store.userRecord("rhea"))
        #expect(try store.userRecord("rhea")?.keepsData == true)
        #expect(try store.removeUser("rhea"))
        #expect(try store.userRecord("rhea") == nil)
        #expect(try store.usersWithWork(dueBy: noon + 999, limit: 9).isEmpty)
    }

    func successor() throws {
        let first = try store.putUser(User(name: "sven", passwordHash: "$y$1"))
        var next = User(name: "sven", passwordHash: "$y$2", version: first.version)
        next.generation = 7
        next = try store.putUser(next)
        #expect(try store.user("sven") == next)
        #expect(next.owner == "sven:7" && first.owner == "sven")
        #expect(try store.removeUser("sven"))
        #expect(try store.putUser(User(name: "sven", passwordHash: "$y$1")).generation == 0)
        #expect(try store.user("sven")?.owner == "sven")
        #expect(try store.removeUser("sven"))
    }

    func work() throws {
        var late = User(name: "late", passwordHash: "$y$1")
        late.upkeep.add(cleaning(0, due: noon + 60))
        late = try store.putUser(late)
        var early = User(name: "early", passwordHash: "$y$1")
        early.upkeep.review = Schedule(until: noon + 200, dueAt: noon + 30)
        early = try store.putUser(early)
        _ = try store.putUser(User(name: "idle", passwordHash: "$y$1"))
        func names(_ time: Timestamp, _ limit: Int = 9) throws -> [String] {
            try store.usersWithWork(dueBy: time, limit: limit).map(\.name)
        }
        #expect(try names(noon + 29) == [])
        #expect(try names(noon + 30) == ["early"])
        #expect(try names(noon + 60) == ["early", "late"])
        #expect(try names(noon + 60, 1) == ["early"])
        #expect(try store.usersWithWork(dueBy: noon + 60, limit: 9) == [early, late])
        (early.upkeep.review, late.upkeep) = (nil, Upkeep())
        early = try store.putUser(early)
        #expect(try names(noon + 60) == ["late"])
        late = try store.putUser(late)
        #expect(try names(noon + 60) == [])
        // A file in which there was nothing to do has something to do again.
        late.upkeep.review = Schedule(until: noon, dueAt: noon)
        late = try store.putUser(late)
        #expect(try names(noon) == ["late"])
        for name in ["late", "early", "idle"] { #expect(try store.removeUser(name)) }
    }

    func sightings() throws {
        var user = try store.putUser(User(name: "lora", passwordHash: "$y$1"))
        #expect(user.lastSeenAt == nil)
        try store.noteSeen(user, at: noon)
        #expect(try store.user("lora")?.lastSeenAt == noon)
        #expect(try store.user("lora")?.version == user.version)
        // Another user of the name was not seen.
        user.generation = 1
        try store.noteSeen(user, at: nextDay)
        #expect(try store.user("lora")?.lastSeenAt == noon)
        user.removedAt = noon
        user = try store.putUser(user)
        try store.noteSeen(user, at: nextDay)
        #expect(try store.userRecord("lora") == user)
        try store.noteSeen(User(name: "nobody", passwordHash: ""), at: noon)
        #expect(try store.userRecord("nobody") == nil)
        #expect(try store.removeUser("lora"))
    }

    func sightingsWithoutRecord() throws {
        // Two owners that only look alike.
        let (one, other) = ("id.andr\u{E9}", "id.andre\u{301}")
        #expect(try store.lastSeen(one, now: noon) == nil)
        for time in [noon, noon + 3_600] { try store.noteSeen(LastSeen(owner: one, at: time)) }
        #expect(try store.lastSeen(one, now: noon)?.seenAt == noon + 3_600)
        #expect(try store.lastSeen(other, now: noon) == nil && store.userRecord(one) == nil)
        let end = noon + 3_600 + LastSeen.keptSeconds
        #expect(try store.lastSeen(one, now: end + -1) != nil && store.lastSeen(one, now: end) == nil)
        for _ in 0..<2 { try store.forgetSeen(one) }
        #expect(try store.lastSeen(one, now: noon) == nil)
        try store.noteSeen(LastSeen(owner: one, at: nextDay))
        #expect(try store.lastSeen(one, now: noon)?.seenAt == nextDay)
        try store.forgetSeen(one)
    }

    private static func messageID(of name: String) -> String {
        String((name.utf8.map { String($0, radix: 16) }.joined() + String(repeating: "_", count: 22)).prefix(22))
    }

    func holdings() throws {
        for (owner, other) in [("hugo", "hugo:1"), ("\u{F900}", "\u{8C48}")] {
            for name in [owner, other] {
                for index in 0..<3 {
                    let id = "\(name.utf8.count)-\(name.hasSameBytes(as: owner))-\(owner)-\(index)"
                    try store.createSession(
                        Session(id: id, owner: name, binding: "b", createdAt: noon + Int64(index), expiresAt: nextDay),
                        now: noon)
                }
                let notes = try (0..<3).map {
                    try store.createNotification(
                        owner: name, sender: "\($0)", payload: "p", now: noon + $0, expiresAt: nextDay)
                }
                _ = try store.readNotification(notes[1].id, owner: name, now: noon)
                let message = SentMessage(
                    id: Self.messageID(of: name), owner: name, to: "x", sentAt: noon, expiresAt: nextDay)
                try store.rememberSent(["m-1"], message: message, owner: name, now: noon, expiresAt: nextDay)
                _ = try store.claimIdempotencyKey(
                    IdempotentRequest(owner: name, key: "k", fingerprint: "f", createdAt: noon, expiresAt: nextDay),
                    now: noon)
            }
            let held = Holdings(
                sessions: .init([noon, noon + 1, noon + 2]), waiting: .init([noon, noon + 2]), read: .init([noon + 1]))
            #expect(try store.holdings(of: owner, now: noon) == held)
            #expect(try store.holdings(of: owner, now: nextDay) == Holdings())
            #expect(try store.removeSessions(owner: owner) == 3)
            #expect(try store.removeNotifications(owner: owner) == 3)
            #expect(try store.forgetSent(owner: owner) == 1)
            #expect(try store.sentMessage(Self.messageID(of: owner), now: noon) == nil)
            #expect(try store.sentMessage(Self.messageID(of: other), now: noon) != nil)
            #expect(try store.removeIdempotencyKeys(owner: owner) == 1)
            #expect(try store.holdings(of: owner, now: noon) == Holdings())
            #expect(try !store.hasSent("m-1", owner: owner, now: noon))
            #expect(try store.removeNotifications(owner: owner) + store.forgetSent(owner: owner) == 0)
            // Only the owner's, to the byte.
            #expect(try store.holdings(of: other, now: noon) == held)
            #expect(try store.hasSent("m-1", owner: other, now: noon))
            #expect(try store.removeIdempotencyKeys(owner: other) == 1)
            #expect(try store.removeSessions(owner: other) == 3)
            #expect(try store.removeNotifications(owner: other) == 3)
            #expect(try store.forgetSent(owner: other) == 1)
        }
    }
}
