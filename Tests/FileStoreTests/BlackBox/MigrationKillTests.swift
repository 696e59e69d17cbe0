// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import JSON
import Store
import Support
import Testing

import class System.Lock

/// Writers that are killed while one of them migrates the store that they all open.
@Suite struct MigrationKillTests {
    @Test func `processes that are killed at it leave a store that opens, and is migrated`() throws {
        let gates = try TemporaryFolder()
        var random = SeededRandom(seed: 6)
        for round in 0..<10 {
            let folder = try TemporaryFolder.ofFirstFormat()
            let gate = gates.path + "/\(round)"
            try #require(mkfifo(gate, 0o600) == 0)
            let writers = try (0..<3).map { index in
                try Oracle.Writer(
                    folder, name: "w\(round)-\(index)", log: gates, ["--gate", gate, "--threads", "1"])
            }
            for writer in writers { try #require(writer.waits(for: "# waiting")) }
            let opened = open(gate, O_WRONLY)
            try #require(opened >= 0)
            defer { close(opened) }
            usleep(.random(in: 0...6_000, using: &random))
            writers[0].kill()
            for writer in writers.dropFirst() {
                #expect(writer.waits(for: "# begun"), "\(writer.complaints)")
                writer.kill()
            }
            let store = try folder.open()
            #expect(try store.verify(now: noon).isWhole)
            #expect(try store.user("alice")?.tags == ["news", "weather-*"])
            #expect(try folder.text("store.json").contains(#""format":3"#))
        }
    }
}
