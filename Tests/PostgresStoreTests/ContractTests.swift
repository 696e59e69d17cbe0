// SPDX-License-Identifier: Apache-2.0
import JSON
import PostgresStore
import Store
import StoreContract
import Support
import Testing
import Text

@Suite struct `The store in a database` {
    private static func small(_ options: inout PostgresSiteStore.Options) {
        (options.quotas.notificationsPerOwner, options.quotas.devicesPerOwner, options.quotas.sessionsPerOwner) = (
            5, 3, 3
        )
        (options.quotas.sentPerOwner, options.quotas.idempotencyKeysPerOwner) = (4, 4)
        (options.quotas.appTokensPerOwner, options.quotas.plainMessagesPerOwner) = (3, 3)
        options.quotas.openersPerMessage = 3
    }

    @Test func `an owner's payloads are bounded in bytes`() throws {
        try QuotaContract(store: Site().open { $0.quotas.notificationBytesPerOwner = 20_000 }).run()
    }

    @Test func `of what all users share no user takes more than their share`() throws {
        let site = try Site()
        try SharedRoomContract(store: site.open { SharedRoomContract.shrink(&$0.quotas) }).run()
        try site.expectRightTotals()
    }

    @Test(arguments: [1, 16]) func `keeps the contract, over however many connections`(connections: Int) throws {
        let site = try Site()
        let store = try site.open {
            Self.small(&$0)
            $0.connections = connections
        }
        try Contract(store: store).runAll()
        try WaitingContract(store: store).run()
        try site.expectRightTotals()
    }

    @Test func `the right to tell webhooks is another than that to deliver messages`() throws {
        let store = try Site().open()
        let delivery = try #require(try store.acquireDeliveryLease())
        let webhooks = try #require(try store.acquireLease(of: .webhookEvents))
        #expect(try store.acquireDeliveryLease() == nil && store.acquireLease(of: .webhookEvents) == nil)
        delivery.release()
        #expect(
            try webhooks.renew() && store.acquireLease(of: .webhookEvents) == nil && store.acquireDeliveryLease() != nil
        )
    }

    @Test func `an entry that waits is changed in whatever way its row is written, while its value is the same`() throws
    {
        let site = try Site()
        let store = try site.open()
        let document = JSONValue.object([JSONValue.Member("text", .string("\u{E9}/"))])
        let entry = HubMessage(id: "1", document: document, createdAt: noon, expiresAt: nextDay)
        try store.putWaiting([entry], in: .sends)
        try site.run(#"UPDATE app_backend.scheduled_sends SET document = '{ "text" : "\u00e9\/" }'"#)
        var new = entry
        new.document = .string("new")
        #expect(try store.changeWaiting(entry, to: new, in: .sends))
        #expect(try !store.changeWaiting(entry, to: nil, in: .sends))
        #expect(try store.changeWaiting(new, to: nil, in: .sends))
        #expect(try store.waiting(in: .sends).isEmpty)
    }

    @Test func `events that wait for webhooks are bounded, and openings of all messages together`() throws {
        let store = try Site().open { ($0.quotas.webhookBytes, $0.quotas.openings) = (1_300, 3) }
        let text = String(repeating: "x", count: 600)
        func event(_ id: String) -> HubMessage {
            HubMessage(id: id, document: .string(text), createdAt: noon, expiresAt: nextDay)
        }
        try store.putWaiting([event("1"), event("2")], in: .webhookEvents)
        #expect(throws: StoreError.quotaExceeded) { try store.putWaiting([event("3")], in: .webhookEvents) }
        // What waits already may still change.
        try store.putWaiting([event("1"), event("2")], in: .webhookEvents)
        #expect(throws: StoreError.quotaExceeded) {
            try store.putWaiting([event("1"), event("3")], in: .webhookEvents)
        }
        #expect(try store.waiting(in: .webhookEvents).count == 2)
        for number in 0..<9 {
            let expiry = nextDay + Int64(number)
            try store.noteOpening(MessageOpening(opener: "o", message: "m-\(number)", expiresAt: expiry), now: noon)
        }
        _ = try store.sweep(budget: 1_000, now: noon)
        let left = try (0..<9).filter { try store.openings(ofMessage: "m-\($0)", now: noon) > 0 }
        #expect(left == [6, 7, 8])
        _ = try store.sweep(budget: 1_000, now: nextDay)
        #expect(try store.waiting(in: .webhookEvents).isEmpty)
    }

    @Test func `keeps every field of every record`() throws {
        let sites = [try Site(), try Site()]
        try FieldContract.transfer(to: sites[0].open())
        try FieldContract.calls(of: sites[1].open())
    }

    @Test func `devices that are gone are noted, and forgotten after thirty days`() throws {
        try GoneDeviceContract(store: Site().open()).run()
    }

    @Test func `what an older process registers for keys is moved by the sweep`() throws {
        try NamespaceContract(store: Site().open()).run()
    }

    @Test func `keeps the contract of transfers`() throws {
        let sites = [try Site(), try Site()]
        let stores = try sites.map { try $0.open(Self.small) }
        try TransferContract(source: stores[0], target: stores[1]).runAll()
        for site in sites { try site.expectRightTotals() }
    }

    @Test func `keeps the contract where every transaction is serializable`() throws {
        let site = try Site()
        try site.set("default_transaction_isolation", "serializable")
        try Contract(store: try site.open(Self.small)).runAll()
    }

    @Test func `what has expired holds no key against a record that comes`() throws {
        let store = try Site().open()
        let old = Session(id: "s", owner: "alice", binding: "b", createdAt: noon, expiresAt: noon + 1)
        try store.createSession(old, now: noon)
        var new = old
        new.expiresAt = nextDay
        #expect(try store.putRecords([.session(new)], now: noon) == 0)
        #expect(try store.putRecords([.session(new)], now: noon + 1) == 1)
        #expect(try store.session("s", now: noon + 1) == new)
    }

    @Test func `two texts that only look alike are two names`() throws {
        let store = try Site().open()
        for owner in ["andr\u{E9}", "andre\u{301}"] {
            _ = try store.putDevice(DeviceRecord(id: owner, owner: owner, updatedAt: noon))
        }
        #expect(try store.devices(owner: "andr\u{E9}").count == 1)
    }

    @Test func `a payload of any size and any characters comes back`() throws {
        let store = try Site().open()
        let payload = String(repeating: "\u{0}é\u{1F514}\"\\\n", count: 20_000)
        let made = try store.createNotification(owner: "\u{0}", payload: payload, now: noon, expiresAt: nextDay)
        #expect(try store.notification(made.id, owner: "\u{0}", now: noon)?.payload == payload)
        let message = HubMessage(id: "m", document: .string(payload), createdAt: noon, expiresAt: nextDay)
        try store.putHubMessage(message)
        #expect(try store.hubMessage("m", now: noon) == message)
    }

    @Test func `a channel of any length is found`() throws {
        let store = try Site().open()
        let channels = ["a", "b"].map { String(repeating: "https://push.example/", count: 200) + $0 }
        for channel in channels {
            _ = try store.putHubRegistration(
                HubRegistration(
                    id: "r-" + channel.suffix(1), channel: channel, tags: [], description: .null, updatedAt: noon))
        }
        #expect(try store.hubRegistrations(channel: channels[1]).map(\.id) == ["r-b"])
    }

    @Test func `a queue takes so many bytes, and takes again when something left it`() throws {
        let site = try Site()
        let store = try site.open { $0.quotas.queueBytes = 10_000 }
        func message(_ id: Int) -> HubMessage {
            HubMessage(
                id: "m-\(id)", document: .string(String(repeating: "x", count: 900)), createdAt: noon,
                expiresAt: nextDay)
        }
        var count = 0
        #expect(throws: StoreError.quotaExceeded) {
            for id in 0..<100 {
                try store.enqueueHubMessage(message(id))
                count += 1
            }
        }
        #expect(count == 9)
        #expect(try store.hubQueueBacklog().bytes <= 10_000)
        try store.removeQueuedHubMessages(["m-0"])
        try store.enqueueHubMessage(message(100))
        _ = try store.sweep(budget: 1_000, now: nextDay)
        #expect(try store.hubQueueBacklog() == QueueBacklog())
        try site.expectRightTotals()
    }

    @Test func `what is scheduled is bounded in bytes and in time, and does not fill the queue`() throws {
        let site = try Site()
        let store = try site.open { ($0.quotas.scheduledBytes, $0.quotas.queueBytes) = (10_000, 2_000) }
        func message(_ id: Int, at notBefore: Timestamp?) -> HubMessage {
            HubMessage(
                id: "m-\(id)", document: .string(String(repeating: "x", count: 900)), createdAt: noon,
                notBefore: notBefore, expiresAt: nextDay + 86_400)
        }
        var count = 0
        #expect(throws: StoreError.quotaExceeded) {
            for id in 0..<100 {
                try store.enqueueHubMessage(message(id, at: nextDay))
                count += 1
            }
        }
        #expect(count == 9)
        try store.enqueueHubMessage(message(100, at: nil))
        // What is due is moved, so many at once, and then it counts in the queue alone.
        #expect(try store.dueHubMessages(except: [], limit: 3, now: nextDay).messages.count == 3)
        try site.expectRightTotals()
        try store.enqueueHubMessage(message(101, at: nextDay))
        #expect(try store.hubQueueBacklog(now: nextDay).messages == 11)
        #expect(throws: StoreError.quotaExceeded) {
            try store.enqueueHubMessage(message(102, at: noon + 32 * 86_400))
        }
        try store.removeQueuedHubMessages((0..<102).map { message($0, at: nextDay) })
        try site.expectRightTotals()
        #expect(try store.hubQueueBacklog(now: nextDay) == QueueBacklog())
        for id in 200..<203 { try store.enqueueHubMessage(message(id, at: nextDay)) }
        _ = try store.sweep(budget: 1_000, now: nextDay + 86_400)
        #expect(try site.run("SELECT count(*) FROM app_backend.hub_scheduled") == "0")
        try site.expectRightTotals()
    }

    @Test func `100,000 messages that are due next week are not looked at`() throws {
        let site = try Site()
        let store = try site.open()
        try site.run(
            """
            INSERT INTO app_backend.hub_scheduled (id, document, bytes, created_at, not_before, expires_at)
            SELECT ('s-' || number)::bytea, '"x"', 131, 1, 1800604800 + number % 7200, 1900000000
            FROM generate_series(1, 100000) AS numbers (number)
            """)
        try site.run("UPDATE app_backend.hub_queue_totals SET scheduled_bytes = 13100000 WHERE part = 0")
        try site.run("ANALYZE app_backend.hub_scheduled")
        let message = HubMessage(id: "now", document: .null, createdAt: noon, expiresAt: nextDay)
        try store.enqueueHubMessage(message)
        let look = try store.dueHubMessages(except: [], limit: 9, now: noon)
        #expect(look.messages == [message] && look.next?.seconds == 1_800_604_800)
        #expect(try store.hubQueueBacklog(now: noon).messages == 1)
        for query in [
            "min(not_before) FROM app_backend.hub_scheduled",
            "bytes FROM app_backend.hub_scheduled WHERE not_before <= 1800000000",
        ] {
            let plan = try site.run("EXPLAIN SELECT " + query)
            #expect(plan.contains("Index") && !plan.contains("Seq Scan"), "\(plan)")
        }
        #expect(try store.dueHubMessages(except: [], limit: 5, now: noon + 8 * 86_400).messages.count == 5)
    }
}
