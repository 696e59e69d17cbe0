// SPDX-License-Identifier: Apache-2.0
import Foundation
import Randomness
import Store
import Synchronization
import Testing

/// Kills writers at random moments and looks for every record that they had acknowledged.
@Suite struct KillTests {
    private static let writers = 3
    private static let rounds = 12
    /// So small that files are split and compacted all the time.
    private static let bucketBytes = 3_000

    /// Found beside the test bundle.
    private var oracle: URL {
        Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "store-oracle")
            ?? URL(fileURLWithPath: "store-oracle")
    }

    @Test func `nothing acknowledged is lost or torn when writers are killed`() throws {
        let folder = try TemporaryFolder()
        let outputs = try TemporaryFolder()
        var acknowledged: [(owner: String, id: Int32)] = []
        var random = SeededRandom(seed: 9)
        for round in 0..<Self.rounds {
            let writers = try (0..<Self.writers).map { index in
                try Writer(oracle.path, [folder.path, String(Self.bucketBytes)], "\(outputs.path)/\(round)-\(index)")
            }
            for writer in writers.shuffled(using: &random) {
                // Not a wait for something to happen, but the random moment of the blow.
                usleep(.random(in: 20_000...150_000, using: &random))
                #expect(writer.kill() == SIGKILL)
            }
            for writer in writers { acknowledged += try writer.acknowledged() }
        }
        #expect(acknowledged.count > Self.rounds)
        try verify(acknowledged, folder)
    }

    private func verify(_ acknowledged: [(owner: String, id: Int32)], _ folder: TemporaryFolder) throws {
        let store = try folder.open { $0.bucketBytes = Self.bucketBytes }
        let now = Timestamp(seconds: 1_800_000_000)
        var lost = 0
        for (owner, id) in acknowledged where try store.notification(id, owner: owner, now: now) == nil { lost += 1 }
        #expect(lost == 0)
        var visible = 0
        for owner in Set(acknowledged.map(\.owner)) {
            let found = try store.notifications(owner: owner, unreadOnly: false, after: nil, limit: .max, now: now)
            visible += found.count
            let torn = found.filter { note in !note.payload.split(separator: " ").allSatisfy { $0 == owner } }
            #expect(torn.isEmpty)
        }
        // What was written but not acknowledged any more may be seen: at most one record per kill.
        #expect(visible - acknowledged.count <= Self.rounds * Self.writers)
    }
}

/// A child process that writes until it is killed. Not a `Process`, whose wait hangs when the child has died before.
private struct Writer {
    private let id: pid_t
    private let output: String

    init(_ executable: String, _ arguments: [String], _ output: String) throws {
        self.output = output
        let words = ([executable] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var id: pid_t = 0
        try #require(posix_spawn(&id, executable, &actions, nil, words, environ) == 0)
        self.id = id
    }

    /// - Returns: the signal that ended it; nil when it had ended by itself.
    func kill() -> Int32? {
        Foundation.kill(id, SIGKILL)
        var status: Int32 = 0
        guard waitpid(id, &status, 0) == id, status & 0x7F != 0 else { return nil }
        return status & 0x7F
    }

    func acknowledged() throws -> [(owner: String, id: Int32)] {
        try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let id = Int32(words[1]) else { return nil }
            return (String(words[0]), id)
        }
    }
}
