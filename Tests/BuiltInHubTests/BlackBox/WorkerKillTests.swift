// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import NotificationHub
import PostgresStore
import Store
import Support
import Testing

/// Several processes on one store; whichever delivers is struck, again and again.
@Suite final class `Delivery workers that are killed` {
    private static let devices = 40
    private static let processes = 3
    /// What the oracle hands over at once.
    private static let inFlight = 32

    private let path = NSTemporaryDirectory() + "/workers-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func folder() throws -> String {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
    }

    private func database() throws -> String {
        let url = try PostgresServer.shared.get().makeDatabase()
        _ = try PostgresSiteStore.migrate(url: url)
        return url
    }

    /// For calls that a busy machine may hold up.
    private func store(_ url: String) throws -> PostgresSiteStore {
        var options = PostgresSiteStore.Options()
        options.timeout = .seconds(240)
        return try PostgresSiteStore.open(url: url, options: options)
    }

    private func bench(_ store: any HubStore & HubQueue) -> DeliveryBench {
        let bench = DeliveryBench(store: store)
        for id in 1...Self.devices { bench.register(id) }
        return bench
    }

    @Test func `no device gets a message twice, none is forgotten but those in flight, and the others go on`() throws {
        let place = try folder()
        try kill(bench(try FileSiteStore.open(path: place, options: .patient)), place, rounds: 15)
    }

    @Test func `the same on one database, where a lease ends with its time`() throws {
        let url = try database()
        try kill(bench(try store(url)), url, rounds: 3)
    }

    private func kill(_ bench: DeliveryBench, _ place: String, rounds: Int) throws {
        let processes = try WorkerProcesses(place, count: Self.processes)
        var random = SeededRandom(seed: 4)
        var ids: [String] = []
        // Some were to wait for their time, which has come, in one of two hours; one still waits.
        let waiting = try bench.schedule(body: "waiting", notBefore: HubBench.now + 3_600)
        for round in 0..<rounds {
            // Counted before there is more to tell: the processes may tell all of it before this thread goes on.
            let enough = processes.told().count + Int.random(in: 0...60, using: &random)
            ids += (0..<2).map { bench.send(body: "\(round)-\($0)") }
            ids += try (2..<4).map {
                try bench.schedule(body: "\(round)-\($0)", notBefore: HubBench.now - Int64(round % 2) * 1_500)
            }
            try bench.wait { processes.told().count > enough }
            if let index = try processes.deliverer() { try processes.replace(index) }
        }
        try processes.expectOnce(ids, devices: Self.devices, unsure: rounds * Self.inFlight, bench)
        #expect(Set(processes.told().map(\.process)).count > rounds / 4)
        #expect(!processes.told().contains { $0.delivery.hasPrefix("waiting") })
        #expect(try bench.details(waiting).state == "Enqueued")
    }

    @Test func `a process that was stopped for longer than its lease lasts sends nothing again when it goes on`() throws
    {
        let url = try database()
        let bench = bench(try store(url))
        let processes = try WorkerProcesses(url, count: 2)
        var ids: [String] = []
        var random = SeededRandom(seed: 8)
        for round in 0..<3 {
            let enough = processes.told().count + Int.random(in: 0...60, using: &random)
            ids += (0..<4).map { bench.send(body: "\(round)-\($0)") }
            try bench.wait { processes.told().count > enough }
            let stopped = processes.running[try #require(try processes.deliverer())]
            stopped.signal(SIGSTOP)
            let others = { processes.told().count { $0.process != String(stopped.id) } }
            // Looked at before there is more to tell: the others may have told everything a moment later.
            let before = others()
            ids.append(bench.send(body: "\(round)-while-stopped"))
            try bench.wait { others() > before }
            // It goes on in the middle of what it did, beside the one that holds the lease by now.
            stopped.signal(SIGCONT)
            ids.append(bench.send(body: "\(round)-afterwards"))
        }
        try processes.expectOnce(ids, devices: Self.devices, unsure: 3 * Self.inFlight, bench)
    }
}
