// SPDX-License-Identifier: Apache-2.0
import FileStore
import Store
import Support
import Testing

/// File systems whose locks are not the kernel's own affair.
@Suite struct RemoteFileSystemTests {
    @Test(arguments: [(0x6969, "NFS"), (0x6573_5546, "FUSE"), (0xFF53_4D42, "CIFS"), (-11_317_950, "CIFS")])
    func `a store on a remote file system opens, works, and is logged`(type: Int, kind: String) throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        let store = try folder.open {
            $0.fileSystemType = { _ in type }
            $0.onEvent = { log.append($0) }
        }
        #expect(log.all == [.remoteFileSystem(kind: kind)])
        #expect(try store.putUser(User(name: "alice", passwordHash: "x")).version == 1)
    }

    @Test func `one on a disk of this machine, or that is only read, is not`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        _ = try folder.open {
            $0.fileSystemType = { _ in 0xEF53 }
            $0.onEvent = { log.append($0) }
        }
        _ = try folder.open {
            $0.fileSystemType = { _ in 0x6969 }
            $0.onEvent = { log.append($0) }
            $0.isReadOnly = true
        }
        #expect(log.all == [])
    }

    @Test(.enabled(if: UserSpaceDisk.isPossible, "needs root, /dev/fuse and bindfs"))
    func `a real file system of a program is named, and the store works there`() throws {
        let disk = try UserSpaceDisk()
        let log = EventLog()
        let store = try FileSiteStore.open(path: disk.path + "/store", options: log.options)
        #expect(log.all == [.remoteFileSystem(kind: "FUSE")])
        let made = try store.createNotification(owner: "bob", payload: "p", now: noon, expiresAt: nextDay)
        #expect(try store.notification(made.id, owner: "bob", now: noon) == made)
    }
}

extension EventLog {
    fileprivate var options: FileSiteStore.Options {
        var options = FileSiteStore.Options.patient
        options.onEvent = { self.append($0) }
        return options
    }
}
