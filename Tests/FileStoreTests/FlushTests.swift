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

    @Test func `a shared flush begins after each of its callers has come`() throws {
        let flushes = SharedFlushes()
        let file = SharedFlushes.File(device: 1, inode: 1)
        let written = Atomic(0)
        let durable = Atomic(0)
        let calls = Atomic(0)
        let early = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<2_000 {
                let mine = written.add(1, ordering: .sequentiallyConsistent).newValue
                try? flushes.flush(file) { () throws(StoreError) in
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

    @Test func `threads that come during a flush share the next one, and its failure`() throws {
        let flushes = SharedFlushes()
        let file = SharedFlushes.File(device: 1, inode: 1)
        let (begun, goOn, ended) = (Latch(), Latch(), Semaphore())
        let calls = Atomic(0)
        let failed = Atomic(0)
        func start(_ flush: @escaping @Sendable () throws(StoreError) -> Void) {
            _ = DetachedThread.start {
                do throws(StoreError) { try flushes.flush(file, flush) } catch { failed.add(1, ordering: .relaxed) }
                ended.signal()
            }
        }
        start { () throws(StoreError) in
            begun.open()
            goOn.wait(for: .seconds(120))
        }
        #expect(begun.wait(for: .seconds(120)))
        for _ in 0..<6 {
            start { () throws(StoreError) in
                calls.add(1, ordering: .relaxed)
                throw .poisoned
            }
        }
        while flushes.waiting(for: file) < 6 { sched_yield() }
        goOn.open()
        for _ in 0..<7 { #expect(ended.wait(for: .seconds(120))) }
        #expect(calls.load(ordering: .relaxed) == 1 && failed.load(ordering: .relaxed) == 6)
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
