// SPDX-License-Identifier: Apache-2.0
import JSON
import PostgresStore
import Store
import StoreContract
import Support
import Testing
import Text

@Suite struct `Two stores on one database` {
    private static let threads = 12

    @Test(arguments: ["read committed", "serializable"])
    func `of all who change one record at once exactly one succeeds at a time`(isolation: String) throws {
        let site = try Site()
        try site.set("default_transaction_isolation", isolation)
        let stores = [try site.open(), try site.open()]
        _ = try stores[0].putUser(User(name: "alice", passwordHash: ""))
        let rounds = 10
        let changes = inParallel(Self.threads) { number in
            var count = 0
            while count < rounds {
                do throws(StoreError) {
                    guard let user = try stores[number % 2].user("alice") else { return -1 }
                    _ = try stores[number % 2].putUser(user)
                    count += 1
                } catch {
                    // Who gave way to others too often may have to try again.
                    guard error == .conflict || "\(error)".contains("40001") else { return -1 }
                }
            }
            return count
        }
        #expect(changes.allSatisfy { $0 == rounds })
        #expect(try stores[1].user("alice")?.version == 1 + Self.threads * rounds)
    }

    @Test func `of all who read a notification at once exactly one is the first`() throws {
        let site = try Site()
        let stores = [try site.open(), try site.open()]
        for _ in 0..<10 {
            let made = try stores[0].createNotification(owner: "bob", payload: "p", now: noon, expiresAt: nextDay)
            let firsts = inParallel(Self.threads) { number in
                (try? stores[number % 2].readNotification(made.id, owner: "bob", now: noon))?.isRead == false
            }
            #expect(firsts.count { $0 } == 1)
        }
    }

    @Test func `of all who create one session at once exactly one does`() throws {
        let site = try Site()
        let stores = [try site.open(), try site.open()]
        let made = inParallel(Self.threads) { number in
            let session = Session(
                id: "s", owner: "o", binding: "\(number)", createdAt: noon, expiresAt: nextDay)
            return (try? stores[number % 2].createSession(session, now: noon)) != nil
        }
        #expect(made.count { $0 } == 1)
    }

    @Test(arguments: ["read committed", "serializable"])
    func `of records that are removed in favor of each other at once one is left`(isolation: String) throws {
        let site = try Site()
        try site.set("default_transaction_isolation", isolation)
        let stores = [try site.open(), try site.open()]
        for round in 0..<20 {
            let records = try (0..<3).map {
                try stores[0].putDevice(DeviceRecord(id: "d\(round)-\($0)", owner: "o\(round)", updatedAt: noon))
            }
            _ = inParallel(3) { own in
                for number in [own + 1, own + 2].map({ $0 % 3 }) {
                    let other = records[number]
                    _ = try? stores[own % 2].removeDevice(other.id, version: other.version, inFavorOf: records[own])
                }
            }
            #expect(try stores[0].devices(owner: "o\(round)").count == 1)
        }
    }

    @Test func `what is sent again because no answer came is there once, also beside the first sending`() throws {
        let site = try Site()
        let stores = [try site.open(), try site.open()]
        for round in 0..<10 {
            let session = Session(id: "s\(round)", owner: "o", binding: "b", createdAt: noon, expiresAt: nextDay)
            let message = HubMessage(id: "m\(round)", document: .null, createdAt: noon, expiresAt: nextDay)
            let outcomes = inParallel(Self.threads) { number in
                do throws(StoreError) {
                    try stores[number % 2].createSession(session, now: noon)
                    try stores[number % 2].enqueueHubMessage(message)
                    return true
                } catch {
                    return false
                }
            }
            #expect(outcomes.allSatisfy { $0 })
            #expect(try stores[0].session(session.id, now: noon) == session)
        }
        #expect(try stores[0].hubQueueBacklog().messages == 10)
    }

    @Test func `tags that change hands at once are found as the records say`() throws {
        let site = try Site()
        let stores = [try site.open(), try site.open()]
        _ = inParallel(Self.threads) { number in
            for round in 0..<20 {
                let store = stores[number % 2]
                // The writer that comes second gets a conflict, and leaves it.
                guard let old = try? store.hubRegistration("r"), let version = Optional(old.version) else {
                    _ = try? store.putHubRegistration(Self.registration(number, round, version: 0))
                    continue
                }
                if round % 5 == 4 {
                    _ = try? store.removeHubRegistration("r", version: version)
                } else {
                    _ = try? store.putHubRegistration(Self.registration(number, round, version: version))
                }
            }
        }
        let rows = try site.run("SELECT convert_from(tag, 'UTF8') FROM app_backend.hub_registration_tags ORDER BY 1")
        let tags = try stores[0].hubRegistration("r")?.tags ?? []
        #expect(rows.split(separator: "\n").map(String.init) == tags.sorted())
    }

    private static func registration(_ number: Int, _ round: Int, version: Int) -> HubRegistration {
        registration(["tag-\(number % 4)", "tag-\(4 + round % 4)"], version: version)
    }

    private static func registration(_ tags: [String], version: Int) -> HubRegistration {
        HubRegistration(id: "r", channel: "c", tags: tags, description: .null, updatedAt: noon, version: version)
    }

    @Test func `a registration that is removed beside a change of it leaves no tags, not even to a sweep`() throws {
        let site = try Site()
        let stores = [try site.open(), try site.open()]
        _ = try stores[0].putHubRegistration(Self.registration(["old"], version: 0))
        try site.holdWriters(of: "hub_registration_tags")
        let change = Background { try stores[0].putHubRegistration(Self.registration(["old", "new"], version: 1)) }
        try site.waitForHeldWriter()
        #expect(try stores[1].removeHubRegistration("r", version: nil))
        #expect(try change.outcome(seconds: Site.seconds).version == 2)
        #expect(try site.run("SELECT count(*) FROM app_backend.hub_registration_tags") == "0")
        #expect(try !stores[1].removeHubRegistration("r", version: nil))
        // As an older version may have left them.
        try site.run(
            """
            DROP FUNCTION app_backend.hold CASCADE;
            INSERT INTO app_backend.hub_registration_tags SELECT 'new', id FROM app_backend.hub_registrations;
            UPDATE app_backend.hub_registrations SET removed_at = now() - interval '25 hours'
            """)
        #expect(try stores[1].sweep(budget: 100, now: noon).compacted == 1)
        #expect(try site.run("SELECT count(*) FROM app_backend.hub_registration_tags") == "0")
    }

    @Test func `a lease has one holder and ends with its time, and a holder that lost it writes nothing more`() throws {
        let site = try Site()
        let stores = try (0..<2).map { _ in try site.open { $0.leaseDuration = .milliseconds(100) } }
        let message = HubMessage(id: "m", document: .string("new"), createdAt: noon, expiresAt: nextDay)
        let scheduled = HubMessage(
            id: "s", document: .null, createdAt: noon, notBefore: nextDay, expiresAt: nextDay + 86_400)
        try stores[0].enqueueHubMessage(message)
        let first = try #require(try stores[0].acquireDeliveryLease())
        #expect(first.renew())
        var second: DeliveryLease?
        let hasChanged = try Deadline.poll(seconds: Site.seconds) {
            second = try stores[1].acquireDeliveryLease()
            return second != nil
        }
        try #require(hasChanged)
        var changed = message
        changed.document = .string("changed too late")
        #expect(throws: StoreError.conflict) { try stores[0].updateQueuedHubMessages([changed]) }
        #expect(throws: StoreError.conflict) { try stores[0].removeQueuedHubMessages(["m"]) }
        try stores[0].enqueueHubMessage(scheduled)
        #expect(throws: StoreError.conflict) { try stores[0].dueHubMessages(except: [], limit: 9, now: nextDay) }
        #expect(throws: StoreError.conflict) { try stores[0].finishQueuedHubMessages([changed]) }
        #expect(!first.renew())
        #expect(try stores[1].queuedHubMessage("m") == message)
        #expect(try stores[1].hubMessage("m", now: noon) == nil)
        // What the first one gives back is not its own any more.
        first.release()
        #expect(second?.renew() == true)
        try stores[1].finishQueuedHubMessages([changed])
        #expect(try stores[0].queuedHubMessage("m") == nil)
        #expect(try stores[0].hubMessage("m", now: noon) == changed)
    }

    @Test func `a lease does not last longer because the database's clock is set back`() throws {
        let site = try Site()
        let stores = try (0..<2).map { _ in try site.open() }
        let first = try #require(try stores[0].acquireDeliveryLease())
        #expect(try stores[1].acquireDeliveryLease() == nil)
        // As it looks after an hour was taken back.
        try site.run("UPDATE app_backend.hub_turns SET expires_at = expires_at + interval '1 hour'")
        let lease = try #require(try stores[1].acquireDeliveryLease())
        #expect(lease.renew())
        #expect(try stores[0].acquireDeliveryLease() == nil)
        // It is given back when nothing holds it any more.
        withExtendedLifetime(first) {}
    }

    @Test func `a lease that is renewed lasts longer than its time`() throws {
        let site = try Site()
        let lease = Duration.seconds(2)
        let stores = try (0..<2).map { _ in try site.open { $0.leaseDuration = lease } }
        let held = try #require(try stores[0].acquireDeliveryLease())
        let end = ContinuousClock.now + lease * 3 / 2
        while ContinuousClock.now < end {
            let begin = ContinuousClock.now
            #expect(held.renew())
            guard try stores[1].acquireDeliveryLease() != nil else { continue }
            // It is renewed when a third of it is over; so only who was asleep for the rest of it may have lost it.
            #expect(begin.duration(to: .now) > lease * 2 / 3)
            break
        }
    }
}
