// SPDX-License-Identifier: Apache-2.0
import JSON
import PostgresStore
import Store
import StoreContract
import Testing
import Text

@Suite struct `The store in a database` {
    private static func small(_ options: inout PostgresSiteStore.Options) {
        (options.quotas.notificationsPerOwner, options.quotas.devicesPerOwner, options.quotas.sessionsPerOwner) = (
            5, 3, 3
        )
        (options.quotas.sentPerOwner, options.quotas.idempotencyKeysPerOwner) = (4, 4)
    }

    /// The totals of the queue are what its rows come to.
    private func expectRightTotals(_ site: Site) throws {
        let rows = try site.run("SELECT count(*), coalesce(sum(bytes), 0) FROM app_backend.hub_queue")
        #expect(try site.run("SELECT sum(messages), sum(bytes) FROM app_backend.hub_queue_totals") == rows)
    }

    @Test func `an owner's payloads are bounded in bytes`() throws {
        try QuotaContract(store: Site().open { $0.quotas.notificationBytesPerOwner = 20_000 }).run()
    }

    @Test(arguments: [1, 16]) func `keeps the contract, over however many connections`(connections: Int) throws {
        let site = try Site()
        let store = try site.open {
            Self.small(&$0)
            $0.connections = connections
        }
        try Contract(store: store).runAll()
        try expectRightTotals(site)
    }

    @Test func `keeps the contract of transfers`() throws {
        let sites = [try Site(), try Site()]
        let stores = try sites.map { try $0.open(Self.small) }
        try TransferContract(source: stores[0], target: stores[1]).runAll()
        for site in sites { try expectRightTotals(site) }
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
        try expectRightTotals(site)
    }
}
