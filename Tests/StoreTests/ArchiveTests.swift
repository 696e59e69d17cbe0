// SPDX-License-Identifier: Apache-2.0
import Foundation
import Store
import Testing

/// What an archive of a store holds; CopyTests make one while others write.
@Suite struct ArchiveTests {
    private func unpack(_ store: FileStore) throws -> (archive: StoreArchive, copy: TemporaryFolder) {
        var bytes: [UInt8] = []
        let archive = try store.archive { bytes += $0 }
        let copy = try TemporaryFolder()
        try Data(bytes).write(to: URL(filePath: copy.path + ".tar"))
        try Copier.unpack(copy.path + ".tar", to: copy.path)
        return (archive, copy)
    }

    @Test func `everything is in it that is worth keeping, with its mode`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let bob = try store.putUser(User(name: "bob", passwordHash: "x"))
        try folder.write("key\n", to: "vapid.key")
        try folder.write("", to: "quarantine/empty")
        try folder.write(String(repeating: "x", count: 512), to: "one block")
        try #require(chmod(folder.path + "/vapid.key", 0o400) == 0)
        try folder.write("half", to: "users.jsonl.tmp")
        let (archive, copy) = try unpack(store)
        #expect(archive.files == 5 && archive.skipped == [])
        #expect(try copy.text("vapid.key") == "key\n" && copy.text("one block").count == 512)
        var status = stat()
        try #require(stat(copy.path + "/vapid.key", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o400)
        let names = try FileManager.default.contentsOfDirectory(atPath: copy.path)
        #expect(Set(["lock", "indexed.json", "users.jsonl.tmp"]).isDisjoint(with: names))
        #expect(try copy.open().user("bob") == bob)
    }

    @Test func `of a bucket that was split only the folder is in it`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.bucketBytes = 500 }
        for index in 0..<30 { _ = try store.putUser(User(name: "user-\(index)", passwordHash: "x")) }
        #expect(try folder.files().contains("users.jsonl"))
        let (_, copy) = try unpack(store)
        #expect(try !copy.files().contains("users.jsonl"))
        #expect(try copy.open().users().count == 30)
    }

    @Test func `what is neither file nor folder is left out and named, and a name that does not fit is an error`()
        throws
    {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link", withDestinationPath: "/etc/passwd")
        #expect(try unpack(store).archive.skipped == ["link"])
        try folder.write("", to: String(repeating: "n", count: 101))
        #expect(throws: StoreError.self) { try store.archive { _ in } }
    }
}
