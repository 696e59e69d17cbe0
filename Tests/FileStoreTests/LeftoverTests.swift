// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Testing

/// What splits and rewrites leave on the disk, for a program that copies the store, and for how long.
@Suite struct LeftoverTests {
    private func create(_ store: FileSiteStore, _ owner: String) throws -> SecureNotification {
        try store.createNotification(owner: owner, payload: "p", now: noon, expiresAt: nextDay)
    }

    @Test func `who has read the names before a split still finds all of the bucket`() throws {
        let (folder, copy) = (try TemporaryFolder(), try TemporaryFolder())
        let store = try folder.open { $0.bucketBytes = 600 }
        let before = try store.putUser(User(name: "first", passwordHash: "x"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for index in 0..<40 { _ = try store.putUser(User(name: "user-\(index)", passwordHash: "x")) }
        #expect(try folder.files(under: "users").count > 1)
        for name in names {
            try FileManager.default.copyItem(atPath: folder.path + "/" + name, toPath: copy.path + "/" + name)
        }
        #expect(try copy.open().user("first") == before)
    }

    @Test func `a deeper split leaves its file as well`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.bucketBytes = 400 }
        for index in 0..<200 { _ = try store.putUser(User(name: "user-\(index)", passwordHash: "x")) }
        let files = try folder.files(under: "users")
        let split = files.filter { files.contains($0.dropLast(".jsonl".count) + "/0.jsonl") }
        #expect(!split.isEmpty)
        #expect(try store.users().count == 200)
    }

    @Test func `a file that cannot shrink is rewritten only when it has doubled`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        let store = try folder.open {
            $0.bucketBytes = 1_000
            $0.onEvent = { log.append($0) }
        }
        // One owner's lines cannot be split, and all of them live.
        for _ in 0..<200 { _ = try create(store, "bob") }
        let sizes = log.all.compactMap { if case .compacted(_, let before, _) = $0 { before } else { nil } }
        #expect((3...7).contains(sizes.count))
        for (size, next) in zip(sizes, sizes.dropFirst()) { #expect(next > 2 * (size - 200)) }
    }

    @Test func `what a rewrite that was cut short has left is gone after a sweep`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let note = try create(store, "bob")
        let file = try #require(try folder.files(under: "notifications").first)
        let split = folder.path + "/" + file.dropLast(".jsonl".count) + ".tmp"
        try FileManager.default.createDirectory(atPath: split, withIntermediateDirectories: false)
        try folder.write("payload", to: file + ".tmp")
        try folder.write("payload", to: file.dropLast(".jsonl".count) + ".tmp/3.jsonl")
        while try !store.sweep(budget: 100, now: noon).finishedRound {}
        #expect(!FileManager.default.fileExists(atPath: split))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/" + file + ".tmp"))
        #expect(try store.notification(note.id, owner: "bob", now: noon) == note)
    }
}
