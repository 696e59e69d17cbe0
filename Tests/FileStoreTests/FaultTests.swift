// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Support
import Synchronization
import Testing

/// Disks that fill, fail and freeze.
@Suite struct FaultTests {
    /// F_OFD_SETLK of fcntl(2), which Glibc's module does not show.
    private static let setOFDLock: Int32 = 37

    private func create(_ store: FileSiteStore, _ owner: String = "bob", _ payload: String = "p") throws -> Int32 {
        try store.createNotification(owner: owner, payload: payload, now: noon, expiresAt: nextDay).id
    }

    @Test func `a disk that fills in the middle of a line leaves no trace of it`() throws {
        let folder = try TemporaryFolder()
        let isFull = Atomic<Bool>(false)
        let hasWrittenHalf = Atomic<Bool>(false)
        try withExtendedLifetime(isFull) {
            let calls = DiskCalls(write: { descriptor, bytes in
                guard isFull.load(ordering: .relaxed) else { return write(descriptor, bytes.baseAddress, bytes.count) }
                if hasWrittenHalf.exchange(true, ordering: .relaxed) {
                    errno = ENOSPC
                    return -1
                }
                return write(descriptor, bytes.baseAddress, bytes.count / 2)
            })
            let store = try folder.open { $0.calls = calls }
            let first = try create(store)
            let file = try #require(try folder.files(under: "notifications").first)
            let before = try folder.text(file)
            isFull.store(true, ordering: .relaxed)
            #expect(throws: StoreError.full) { try create(store) }
            #expect(try folder.text(file) == before)
            #expect(store.health() == .full)
            isFull.store(false, ordering: .relaxed)
            let second = try create(store)
            for id in [first, second] { #expect(try store.notification(id, owner: "bob", now: noon) != nil) }
            #expect(store.health() == .writable)
        }
    }

    @Test func `why nothing can be written is reported once, with file and reason, until something is written`() throws
    {
        let folder = try TemporaryFolder()
        let code = Atomic<Int32>(0)
        let log = EventLog()
        try withExtendedLifetime(code) {
            let store = try folder.open {
                $0.onEvent = { log.append($0) }
                $0.calls = DiskCalls(write: { descriptor, bytes in
                    errno = code.load(ordering: .relaxed)
                    return errno == 0 ? write(descriptor, bytes.baseAddress, bytes.count) : -1
                })
            }
            for (number, error) in [(ENOSPC, StoreError.full), (EDQUOT, .full), (EROFS, .readOnly)] {
                code.store(number, ordering: .relaxed)
                for _ in 1...3 { #expect(throws: error) { try create(store) } }
            }
            code.store(0, ordering: .relaxed)
            _ = try create(store)
            code.store(EROFS, ordering: .relaxed)
            #expect(throws: StoreError.readOnly) { try create(store) }
        }
        let reasons = log.all.compactMap { event in
            if case .unwritable(let file, let reason) = event { "\(file.prefix(13)) \(reason)" } else { nil }
        }
        #expect(
            reasons == [
                "notifications No space left on device", "notifications Disk quota exceeded",
                "notifications Read-only file system", "notifications Read-only file system",
            ])
    }

    @Test func `a compaction that does not fit does not stop the line that does`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        let store = try folder.open {
            $0.bucketBytes = 1
            $0.onEvent = { log.append($0) }
            $0.calls = DiskCalls(write: { descriptor, bytes in
                if bytes.starts(with: Array("{\"base\"".utf8)) {
                    errno = ENOSPC
                    return -1
                }
                return write(descriptor, bytes.baseAddress, bytes.count)
            })
        }
        let ids = try (0..<3).map { _ in try create(store) }
        for id in ids { #expect(try store.notification(id, owner: "bob", now: noon) != nil) }
        #expect(log.all.contains { if case .tidyingFailed(_, .full) = $0 { true } else { false } })
        #expect(try folder.files().allSatisfy { !$0.contains("tmp") })
    }

    @Test func `after a failed flush the store writes no more but still reads`() throws {
        let folder = try TemporaryFolder()
        let fails = Atomic<Bool>(false)
        let log = EventLog()
        let store = try folder.open {
            $0.onEvent = { log.append($0) }
            $0.calls = DiskCalls(flushFile: { descriptor in
                guard fails.load(ordering: .relaxed) else { return fdatasync(descriptor) }
                errno = EIO
                return -1
            })
        }
        let id = try create(store)
        fails.store(true, ordering: .relaxed)
        #expect(throws: StoreError.poisoned) { try create(store) }
        // The disk seems well again, which proves nothing about what it has lost.
        fails.store(false, ordering: .relaxed)
        #expect(throws: StoreError.poisoned) { try create(store) }
        #expect(throws: StoreError.poisoned) { try store.putUser(User(name: "a", passwordHash: "")) }
        #expect(throws: StoreError.poisoned) { try store.sweep(budget: 1, now: noon) }
        #expect(store.health() == .poisoned)
        #expect(try store.notification(id, owner: "bob", now: noon) != nil)
        #expect(log.all.count { if case .poisoned = $0 { true } else { false } } == 1)
        #expect(try folder.open().health() == .writable)
    }

    @Test func `a folder that cannot be flushed ends all writing as well`() throws {
        let folder = try TemporaryFolder()
        let fails = Atomic<Bool>(false)
        try withExtendedLifetime(fails) {
            let store = try folder.open {
                $0.calls = DiskCalls(flushFolder: { descriptor in
                    guard fails.exchange(false, ordering: .relaxed) else { return fsync(descriptor) }
                    errno = EIO
                    return -1
                })
            }
            let id = try create(store)
            fails.store(true, ordering: .relaxed)
            // A new file's name has to be flushed.
            #expect(throws: StoreError.poisoned) { try store.putUser(User(name: "a", passwordHash: "")) }
            #expect(throws: StoreError.poisoned) { try create(store) }
            #expect(store.health() == .poisoned)
            #expect(try store.notification(id, owner: "bob", now: noon) != nil)
        }
    }

    @Test func `a lock that another holds is waited for until the deadline`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.lockTimeout = .milliseconds(30) }
        let id = try create(store)
        let descriptor = Foundation.open(folder.path + "/lock/notifications", O_RDWR)
        try #require(descriptor >= 0)
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        try #require(fcntl(descriptor, Self.setOFDLock, &lock) == 0)
        #expect(throws: StoreError.busy(retryAfterSeconds: 1)) { try create(store) }
        // Readers take no lock, and neither does another table.
        #expect(try store.notification(id, owner: "bob", now: noon) != nil)
        #expect(try store.putUser(User(name: "bob", passwordHash: "")).version == 1)
        // A child of another test may hold a copy of the descriptor at this moment, so closing ours would not do.
        lock.l_type = Int16(F_UNLCK)
        try #require(fcntl(descriptor, Self.setOFDLock, &lock) == 0)
        close(descriptor)
        #expect(try create(store) != id)
    }

    @Test func `a read-only store reads and refuses to write`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: StoreError.readOnly) { try folder.open { $0.isReadOnly = true } }
        let id = try create(try folder.open())
        let store = try folder.open { $0.isReadOnly = true }
        #expect(try store.notification(id, owner: "bob", now: noon) != nil)
        #expect(throws: StoreError.readOnly) { try create(store) }
        #expect(throws: StoreError.readOnly) { try store.readNotification(id, owner: "bob", now: noon) }
        #expect(store.health() == .readOnly)
    }

    @Test(.enabled(if: Mount.isPossible, "needs root and mount(8)"))
    func `a store on a read-only mount opens for reading`() throws {
        let disk = try SmallDisk()
        let id = try create(try disk.folder.open())
        try disk.makeReadOnly()
        let store = try disk.folder.open()
        #expect(try store.notification(id, owner: "bob", now: noon) != nil)
        #expect(throws: StoreError.readOnly) { try create(store) }
        #expect(store.health() == .readOnly)
    }

    @Test(.enabled(if: Mount.isPossible, "needs root and mount(8)"))
    func `a real disk that is full refuses cleanly and works again when there is room`() throws {
        let disk = try SmallDisk()
        let store = try disk.folder.open {
            ($0.quotas.notificationsPerOwner, $0.quotas.notificationBytesPerOwner) = (.max, .max)
        }
        try disk.folder.write(String(repeating: "x", count: 1 << 20), to: "ballast")
        var ids: [(owner: String, id: Int32)] = []
        let payload = String(repeating: "y", count: 60_000)
        // Of several owners: each write reads its owner's file.
        func add() throws {
            let owner = "bob-\(ids.count % 8)"
            ids.append((owner, try create(store, owner, payload)))
        }
        // Three in a row: what a refused write had taken, the file system may give back a moment later.
        var refusals = 0
        while refusals < 3, ids.count < 10_000 {
            do {
                try add()
                refusals = 0
            } catch {
                #expect(error as? StoreError == .full)
                refusals += 1
            }
        }
        #expect(refusals == 3)
        #expect(ids.count > 20)
        try FileManager.default.removeItem(atPath: disk.folder.path + "/ballast")
        for _ in 0..<10 { try add() }
        let kept = try ids.filter { try store.notification($0.id, owner: $0.owner, now: noon)?.payload == payload }
        #expect(kept.count == ids.count)
    }

    @Test(.enabled(if: Mount.isPossible, "needs root and mount(8)"))
    func `a real disk without inodes refuses new files cleanly, and the others go on`() throws {
        let disk = try SmallDisk(inodes: 200)
        let store = try disk.folder.open()
        let known = try create(store, "bob")
        var fillers = 0
        while FileManager.default.createFile(atPath: disk.folder.path + "/filler-\(fillers)", contents: nil) {
            fillers += 1
        }
        #expect(fillers > 20)
        #expect(store.health() == .full)
        var (ids, refusals) = ([(String, Int32)](), 0)
        for owner in (0..<30).map({ "owner-\($0)" }) {
            do { ids.append((owner, try create(store, owner))) } catch {
                #expect(error as? StoreError == .full)
                refusals += 1
            }
        }
        #expect(refusals > 20)
        // Bob's file is there already.
        #expect(try create(store, "bob") != known)
        for filler in 0..<fillers { unlink(disk.folder.path + "/filler-\(filler)") }
        #expect(store.health() == .writable)
        for owner in (0..<30).map({ "owner-\($0)" }) { ids.append((owner, try create(store, owner))) }
        for (owner, id) in ids { #expect(try store.notification(id, owner: owner, now: noon) != nil) }
        #expect(try store.verify(now: noon).isWhole)
    }
}
