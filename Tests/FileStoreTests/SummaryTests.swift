// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Testing

/// The store draws ids that are free without reading the bucket again. It tells ids apart by their lowest 11 bits, so that
/// two of one owner never have the same: of 300 that are drawn without that knowledge twenty pairs would.
@Suite struct SummaryTests {
    private static let draws = 300

    private func create(
        _ store: FileSiteStore, _ owner: String = "alice", from sender: String = ""
    ) throws -> SecureNotification {
        try store.createNotification(owner: owner, sender: sender, payload: "p", now: noon, expiresAt: nextDay)
    }

    private func areApart(_ notes: [SecureNotification]) -> Bool {
        Set(notes.map { $0.id & 2_047 }).count == notes.count
    }

    @Test func `two processes that write in turns know each other's ids`() throws {
        let folder = try TemporaryFolder()
        let stores = [try folder.open(), try folder.open()]
        let made = try (0..<Self.draws).map { try create(stores[$0 % 2]) }
        #expect(areApart(made))
    }

    @Test func `the ids of a store that was there before are known`() throws {
        let folder = try TemporaryFolder()
        var made: [SecureNotification] = []
        for _ in 0..<3 {
            let store = try folder.open()
            for _ in 0..<Self.draws / 3 { made.append(try create(store)) }
        }
        #expect(areApart(made))
    }

    @Test func `the ids of a bucket that another process rewrites again and again are known`() throws {
        let folder = try TemporaryFolder()
        let log = EventLog()
        let writer = try folder.open()
        let other = try folder.open { ($0.bucketBytes, $0.onEvent) = (600, log.append) }
        let made = try (0..<Self.draws).map { try create($0 % 10 == 0 ? other : writer) }
        #expect(areApart(made))
        let rewritten = log.all.filter { if case .compacted = $0 { true } else { false } }
        #expect(rewritten.count > 3)
    }

    @Test func `the ids of lines that were put in the place of others are known`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let first = try create(store)
        let file = try #require(try folder.files(under: "notifications").first)
        // Longer than before, in the same file, as an editor saves; by hand, so with blanks.
        let lines = (0..<Self.draws).map {
            #"{ "id": \#($0 * 7 + 1), "owner": "alice", "token": "\#(first.token)", "payload": "p", "#
                + #""createdAt": "\#(noon.text)", "expiresAt": "\#(nextDay.text)" }"#
        }
        let handle = try #require(FileHandle(forWritingAtPath: folder.path + "/" + file))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        try handle.close()
        let taken = Set((0..<Self.draws).map { Int32($0 * 7 + 1) & 2_047 })
        for _ in 0..<Self.draws { #expect(try !taken.contains(create(store, from: "new").id & 2_047)) }
    }

    @Test func `a full bucket still has ids, which are apart as a whole`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.quotas.notificationsPerOwner = 3_000 }
        let pattern = try create(store, from: "1")
        // All but one of those that the lowest 11 bits tell apart.
        let taken = (Int32(0)..<2_048).filter { $0 != pattern.id & 2_047 }.dropLast().map { number in
            var note = pattern
            (note.id, note.token, note.sender) = (number + 4_096, "token-\(number)", "\(number % 2)")
            return note
        }
        #expect(try store.putRecords(taken.map { .notification($0) }, now: noon) == taken.count)
        let made = try (0..<30).map { try create(store, from: "\($0 % 2)") }
        #expect(Set((made + taken + [pattern]).map(\.id)).count == 2_077)
    }

    @Test func `a sender is refused by their share also when another process has filled it`() throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in try folder.open { $0.quotas.notificationsPerOwner = 20 } }
        for index in 0..<10 { _ = try create(stores[index % 2]) }
        for store in stores {
            #expect(throws: StoreError.shareExceeded(retryAfterSeconds: 86_400)) { try create(store) }
            _ = try create(store, from: "another")
        }
    }
}
