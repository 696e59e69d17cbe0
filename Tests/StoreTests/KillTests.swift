// SPDX-License-Identifier: Apache-2.0
import Foundation
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
        var acknowledged: [(owner: String, id: Int32)] = []
        var random = SeededGenerator(seed: 9)
        for round in 0..<Self.rounds {
            let children = try (0..<Self.writers).map { try start("\(round)-\($0)", in: folder) }
            for child in children.shuffled(using: &random) {
                // Not a wait for something to happen, but the random moment of the blow.
                usleep(.random(in: 20_000...150_000, using: &random))
                kill(child.process.processIdentifier, SIGKILL)
            }
            for child in children {
                let output = try child.output.readToEnd() ?? Data()
                child.process.waitUntilExit()
                #expect(child.process.terminationReason == .uncaughtSignal)
                acknowledged += parse(output)
            }
        }
        #expect(acknowledged.count > Self.rounds)
        try verify(acknowledged, folder)
    }

    private func start(_ name: String, in folder: TemporaryFolder) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = oracle
        process.arguments = [folder.path, String(Self.bucketBytes), name]
        process.standardOutput = pipe
        try process.run()
        return (process, pipe.fileHandleForReading)
    }

    private func parse(_ output: Data) -> [(owner: String, id: Int32)] {
        String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let id = Int32(words[1]) else { return nil }
            return (String(words[0]), id)
        }
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
