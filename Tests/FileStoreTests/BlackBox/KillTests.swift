// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Support
import Testing

/// Ends writers at random moments and looks for everything that they were promised.
@Suite struct KillTests {
    private static let rounds = 10
    /// Most kills fall between two writes where a disk is slow to flush; so many rounds see one in the middle of a line.
    private static let maximumRounds = 200
    private static let processes = 3
    /// Of the first writer that is killed in a round, before.
    private static let promises = 20

    @Test func `nothing promised is lost or torn when processes of several threads are killed`() throws {
        let folder = try TemporaryFolder()
        let log = try TemporaryFolder()
        var random = SeededRandom(seed: 9)
        var logs: [String] = []
        var round = 0
        while try round < Self.rounds || (round < Self.maximumRounds && !hasHalves(folder)) {
            let writers = try (0..<Self.processes).map { index in
                try Oracle.Writer(folder, name: "w\(round)-\(index)", log: log, ["--torn-pause", "1000"])
            }
            logs += writers.map(\.log)
            round += 1
            let struck = writers.shuffled(using: &random)
            defer { struck.forEach { $0.kill() } }
            // However slowly processes start, some have something to lose; others may still be at their beginning.
            try #require(Deadline.poll(seconds: Oracle.seconds) { struck[0].promises >= Self.promises })
            for writer in struck {
                // Not a wait for something to happen, but the random moment of the blow.
                usleep(.random(in: 0...80_000, using: &random))
                #expect(writer.kill() == 128 + SIGKILL, "\(writer.complaints)")
            }
        }
        let verdict = try Oracle.verify(folder, logs: logs)
        #expect(verdict.isGood)
        #expect(verdict["acknowledged"] >= Self.rounds * Self.promises)
        // Or the kills have shown nothing.
        #expect(try hasHalves(folder))
        #expect(verdict["brokenLines"] == 0)
        #expect(verdict["unacknowledged"] <= round * Self.processes * Oracle.threads * Oracle.kinds)
    }

    /// Whether halves of lines are there, or were moved away by compactions.
    private func hasHalves(_ folder: TemporaryFolder) throws -> Bool {
        if try !folder.files(under: "quarantine").isEmpty { return true }
        return try folder.open { $0.isReadOnly = true }.verify(now: noon).cutLines > 0
    }

    @Test func `processes that begin an empty store at once agree on it, also when some are killed at it`() throws {
        let gates = try TemporaryFolder()
        var random = SeededRandom(seed: 4)
        for round in 0..<Self.rounds {
            let folder = try TemporaryFolder()
            let gate = gates.path + "/\(round)"
            try #require(mkfifo(gate, 0o600) == 0)
            let path = folder.path + "/new"
            let writers = try (0..<Self.processes).map { index in
                try Oracle.Writer(
                    path, name: "w\(round)-\(index)", log: gates, ["--gate", gate, "--threads", "1"])
            }
            for writer in writers { try #require(writer.waits(for: "# waiting")) }
            let opened = open(gate, O_WRONLY)
            try #require(opened >= 0)
            defer { close(opened) }
            // The first dies at its beginning; the others come through.
            usleep(.random(in: 0...8_000, using: &random))
            writers[0].kill()
            for writer in writers.dropFirst() {
                #expect(writer.waits(for: "# begun"), "\(writer.complaints)")
                writer.kill()
            }
            let verdict = try Oracle.verify(path, logs: writers.map(\.log), Oracle.smallBuckets)
            #expect(verdict.isGood)
            #expect(verdict["acknowledged"] > 10)
        }
    }

    @Test func `a process that is stopped in the middle of a line costs others an error at the deadline`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.lockTimeout = .milliseconds(50) }
        for ending in [SIGCONT, SIGKILL] {
            let frozen = try Oracle.Frozen(folder, owner: "bob")
            defer { frozen.end() }
            try #require(frozen.isStopped)
            #expect(throws: StoreError.busy(retryAfterSeconds: 1)) { try create(store) }
            // Readers take no lock, and neither do writers of other tables.
            _ = try store.notifications(owner: "bob", unreadOnly: false, after: nil, limit: 9, now: noon)
            _ = try store.putDevice(DeviceRecord(id: "d\(ending)", owner: "bob", updatedAt: noon))
            frozen.signal(ending)
            try #require(frozen.hasEnded)
            let made = try create(store)
            #expect(try store.notification(made.id, owner: "bob", now: noon) == made)
        }
        let found = try store.wholeNotifications(owner: "bob", now: noon)
        // The process that went on has written a whole line, the other one half a line.
        #expect(found.map(\.payload).sorted() == ["mine", "mine", "thawed"])
        #expect(try store.verify(now: noon).cutLines == 1)
    }

    private func create(_ store: FileSiteStore) throws -> SecureNotification {
        try store.createNotification(owner: "bob", payload: "mine", now: noon, expiresAt: nextDay)
    }
}
