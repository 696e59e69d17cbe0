// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Support
import Testing

/// Copies a store that two processes of three threads write to, with files so small that compactions and splits never
/// stop, and looks in the copy for everything that was acknowledged before.
@Suite(.serialized) struct CopyTests {
    /// Bytes of a bucket.
    private static let bucketBytes = 1_500
    /// More of them for a developer who has minutes: STORE_COPY_ROUNDS=20.
    private static let rounds = ProcessInfo.processInfo.environment["STORE_COPY_ROUNDS"].flatMap { Int($0) } ?? 1
    private static let copiesPerRound = 2

    @Test(arguments: Copier.allCases)
    func `a copy of a store in use is a whole store`(copier: Copier) throws {
        guard copier.program != nil else {
            Issue.record("\(copier.rawValue) is not installed: script/packages test")
            return
        }
        for _ in 0..<Self.rounds {
            let folder = try TemporaryFolder()
            let settled = try SettledRecords(try open(folder))
            let copies = try (0..<Self.copiesPerRound).map { _ in try TemporaryFolder() }
            try whileOthersWrite(to: folder) {
                for copy in copies { try copier.copy(folder.path, to: copy.path) }
            }
            for copy in copies { try check(copy, settled) }
        }
    }

    private func check(_ copy: TemporaryFolder, _ settled: SettledRecords) throws {
        let unopened = try copy.open { $0.isReadOnly = true }.verify(now: noon)
        #expect(unopened.isWhole && unopened.isUnopenedCopy && unopened.faults == [])
        let store = try open(copy)
        let report = try store.verify(now: noon)
        #expect(report.isWhole && !report.isUnopenedCopy && report.missingIndexLines == [:])
        #expect(try settled.faults(in: store) == [])
    }

    /// No test here cuts the power, so nothing need be flushed.
    private func open(_ folder: TemporaryFolder) throws -> FileSiteStore {
        try folder.open { $0.bucketBytes = Self.bucketBytes }
    }

    @Test(arguments: Copier.allCases)
    func `what writers were promised before a copy began is in it`(copier: Copier) throws {
        for _ in 0..<Self.rounds {
            let (folder, outputs, copy) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
            var promised: [String] = []
            try whileOthersWrite(to: folder, telling: outputs) { writers in
                promised = try writers.map { try $0.promisedSoFar() }
                try copier.copy(folder.path, to: copy.path)
            }
            let verdict = try Oracle.verify(copy, logs: promised)
            #expect(verdict.isGood)
            #expect(verdict["expected"] > 0 && verdict["brokenLines"] == 0)
        }
    }

    /// Runs `body` while two processes of several threads write, once all of them have begun.
    private func whileOthersWrite(to folder: TemporaryFolder, _ body: () throws -> Void) throws {
        try whileOthersWrite(to: folder, telling: TemporaryFolder()) { _ in try body() }
    }

    private func whileOthersWrite(
        to folder: TemporaryFolder, telling outputs: TemporaryFolder, _ body: ([Oracle.Writer]) throws -> Void
    ) throws {
        // The slower a copy is made, the more is written meanwhile: the pause bounds what has to be compared.
        let options = ["--torn-pause", "2000", "--without-file-flushes", "--without-folder-flushes"]
        let writers = try ["a", "b"].map { name in
            try Oracle.Writer(folder, name: name, log: outputs, ["--bucket-bytes", "\(Self.bucketBytes)"] + options)
        }
        defer { writers.forEach { $0.kill() } }
        for writer in writers { try #require(writer.waits(for: "# begun", times: Oracle.threads)) }
        try body(writers)
        for writer in writers { #expect(writer.isRunning, "\(writer.complaints)") }
    }
}
