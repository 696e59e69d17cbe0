// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Synchronization
import Testing

/// A folder that is made is flushed once, by the opening that comes first; a flush takes milliseconds where opening
/// takes none.
@Suite struct OpeningTests {
    private final class Counter: Sendable {
        let flushes = Atomic<Int>(0)
    }

    private func flushesOfOpening(_ folder: TemporaryFolder) throws -> Int {
        let counter = Counter()
        _ = try folder.open { options in
            options.calls.flushFolder = {
                counter.flushes.add(1, ordering: .relaxed)
                return fsync($0)
            }
        }
        return counter.flushes.load(ordering: .relaxed)
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `a new store is flushed, and opening it again flushes nothing`() throws {
        let folder = try TemporaryFolder()
        #expect(try flushesOfOpening(folder) > 0)
        #expect(try flushesOfOpening(folder) == 0)
        #expect(try mode(folder.path + "/hub/tags") == 0o700)
    }

    @Test func `a folder that another process was about to flush is flushed by who finds it`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.open()
        let tags = folder.path + "/hub/tags"
        try #require(chmod(tags, 0o1700) == 0)
        #expect(try flushesOfOpening(folder) == 1)
        #expect(try mode(tags) == 0o700)
        #expect(try flushesOfOpening(folder) == 0)
    }
}
