// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Support
import Testing

/// A folder that is opened for the first time in its place: a copy, or the store of an older version.
@Suite struct FirstOpeningTests {
    private let mark = "indexed.json"

    /// A store with a registration that its tag does not find.
    private func makeHurt(_ folder: TemporaryFolder) throws {
        let store = try folder.open()
        _ = try store.putHubRegistration(
            HubRegistration(id: "r", channel: "c", tags: ["news"], description: .null, updatedAt: noon))
        for file in try folder.files(under: "hub/tags") { try folder.write("", to: file) }
    }

    private func isFound(in store: FileSiteStore) throws -> Bool {
        try store.hubRegistrations(tag: "news", after: nil, limit: 9).elements.map(\.id) == ["r"]
    }

    @Test func `a copy is reindexed once, when it is opened`() throws {
        let folder = try TemporaryFolder()
        try makeHurt(folder)
        let copy = try folder.copy()
        let log = EventLog()
        #expect(try isFound(in: copy.open { $0.onEvent = { log.append($0) } }))
        #expect(log.all == [.reindexed(lines: 1)])
        for file in try copy.files(under: "hub/tags") { try copy.write("", to: file) }
        #expect(try !isFound(in: copy.open()))
        #expect(try !isFound(in: folder.open()))
    }

    @Test func `a folder that was moved is no copy`() throws {
        let folder = try TemporaryFolder()
        try makeHurt(folder)
        let elsewhere = folder.path + "-moved"
        defer { rename(elsewhere, folder.path) }
        try #require(rename(folder.path, elsewhere) == 0)
        #expect(try !isFound(in: FileSiteStore.open(path: elsewhere)))
    }

    @Test(arguments: ["", "{", "{}", #"{"inode":"1","changed":2}"#, nil])
    func `a store with another mark, or none, is reindexed`(text: String?) throws {
        let folder = try TemporaryFolder()
        try makeHurt(folder)
        if let text {
            try folder.write(text, to: mark)
        } else {
            try FileManager.default.removeItem(atPath: folder.path + "/" + mark)
        }
        #expect(try isFound(in: folder.open()))
    }

    @Test func `a copy that is opened for reading only is left as it is, and says what it is`() throws {
        let folder = try TemporaryFolder()
        try makeHurt(folder)
        let copy = try folder.copy()
        let before = try copy.text(mark)
        let report = try copy.open { $0.isReadOnly = true }.verify(now: noon)
        #expect(report.isUnopenedCopy && report.isWhole && report.missingIndexLines == ["hub/tags": 1])
        #expect(try copy.text(mark) == before)
        #expect(try copy.files(under: "hub/tags").allSatisfy { try copy.text($0).isEmpty })
    }

    @Test func `a copy on a full disk opens, and is reindexed another time`() throws {
        let folder = try TemporaryFolder()
        try makeHurt(folder)
        let copy = try folder.copy()
        let log = EventLog()
        _ = try copy.open {
            $0.onEvent = { log.append($0) }
            $0.calls = DiskCalls(write: { _, _ in
                errno = ENOSPC
                return -1
            })
        }
        #expect(log.all.contains { if case .unwritable = $0 { true } else { false } })
        #expect(
            log.all.filter { if case .unwritable = $0 { false } else { true } } == [.tidyingFailed(file: mark, .full)])
        #expect(try isFound(in: copy.open()))
    }

    @Test func `where reindexing takes too long, the store opens before it is done`() throws {
        let folder = try TemporaryFolder()
        try makeHurt(folder)
        let copy = try folder.copy()
        let mayWrite = DispatchSemaphore(value: 0)
        let store = try copy.open {
            $0.firstOpeningTimeout = .zero
            $0.calls = DiskCalls(write: { descriptor, bytes in
                mayWrite.wait()
                mayWrite.signal()
                return Foundation.write(descriptor, bytes.baseAddress, bytes.count)
            })
        }
        #expect(try !isFound(in: store))
        mayWrite.signal()
        #expect(try Deadline.poll(seconds: 60) { try isFound(in: store) })
    }

    @Test func `of several that open a copy at once, each finds everything`() throws {
        let folder = try TemporaryFolder()
        try makeHurt(folder)
        let copy = try folder.copy()
        let log = EventLog()
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            let store = try? copy.open { $0.onEvent = { log.append($0) } }
            let found = store.map { (try? isFound(in: $0)) ?? false }
            #expect(found == true)
        }
        #expect(log.all == [.reindexed(lines: 1)])
    }
}
