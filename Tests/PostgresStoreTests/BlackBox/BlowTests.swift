// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresStore
import Store
import StoreContract
import Support
import Testing
import Text

/// Servers that die, stop or go away, each one of the test's own. One at a time: each has processes enough.
@Suite(.serialized) struct `A server that is struck` {
    private static let rounds = 3
    private static let processes = 2

    @Test func `nothing promised is lost when the server is killed in the middle of writes, and writers go on`() throws
    {
        let site = try Site(PostgresServer())
        // An operator who sets that does not know what is promised here; the store overrules it.
        try site.set("synchronous_commit", "off")
        let logs = try LogFolder()
        let writers = try (0..<Self.processes).map { index in
            try Oracle.Writer(site.url, name: "w\(index)", logs: logs.path, ["--unreliable"])
        }
        defer { writers.forEach { $0.kill() } }
        for writer in writers { #expect(writer.waits(for: "# begun"), "\(writer.complaints)") }
        var random = SeededRandom(seed: 11)
        for _ in 1...Self.rounds {
            // Not a wait for something to happen, but the random moment of the blow.
            usleep(.random(in: 20_000...200_000, using: &random))
            let failures = writers.map { $0.count(of: "# unavailable") }
            try site.server.killAll()
            let before = writers.map(\.promises)
            for (writer, count) in zip(writers, failures) {
                #expect(writer.waits(for: "# unavailable", times: count + 1), "\(writer.complaints)")
            }
            try site.server.start()
            for (writer, count) in zip(writers, before) {
                #expect(Deadline.poll(seconds: Oracle.seconds) { writer.promises > count + 20 }, "\(writer.complaints)")
            }
        }
        for writer in writers { #expect(writer.kill() == 128 + SIGKILL) }
        try site.waitForSessions()
        let verdict = try Oracle.verify(site.url, logs: writers.map(\.log))
        #expect(verdict.isGood, "\(verdict)")
    }

    @Test func `nothing promised is lost or half done when processes that write are killed`() throws {
        let site = try Site()
        let logs = try LogFolder()
        var random = SeededRandom(seed: 5)
        var names: [String] = []
        for round in 0..<4 {
            let writers = try (0..<Self.processes).map {
                try Oracle.Writer(site.url, name: "w\(round)-\($0)", logs: logs.path, [])
            }
            names += writers.map(\.log)
            for writer in writers.shuffled(using: &random) {
                #expect(writer.waits(for: "# begun"), "\(writer.complaints)")
                usleep(.random(in: 0...100_000, using: &random))
                #expect(writer.kill() == 128 + SIGKILL, "\(writer.complaints)")
            }
        }
        try site.waitForSessions()
        let verdict = try Oracle.verify(site.url, logs: names)
        #expect(verdict.isGood, "\(verdict)")
        try site.expectRightTotals()
    }

    @Test func `a server that stands still costs an error at the deadline, and is used again when it goes on`() throws {
        let site = try Site(PostgresServer(connectSeconds: 2))
        _ = try site.open().putUser(User(name: "alice", passwordHash: ""))
        try site.waitForSessions()
        let store = try site.open(timeout: .seconds(1))
        defer { site.server.thaw() }
        let isSilent = StoreError.unavailable(detail: "PostgreSQL: the server does not answer")
        // A call that slept through some of its second cannot tell that the server did. On a busy machine a later call
        // tells it.
        let isLeft = try Deadline.poll(seconds: Site.seconds) {
            site.server.thaw()
            try fillPool(of: store, site)
            try site.server.freeze()
            #expect(throws: StoreError.unavailable(detail: "PostgreSQL, user: no answer in time")) {
                try store.user("alice")
            }
            return #expect(throws: StoreError.self) { try store.user("alice") } == isSilent
        }
        #expect(isLeft)
        // No call waits on any of the other connections: one caller after the other tries a new one, or is refused.
        for _ in 0..<200 { #expect(throws: isSilent) { try store.user("alice") } }
        #expect(store.health() == .unavailable)
        site.server.thaw()
        #expect(Deadline.poll(seconds: Site.seconds) { store.health() == .writable })
        #expect(Deadline.poll(seconds: Site.seconds) { (try? store.user("alice"))??.version == 1 })
    }

    /// Until the store has three connections or more, and its calls are answered.
    private func fillPool(of store: PostgresSiteStore, _ site: Site) throws {
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'app-backend'"
        let isFull = try Deadline.poll(seconds: Site.seconds) {
            let areAnswered = inParallel(8) { _ in (try? store.users()) != nil }.allSatisfy { $0 }
            return try areAnswered && Int(site.run(sessions)) ?? 0 >= 3
        }
        try #require(isFull)
    }

    @Test func `a server that is restarted between two calls costs no error`() throws {
        let site = try Site(PostgresServer())
        let store = try site.open()
        for round in 0..<2 {
            _ = try store.putUser(User(name: "u\(round)", passwordHash: ""))
            site.server.stop()
            try site.server.start()
        }
        #expect(try store.putUser(User(name: "v", passwordHash: "")).version == 1)
        #expect(try store.users().count == 3)
    }

    @Test func `while there is no server calls fail at once, and health says so`() throws {
        let site = try Site(PostgresServer())
        let store = try site.open()
        site.server.stop()
        // Not how fast; but who waits each time has waited long enough.
        let end = ContinuousClock.now + .seconds(Site.seconds)
        for _ in 0..<1_000 {
            #expect(throws: StoreError.self) { try store.users() }
            try #require(ContinuousClock.now < end)
        }
        #expect(store.health() == .unavailable)
        #expect(throws: StoreError.self) { try store.acquireDeliveryLease() }
        _ = store.hubQueueRevision()
        try site.server.start()
        #expect(Deadline.poll(seconds: Site.seconds) { store.health() == .writable })
    }
}

/// Where the outputs of writers lie; removed with them.
private final class LogFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/writers-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
