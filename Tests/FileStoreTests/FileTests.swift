// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Synchronization
import Testing
import Text

import class System.Lock

/// What is on the disk, and what hands and crashes do to it.
@Suite struct FileTests {
    private func create(_ store: FileSiteStore, _ owner: String, _ payload: String = "p") throws -> SecureNotification {
        try store.createNotification(owner: owner, payload: payload, now: noon, expiresAt: nextDay)
    }

    private func onlyFile(_ folder: TemporaryFolder, _ table: String = "notifications") throws -> String {
        try #require(try folder.files(under: table).first)
    }

    @Test func `a line reads as the documentation shows it`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let made = try create(store, "alice", "a \"b\"")
        _ = try store.readNotification(made.id, owner: "alice", now: noon)
        let lines = try folder.text(onlyFile(folder)).split(separator: "\n")
        #expect(lines.count == 2)
        let start = """
            {"id":\(made.id),"owner":"alice","token":"\(made.token)","payload":"a \\"b\\"",\
            "createdAt":"2027-01-15T08:00:00Z","expiresAt":"2027-01-16T08:00:00Z","sequence":\(made.sequence),"crc":"
            """
        #expect(lines[0].hasPrefix(start))
        #expect(
            lines[1].hasPrefix(#"{"id":\#(made.id),"op":"read","owner":"alice","at":"2027-01-15T08:00:00Z","crc":""#))
    }

    @Test func `folders are closed to others and owners are no file names`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/new"
        let store = try FileSiteStore.open(path: path)
        _ = try create(store, "../../etc/passwd")
        let files = try #require(FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String })
        #expect(files.allSatisfy { !$0.contains("passwd") })
        for file in files + ["."] {
            let mode = try FileManager.default.attributesOfItem(atPath: path + "/" + file)[.posixPermissions] as? Int
            #expect(try #require(mode) & 0o077 == 0)
        }
    }

    @Test func `a folder that everybody may enter is refused`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        #expect(
            throws: StoreError.damaged(
                detail: "\(folder.path) has mode 755, so everybody may enter it; it should be 700")
        ) {
            try folder.open()
        }
    }

    @Test(arguments: [
        #"{"format":4,"salt":"000102030405060708090a0b0c0d0e0f"}"#,
        #"{"format":0,"salt":"000102030405060708090a0b0c0d0e0f"}"#,
        #"{"format":1,"salt":"00"}"#, #"{"format":1}"#,
        #"{"salt":"000102030405060708090a0b0c0d0e0f"}"#, "", "{",
    ])
    func `a format that is not known is refused and left alone`(settings: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(settings, to: "store.json")
        #expect { try folder.open() } throws: { if case .damaged = $0 as? StoreError { true } else { false } }
        #expect(try folder.text("store.json") == settings)
    }

    @Test func `data without its salt is refused`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.open()
        try FileManager.default.removeItem(atPath: folder.path + "/store.json")
        #expect(throws: StoreError.damaged(detail: "store.json is missing beside data")) { try folder.open() }
    }

    @Test func `many that open a new store at once agree on it`() throws {
        let folder = try TemporaryFolder()
        let ids = Lock<[Int32?]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            let id = try? create(folder.open(), "owner").id
            ids.withLock { $0.append(id) }
        }
        let store = try folder.open()
        for id in ids.withLock({ $0 }) {
            #expect(try store.notification(try #require(id), owner: "owner", now: noon) != nil)
        }
    }

    @Test func `a torn tail is ignored by readers and costs the next writer nothing`() throws {
        let folder = try TemporaryFolder()
        let first = try create(try folder.open(), "bob")
        let file = try onlyFile(folder)
        let whole = try folder.text(file)
        for length in [1, 10, whole.utf8.count / 2, whole.utf8.count - 2] {
            try folder.write(whole + whole.prefix(length), to: file)
            let store = try folder.open()
            #expect(try store.notification(first.id, owner: "bob", now: noon) == first)
            let next = try create(store, "bob")
            #expect(try store.notification(next.id, owner: "bob", now: noon) == next)
            #expect(
                try store.notifications(owner: "bob", unreadOnly: false, after: nil, limit: 9, now: noon).count == 2)
        }
    }

    @Test func `a last line without its line feed survives compaction`() throws {
        let folder = try TemporaryFolder()
        let first = try create(try folder.open(), "bob")
        let file = try onlyFile(folder)
        try folder.write(String(try folder.text(file).dropLast()), to: file)
        let store = try folder.open { $0.bucketBytes = 1 }
        _ = try create(store, "bob")
        #expect(try folder.text(file).hasPrefix(#"{"base":"#))
        #expect(try store.notification(first.id, owner: "bob", now: noon) == first)
    }

    @Test func `a time in a record that does not expire is no reason to drop it`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.bucketBytes = 1 }
        _ = try store.putUser(User(name: "alice", passwordHash: "x"))
        let line = #"{"id":"bob","passwordHash":"y","expiresAt":"2000-01-01T00:00:00Z"}"# + "\n"
        try folder.append(line, to: "users.jsonl")
        while try !store.sweep(budget: 100, now: noon).finishedRound {}
        _ = try store.putUser(User(name: "alice", passwordHash: "z", version: 1))
        #expect(try store.user("bob")?.passwordHash == "y")
    }

    @Test func `a broken line costs one line and compaction moves it to quarantine`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        let store = try folder.open { $0.onEvent = { log.append($0) } }
        let made = try (0..<3).map { try create(store, "bob", "p\($0)") }
        let file = try onlyFile(folder)
        let broken = try folder.text(file).replacingOccurrences(of: #""payload":"p1""#, with: #""payload":"p1"#)
        try folder.write(broken, to: file)
        for _ in 0..<2 {
            let found = try store.notifications(owner: "bob", unreadOnly: false, after: nil, limit: 9, now: noon)
            #expect(Set(found.map(\.id)) == [made[0].id, made[2].id])
        }
        let reports = log.all.compactMap { if case .brokenLine(file, let line, _) = $0 { line } else { nil } }
        #expect(reports == [2])
        let small = try folder.open { $0.bucketBytes = 1 }
        _ = try create(small, "bob")
        let line = try #require(broken.split(separator: "\n").dropFirst().first)
        let quarantined = try folder.files(under: "quarantine").map { try folder.text($0) }
        #expect(quarantined == [line + "\n"])
        #expect(try !folder.text(file).contains(line))
        #expect(try small.notification(made[2].id, owner: "bob", now: noon) == made[2])
    }

    @Test(arguments: [
        (#""payload":"p""#, #""payload":7"#), (#""createdAt":"2"#, #""createdAt":"x"#),
        (#""owner":"bob""#, #""owner":null"#),
        (#""id":"#, #""id":-"#), (#""token""#, #""tokem""#), (#""sequence":"#, #""sequence":-"#),
    ])
    func `a member of a wrong kind costs that line alone`(edit: (String, String)) throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let made = try create(store, "bob")
        let file = try onlyFile(folder)
        try folder.write(try folder.text(file).replacingOccurrences(of: edit.0, with: edit.1), to: file)
        #expect(try store.notification(made.id, owner: "bob", now: noon) == nil)
        let next = try create(store, "bob")
        #expect(try store.notification(next.id, owner: "bob", now: noon) == next)
    }

    @Test func `lines edited by hand count, are reported once, and keep members that we do not know`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        let store = try folder.open { $0.onEvent = { log.append($0) } }
        var made = try create(store, "bob", "before")
        let file = try onlyFile(folder)
        let edited =
            #"{ "note": {"by": ["root"]}, "payload": "after", "token": "\#(made.token)", "owner": "\u0062ob", "#
            + #""expiresAt": "2027-01-16T08:00:00Z", "createdAt": "2027-01-15T08:00:00Z", "id": \#(made.id) }"#
        try folder.write(edited + "\n", to: file)
        (made.payload, made.sequence) = ("after", 0)
        for _ in 0..<3 { #expect(try store.notification(made.id, owner: "bob", now: noon) == made) }
        #expect(log.all == [.editedLine(file: file, line: 1)])
        let small = try folder.open { $0.bucketBytes = 1 }
        _ = try create(small, "bob")
        #expect(try folder.text(file).contains(edited + "\n"))
        #expect(try small.readNotification(made.id, owner: "bob", now: noon) == made)
    }

    @Test func `a user added by hand may log in, and the next edit is seen`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        _ = try store.putUser(User(name: "alice", passwordHash: "$y$1"))
        #expect(try store.user("bob") == nil)
        try folder.append(#"{"id":"bob","passwordHash":"$y$2"}"# + "\n", to: "users.jsonl")
        #expect(try store.user("bob") == User(name: "bob", passwordHash: "$y$2", version: 1))
        try folder.write(
            try folder.text("users.jsonl").replacingOccurrences(of: "$y$2", with: "$y$3"), to: "users.jsonl")
        #expect(try store.user("bob")?.passwordHash == "$y$3")
        #expect(try store.user("alice")?.passwordHash == "$y$1")
    }

    @Test func `a store of many owners splits and still finds everything`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        let one = try folder.open {
            $0.bucketBytes = 600; $0.onEvent = { log.append($0) }
        }
        // A second instance with its own descriptors and mutexes stands for a second process.
        let other = try folder.open { $0.bucketBytes = 600 }
        var made: [SecureNotification] = []
        for index in 0..<600 { made.append(try create(index.isMultiple(of: 2) ? one : other, "owner-\(index % 150)")) }
        for (index, note) in made.enumerated() {
            #expect(
                try (index.isMultiple(of: 3) ? one : other).notification(note.id, owner: note.owner, now: noon) == note)
        }
        for name in (0..<40) { _ = try one.putUser(User(name: "user-\(name)", passwordHash: "x")) }
        #expect(try other.users().count == 40)
        #expect(log.all.contains { if case .split = $0 { true } else { false } })
        #expect(try folder.files().allSatisfy { !$0.contains(".tmp") })
    }

    @Test func `the folder of a split wins over the file, and a sweep removes the file after its time`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { ($0.bucketBytes, $0.splitFileLifetime) = (300, .zero) }
        _ = try store.putUser(User(name: "a", passwordHash: "1"))
        let parent = try folder.text("users.jsonl")
        for name in ["b", "c", "d", "e", "f", "g", "h"] { _ = try store.putUser(User(name: name, passwordHash: "1")) }
        let count = try store.users().count
        #expect(try folder.files(under: "users").count > 1)
        try folder.write(parent.replacingOccurrences(of: #""a""#, with: #""ghost""#), to: "users.jsonl")
        #expect(try store.users().count == count)
        #expect(try store.user("ghost") == nil)
        let patient = try folder.open { $0.bucketBytes = 300 }
        while try !patient.sweep(budget: 100, now: noon).finishedRound {}
        #expect(FileManager.default.fileExists(atPath: folder.path + "/users.jsonl"))
        while try !store.sweep(budget: 100, now: noon).finishedRound {}
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/users.jsonl"))
        #expect(try store.users().count == count)
    }

    @Test func `a sweep stays within its budget and takes expired payloads from the disk`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let early = try create(store, "bob", "early")
        let late = try store.createNotification(owner: "bob", payload: "late", now: noon, expiresAt: nextDay + 5)
        var compacted = 0
        while true {
            let progress = try store.sweep(budget: 7, now: nextDay)
            #expect(progress.visited <= 7)
            compacted += progress.compacted
            if progress.finishedRound { break }
        }
        #expect(compacted == 1)
        let text = try folder.text(onlyFile(folder))
        #expect(!text.contains("early") && text.contains("late"))
        #expect(try store.notification(late.id, owner: "bob", now: nextDay) == late)
        #expect(try store.notification(early.id, owner: "bob", now: nextDay) == nil)
    }

    @Test func `of many readers at once exactly one is the first`() throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in try folder.open() }
        let made = try create(stores[0], "bob")
        let first = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 16) { index in
            let seen = try? stores[index % 2].readNotification(made.id, owner: "bob", now: noon)
            if seen?.isRead == false { first.add(1, ordering: .relaxed) }
        }
        #expect(first.load(ordering: .relaxed) == 1)
        #expect(try folder.text(onlyFile(folder)).split(separator: "\n").count == 2)
    }

    @Test func `of many writers at one version exactly one wins`() throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in try folder.open { $0.bucketBytes = 500 } }
        let wins = Atomic<Int>(0)
        for version in 0..<5 {
            DispatchQueue.concurrentPerform(iterations: 8) { index in
                let record = DeviceRecord(id: "d", owner: "owner-\(index % 3)", updatedAt: noon, version: version)
                if (try? stores[index % 2].putDevice(record)) != nil { wins.add(1, ordering: .relaxed) }
            }
        }
        #expect(wins.load(ordering: .relaxed) == 5)
        let record = try #require(try stores[0].device("d"))
        #expect(record.version == 5)
        for index in 0..<3 {
            let isOwner = record.owner == "owner-\(index)"
            #expect(try stores[1].devices(owner: "owner-\(index)") == (isOwner ? [record] : []))
        }
    }
}
