// SPDX-License-Identifier: Apache-2.0
import Foundation
import Processes
import Store
import Testing

/// File systems whose locks are somebody else's affair.
@Suite struct LockTrialTests {
    private static let nfs = 0x6969
    /// Grants every lock to everybody, as a mount without lock service does.
    private static let grantsAll: @Sendable (Int32, Int16, off_t) -> Int32 = { _, _, _ in 0 }

    @Test(arguments: [(nfs, "NFS"), (0x6573_5546, "FUSE"), (0xFF53_4D42, "CIFS"), (-11_317_950, "CIFS")])
    func `where locks hold, a remote store opens, works, and is logged`(type: Int, kind: String) throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        let store = try folder.open {
            $0.lockCalls = LockCalls(fileSystemType: { _ in type })
            $0.onEvent = { log.append($0) }
        }
        #expect(log.all == [.remoteFileSystem(kind: kind)])
        #expect(try store.putUser(User(name: "alice", passwordHash: "x")).version == 1)
    }

    @Test func `where locks keep nobody out, the store does not open`() throws {
        let folder = try TemporaryFolder()
        let calls = LockCalls(fileSystemType: { _ in Self.nfs }, lockByte: Self.grantsAll)
        #expect(
            throws: StoreError.unavailable(detail: "locks keep no other process out on this file system (NFS)")
        ) { try folder.open { $0.lockCalls = calls } }
        // For reading no lock is taken.
        _ = try folder.open()
        let reader = try folder.open { ($0.lockCalls, $0.isReadOnly) = (calls, true) }
        #expect(try reader.users() == [])
    }

    @Test func `a disk of this machine is believed without a trial`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        _ = try folder.open {
            $0.lockCalls = LockCalls(fileSystemType: { _ in 0xEF53 }, lockByte: Self.grantsAll)
            $0.onEvent = { log.append($0) }
        }
        #expect(log.all == [])
    }

    @Test func `a file system without locks is refused`() throws {
        let folder = try TemporaryFolder()
        let calls = LockCalls(
            fileSystemType: { _ in Self.nfs },
            lockByte: { _, _, _ in
                errno = ENOLCK
                return -1
            })
        #expect(throws: StoreError.unavailable(detail: "lock lock/trial: No locks available")) {
            try folder.open { $0.lockCalls = calls }
        }
    }

    @Test func `of many that open a remote store at once, each has its trial`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let store = try? folder.open {
                $0.lockCalls = LockCalls(fileSystemType: { _ in Self.nfs })
                $0.onEvent = { log.append($0) }
            }
            #expect(store != nil)
        }
        #expect(log.all == Array(repeating: .remoteFileSystem(kind: "NFS"), count: 8))
    }

    @Test(.enabled(if: UserSpaceDisk.isPossible, "needs root, /dev/fuse and bindfs"))
    func `on a real file system of a program, locks are tried and hold`() throws {
        let disk = try UserSpaceDisk()
        let log = EventLog()
        let store = try FileStore.open(path: disk.path + "/store", options: log.options)
        #expect(log.all == [.remoteFileSystem(kind: "FUSE")])
        let made = try store.createNotification(owner: "bob", payload: "p", now: noon, expiresAt: nextDay)
        #expect(try store.notification(made.id, owner: "bob", now: noon) == made)
    }
}

extension EventLog {
    fileprivate var options: FileStore.Options {
        var options = FileStore.Options.patient
        options.onEvent = { self.append($0) }
        return options
    }
}
