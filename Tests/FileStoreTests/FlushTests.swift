// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import JSON
import Store
import Synchronization
import System
import Testing

import class System.Lock

@testable import FileStore

/// How flushes are put together.
@Suite struct FlushTests {
    @Test func `index lines of one record are flushed at the same time, and before the record is written`() throws {
        let folder = try TemporaryFolder()
        let isCounting = Atomic(false)
        let begun = Atomic(0)
        let together = Latch()
        let wereTogether = Lock<[Bool]>([])
        let store = try folder.open {
            $0.calls.flushFile = { descriptor in
                guard isCounting.load(ordering: .acquiring) else { return fdatasync(descriptor) }
                // The channel and the tag; the record is the third.
                let number = begun.add(1, ordering: .acquiringAndReleasing).newValue
                if number == 2 { together.open() }
                let isOpen = together.wait(for: .seconds(120))
                wereTogether.withLock { $0.append(isOpen) }
                return fdatasync(descriptor)
            }
        }
        isCounting.store(true, ordering: .releasing)
        let record = HubRegistration(id: "r", channel: "C", tags: ["news"], description: .null, updatedAt: noon)
        _ = try store.putHubRegistration(record)
        #expect(wereTogether.withLock { $0 } == [true, true, true])
        isCounting.store(false, ordering: .releasing)
        #expect(try store.hubRegistrations(channel: "C").map(\.id) == ["r"])
    }

    @Test func `a record in many indexes has few of their files open at once`() throws {
        let folder = try TemporaryFolder()
        let path = try #require(folder.path.withCString { realpath($0, nil) }.map { String(cString: $0) })
        let most = Atomic(0)
        let store = try folder.open {
            $0.calls.flushFile = { _ in
                let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
                let tags = open.count {
                    let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
                    return name?.hasPrefix(path + "/hub/tags/") == true
                }
                most.max(tags, ordering: .relaxed)
                return 0
            }
        }
        let tags = (0..<200).map { "tag-\($0)" }
        _ = try store.putHubRegistration(
            HubRegistration(id: "r", channel: "C", tags: tags, description: .null, updatedAt: noon))
        #expect((2...16).contains(most.load(ordering: .relaxed)))
        #expect(try tags.allSatisfy { try store.hubRegistrations(tag: $0, after: nil, limit: 2).elements.count == 1 })
    }

    @Test func `a failure of any of several flushes fails the write`() throws {
        for failing in 1...2 {
            let folder = try TemporaryFolder()
            let count = Atomic(0)
            let store = try folder.open {
                $0.calls.flushFile = { descriptor in
                    let isRight = count.add(1, ordering: .relaxed).newValue != failing
                    errno = EIO
                    return isRight ? fdatasync(descriptor) : -1
                }
            }
            let record = HubRegistration(id: "r", channel: "C", tags: ["news"], description: .null, updatedAt: noon)
            #expect(throws: StoreError.poisoned) { try store.putHubRegistration(record) }
            #expect(store.health() == .poisoned)
            #expect(try store.hubRegistration("r") == nil)
        }
    }

    /// A file that writers append to.
    private func openFile(_ folder: TemporaryFolder) throws -> () throws -> BucketWriter {
        let store = try folder.open()
        return {
            let file = try FileStore.OpenFile.open(store.context, "appended", O_RDWR | O_APPEND | O_CREAT)
            return try BucketWriter(store.context, file)
        }
    }

    @Test func `a shared flush begins after each of its callers has come`() throws {
        let folder = try TemporaryFolder()
        let flushes = SharedFlushes()
        let writer = try openFile(folder)()
        try writer.append([0x0A])
        let file = try #require(writer.unflushed)
        let written = Atomic(0)
        let durable = Atomic(0)
        let calls = Atomic(0)
        let early = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<2_000 {
                let mine = written.add(1, ordering: .sequentiallyConsistent).newValue
                try? flushes.flush(file) { _ in
                    let seen = written.load(ordering: .sequentiallyConsistent)
                    calls.add(1, ordering: .relaxed)
                    sched_yield()
                    durable.max(seen, ordering: .sequentiallyConsistent)
                }
                if durable.load(ordering: .sequentiallyConsistent) < mine { early.add(1, ordering: .relaxed) }
            }
        }
        #expect(early.load(ordering: .relaxed) == 0)
        #expect(calls.load(ordering: .relaxed) <= 16_000)
    }

    @Test func `threads that come during a flush share the next one, through the first descriptor, and its failure`()
        throws
    {
        let folder = try TemporaryFolder()
        let flushes = SharedFlushes()
        let open = try openFile(folder)
        let files = try (0..<7).map { _ in
            let writer = try open()
            try writer.append([0x0A])
            return try #require(writer.unflushed)
        }
        let (begun, goOn, ended) = (Latch(), Latch(), Semaphore())
        let calls = Atomic(0)
        let failed = Atomic(0)
        let flushed = Lock<[Int32]>([])
        func start(_ file: UnflushedFile, _ flush: @escaping @Sendable (Int32) throws(StoreError) -> Void) {
            _ = DetachedThread.start {
                do throws(StoreError) {
                    try flushes.flush(file) { (descriptor) throws(StoreError) in try flush(descriptor.number) }
                } catch {
                    failed.add(1, ordering: .relaxed)
                }
                ended.signal()
            }
        }
        start(files[0]) { _ in
            begun.open()
            goOn.wait(for: .seconds(120))
        }
        #expect(begun.wait(for: .seconds(120)))
        // The one that was opened first comes neither first nor last.
        for (count, index) in [4, 5, 1, 6, 2, 3].enumerated() {
            start(files[index]) { (descriptor) throws(StoreError) in
                calls.add(1, ordering: .relaxed)
                flushed.withLock { $0.append(descriptor) }
                throw .poisoned
            }
            while flushes.waiting(for: files[0].key) <= count { sched_yield() }
        }
        goOn.open()
        for _ in 0..<7 { #expect(ended.wait(for: .seconds(120))) }
        #expect(calls.load(ordering: .relaxed) == 1 && failed.load(ordering: .relaxed) == 6)
        #expect(flushed.withLock { $0 } == [files[1].descriptor.number])
    }

    @Test func `an import reads no tag's ids again that it has written`() throws {
        let folder = try TemporaryFolder()
        let isCounting = Atomic(false)
        let bytes = Atomic(0)
        let store = try folder.open {
            $0.calls = DiskCalls(
                read: { descriptor, buffer, offset in
                    let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                    let name = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/\(descriptor)")
                    if isCounting.load(ordering: .acquiring), name?.contains("/hub/tags/") == true {
                        bytes.add(max(0, count), ordering: .relaxed)
                    }
                    return count
                }, flushFile: { _ in 0 }, flushFolder: { _ in 0 })
        }
        func put(_ batch: Int) throws {
            let records = (0..<100).map { index in
                StoredRecord.hubRegistration(
                    HubRegistration(
                        id: "r-\(batch)-\(index)", channel: "c-\(batch)-\(index)", tags: ["all"], description: .null,
                        updatedAt: noon, version: 1))
            }
            #expect(try store.putRecords(records, now: noon) == 100)
        }
        for batch in 0..<5 { try put(batch) }
        isCounting.store(true, ordering: .releasing)
        try put(5)
        isCounting.store(false, ordering: .releasing)
        #expect(bytes.load(ordering: .relaxed) < 1_000)
        #expect(try store.hubRegistrations(tag: "all", after: nil, limit: .max).elements.count == 600)
        #expect(try store.verify(now: noon).missingIndexLines == [:])
    }
}
