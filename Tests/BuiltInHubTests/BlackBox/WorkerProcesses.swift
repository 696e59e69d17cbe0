// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import Foundation
import NotificationHub
import Support
import Testing

/// Several processes that deliver what waits in one store, `delivery-oracle`, and what they tell. They end with it.
final class WorkerProcesses {
    private let place: String
    private let log = NSTemporaryDirectory() + "/workers-\(UUID().uuidString).log"
    private(set) var running: [ChildProcess] = []

    /// - Parameter place: a folder, or a database's URL.
    init(_ place: String, count: Int) throws {
        self.place = place
        for _ in 0..<count { running.append(try spawn()) }
    }

    deinit {
        for process in running { end(process) }
        try? FileManager.default.removeItem(atPath: log)
    }

    private func spawn() throws -> ChildProcess {
        let oracle = try #require(
            Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "delivery-oracle"))
        return try ChildProcess(oracle.path, [place, log, String(HubBench.now)])
    }

    private func end(_ process: ChildProcess) {
        process.signal(SIGCONT)
        process.signal(SIGKILL)
        _ = process.wait(seconds: 120)
    }

    /// Kills a process, and puts another one in its place.
    func replace(_ index: Int) throws {
        end(running[index])
        running[index] = try spawn()
    }

    /// The lines so far: who told which device of which message.
    func told() -> [(process: String, delivery: String)] {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            return (words[0], words.count > 1 ? words[1] : "")
        }
    }

    /// Which of the running processes told a device last.
    func deliverer() throws -> Int? {
        let last = try #require(told().last?.process)
        return running.firstIndex { String($0.id) == last }
    }

    /// Each device was told once at most, by several processes, and none is missing but those in flight at a kill.
    /// - Parameters:
    ///   - ids: of all messages, which went to so many devices each.
    ///   - unsure: how many may not have been told at most.
    func expectOnce(_ ids: [String], devices: Int, unsure: Int, _ bench: DeliveryBench) throws {
        let outcomes = try ids.map { try bench.outcomes($0) }
        let all = told()
        #expect(Set(all.map(\.delivery)).count == all.count)
        #expect(outcomes.allSatisfy { $0.values.reduce(0, +) == devices })
        #expect(outcomes.allSatisfy { Set($0.keys).isSubset(of: ["Success", "UnknownError"]) })
        let unknown = outcomes.reduce(0) { $0 + ($1["UnknownError"] ?? 0) }
        // More than these are unknown to the hub, which writes answers down in batches; these alone were not told.
        #expect(ids.count * devices - all.count <= unsure)
        let successes = outcomes.reduce(0) { $0 + ($1["Success"] ?? 0) }
        #expect((successes...successes + unknown).contains(all.count))
        #expect(try bench.store.queuedHubMessages(except: [], limit: 9).isEmpty)
    }
}
