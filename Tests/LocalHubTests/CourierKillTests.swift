// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHub
import NotificationHub
import Processes
import Randomness
import Store
import Testing

/// Several processes on one store; whichever delivers is killed, again and again.
@Suite final class `Couriers that are killed` {
    private static let devices = 40
    private static let rounds = 15
    private static let processes = 3
    /// What the oracle hands over at once.
    private static let underWay = 32

    private let path: String
    private var log: String { path + "-log" }
    private var running: [ChildProcess] = []

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "couriers-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        for process in running { end(process) }
        for name in [path, log] { try? FileManager.default.removeItem(atPath: name) }
    }

    private func spawn() throws -> ChildProcess {
        let oracle = try #require(
            Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "courier-oracle"))
        return try ChildProcess(oracle.path, [path, log, String(HubBench.now)])
    }

    private func end(_ process: ChildProcess) {
        process.signal(SIGKILL)
        _ = process.wait(seconds: 10)
    }

    /// The lines so far: who told which device of which message.
    private func told() -> [(process: String, delivery: String)] {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            return (words[0], words.count > 1 ? words[1] : "")
        }
    }

    @Test func `no device is told twice, none is forgotten but those at hand, and the others go on`() throws {
        let bench = DeliveryBench(store: try FileStore.open(path: path))
        for id in 1...Self.devices { bench.register(id) }
        running = try (0..<Self.processes).map { _ in try spawn() }
        var random = SeededRandom(seed: 4)
        var ids: [String] = []
        for round in 0..<Self.rounds {
            ids += (0..<4).map { bench.send(body: "\(round)-\($0)") }
            let before = told().count
            let enough = before + Int.random(in: 0...60, using: &random)
            try bench.wait { self.told().count > enough }
            let deliverer = try #require(told().last?.process)
            guard let index = running.firstIndex(where: { String($0.id) == deliverer }) else { continue }
            end(running[index])
            running[index] = try spawn()
        }
        let outcomes = try ids.map { try bench.outcomes($0) }
        let all = told()
        #expect(Set(all.map(\.delivery)).count == all.count)
        #expect(Set(all.map(\.process)).count > 3)
        #expect(outcomes.allSatisfy { $0.values.reduce(0, +) == Self.devices })
        #expect(outcomes.allSatisfy { Set($0.keys).isSubset(of: ["Success", "UnknownError"]) })
        let unknown = outcomes.reduce(0) { $0 + ($1["UnknownError"] ?? 0) }
        // More than these are unknown to the hub, which writes answers down in batches; these alone were not told.
        let forgotten = ids.count * Self.devices - all.count
        #expect(forgotten <= Self.rounds * Self.underWay)
        let successes = outcomes.reduce(0) { $0 + ($1["Success"] ?? 0) }
        #expect((successes...successes + unknown).contains(all.count))
        #expect(try bench.store.queuedHubMessages(except: [], limit: 9).isEmpty)
    }
}
