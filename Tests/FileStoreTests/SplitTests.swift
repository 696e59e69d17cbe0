// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Testing

import class System.Lock

/// A file that has become sixteen.
struct SplitTests {
    /// Hears of flushes, and looks at each split when it is done.
    private final class Witness: Sendable {
        private let folder: TemporaryFolder
        private let flushed = Lock<Set<ino_t>>([])
        private let found = Lock<[String: Bool]>([:])

        init(_ folder: TemporaryFolder) { self.folder = folder }

        /// The files that splits have made, and whether they had been flushed by then.
        var files: [String: Bool] { found.withLock { $0 } }

        func flush(_ descriptor: Int32) -> Int32 {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return -1 }
            flushed.withLock { [inode = status.st_ino] in _ = $0.insert(inode) }
            return 0
        }

        func hear(_ event: StoreEvent) {
            guard case .split(let file) = event else { return }
            for part in (try? folder.files(under: String(file.dropLast(".jsonl".count)))) ?? [] {
                var status = stat()
                let isThere = stat(folder.path + "/" + part, &status) == 0
                let inode = status.st_ino
                found.withLock { [flushed = flushed.withLock { $0.contains(inode) }] in $0[part] = isThere && flushed }
            }
        }
    }

    @Test func `each of its parts was flushed when the split is done, and holds its records`() throws {
        let folder = try TemporaryFolder()
        let witness = Witness(folder)
        let store = try folder.open {
            $0.bucketBytes = 8_000
            $0.onEvent = { witness.hear($0) }
            $0.calls = DiskCalls(flushFile: { witness.flush($0) }, flushFolder: { _ in 0 })
        }
        let names = (0..<200).map { "user-\($0)" }
        for name in names { _ = try store.putUser(User(name: name, passwordHash: "x")) }
        #expect(witness.files.count > 8)
        #expect(witness.files.filter { !$0.value }.isEmpty)
        for name in names { #expect(try store.user(name)?.version == 1) }
    }
}
