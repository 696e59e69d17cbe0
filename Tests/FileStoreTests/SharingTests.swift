// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Synchronization
import Testing

/// Two instances on one folder, which stand for two processes: neither may answer what the other has made untrue.
/// Files are remembered from the first moment, so that every read of a test may be one from memory.
@Suite struct SharingTests {
    private func open(_ folder: TemporaryFolder, bucketBytes: Int) throws -> FileSiteStore {
        try folder.open { ($0.bucketBytes, $0.settlingTime) = (bucketBytes, .zero) }
    }

    private func create(_ store: FileSiteStore, _ owner: String, _ payload: String = "p") throws -> SecureNotification {
        try store.createNotification(owner: owner, payload: payload, now: noon, expiresAt: nextDay)
    }

    @Test(arguments: [128 << 10, 2_000, 600])
    func `what is read again is current, also after compactions and splits by another`(bucketBytes: Int) throws {
        let folder = try TemporaryFolder()
        let (one, other) = (try open(folder, bucketBytes: bucketBytes), try open(folder, bucketBytes: bucketBytes))
        var made: [SecureNotification] = []
        for index in 0..<120 {
            var note = try create(other, "owner-\(index % 7)", "payload \(index)")
            #expect(try one.readNotification(note.id, owner: note.owner, now: noon) == note)
            note.isRead = true
            made.append(note)
            for known in made.suffix(20) {
                #expect(try one.readNotification(known.id, owner: known.owner, now: noon) == known)
                #expect(try one.notification(known.id, owner: known.owner, now: nextDay) == nil)
            }
        }
    }

    @Test func `a file that another put in the place of one that was read is read again`() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, bucketBytes: 128 << 10)
        let note = try create(store, "bob", "before")
        for _ in 0..<3 { _ = try store.readNotification(note.id, owner: "bob", now: noon) }
        let file = try #require(try folder.files(under: "notifications").first)
        // Of the same size, so that the inode alone tells.
        let text = try folder.text(file).replacingOccurrences(of: "before", with: "behind")
        try folder.write(text, to: "new")
        try #require(rename(folder.path + "/new", folder.path + "/" + file) == 0)
        #expect(try store.notification(note.id, owner: "bob", now: noon)?.payload == "behind")
    }

    @Test func `the folder of a split wins over the file that was read before`() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, bucketBytes: 128 << 10)
        let note = try create(store, "bob")
        for _ in 0..<3 { _ = try store.readNotification(note.id, owner: "bob", now: noon) }
        let file = try #require(try folder.files(under: "notifications").first)
        // As a split leaves it that was cut short before it removed the file; there are no lines in the folder.
        try FileManager.default.createDirectory(
            atPath: folder.path + "/" + file.dropLast(".jsonl".count), withIntermediateDirectories: false)
        #expect(try store.notification(note.id, owner: "bob", now: noon) == nil)
    }

    @Test func `one owner's notification is not found under a name that only looks alike`() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, bucketBytes: 128 << 10)
        let note = try create(store, "andr\u{E9}")
        for _ in 0..<3 { _ = try store.readNotification(note.id, owner: note.owner, now: noon) }
        #expect(try store.notification(note.id, owner: "andre\u{301}", now: noon) == nil)
        #expect(try store.notification(note.id, owner: "andr\u{E9}", now: noon)?.isRead == true)
    }

    @Test func `a user who was not there is found as soon as another has added them`() throws {
        let folder = try TemporaryFolder()
        let other = try open(folder, bucketBytes: 128 << 10)
        let reads = ReadCount()
        let one = try folder.open { ($0.calls, $0.settlingTime) = (reads.counting, .zero) }
        _ = try other.putUser(User(name: "alice", passwordHash: "x"))
        for _ in 0..<3 { #expect(try one.userRecord("bob") == nil) }
        let read = try reads.during { _ = try one.userRecord("bob") }
        #expect(read == [0, 0])
        _ = try other.putUser(User(name: "bob", passwordHash: "x"))
        #expect(try one.userRecord("bob")?.name == "bob")
        #expect(try other.removeUser("bob"))
        #expect(try one.userRecord("bob") == nil)
    }

    @Test func `a device and a registration that are read again cost no read, and are what another has made of them`()
        throws
    {
        let folder = try TemporaryFolder()
        let other = try open(folder, bucketBytes: 128 << 10)
        let reads = ReadCount()
        let one = try folder.open { ($0.calls, $0.settlingTime) = (reads.counting, .zero) }
        var device = try other.putDevice(DeviceRecord(id: "d", owner: "bob", platform: "apns", updatedAt: noon))
        var registration = try other.putHubRegistration(
            HubRegistration(id: "r", channel: "c", tags: ["news"], description: .string("1"), updatedAt: noon))
        func listed() throws -> [HubRegistration] {
            var found: [HubRegistration] = []
            try one.forEachHubRegistration(tag: "news") { found.append($0) }
            return found
        }
        for version in 2...4 {
            for _ in 1...2 {
                #expect(try one.device("d") == device)
                #expect(try one.devices(owner: "bob") == [device])
                #expect(try one.hubRegistration("r") == registration)
                #expect(try listed() == [registration])
            }
            let cost = try reads.during { _ = (try one.device("d"), try one.hubRegistration("r")) }
            #expect(cost == [0, 0])
            (device.platform, registration.description) = ("p\(version)", .string("\(version)"))
            device = try other.putDevice(device)
            registration = try other.putHubRegistration(registration)
        }
        #expect(try other.removeDevice("d", version: device.version))
        #expect(try other.removeHubRegistration("r", version: nil))
        #expect(try one.device("d") == nil)
        #expect(try one.devices(owner: "bob").isEmpty)
        #expect(try one.hubRegistration("r") == nil)
        #expect(try listed().isEmpty)
    }

    @Test func `a reader in a loop sees each read that another acknowledged before`() throws {
        let folder = try TemporaryFolder()
        let (writer, reader) = (try open(folder, bucketBytes: 1_500), try open(folder, bucketBytes: 1_500))
        let notes = try (0..<60).map { try create(writer, "owner-\($0 % 5)") }
        let acknowledged = Atomic<Int>(0)
        let wrong = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            if index == 0 {
                for note in notes {
                    _ = try? writer.readNotification(note.id, owner: note.owner, now: noon)
                    _ = try? create(writer, note.owner)
                    acknowledged.add(1, ordering: .releasing)
                }
                return
            }
            var count = 0
            while count < notes.count {
                count = acknowledged.load(ordering: .acquiring)
                for note in notes[..<count].suffix(10) {
                    let seen = try? reader.notification(note.id, owner: note.owner, now: noon)
                    if seen?.isRead != true { wrong.add(1, ordering: .relaxed) }
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}
