// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import StoreContract
import Testing
import Text

/// Mailboxes as files: read in pieces, and without parsing what a list does not show.
@Suite struct MailboxFileTests {

    /// The file that holds the owner's mailbox.
    private func file(of owner: String, _ folder: TemporaryFolder) throws -> String {
        try #require(try folder.files(under: "notifications").first { try folder.text($0).contains("\"\(owner)\"") })
    }

    private func sweep(_ store: FileSiteStore, at time: Timestamp) throws {
        while try !store.sweep(budget: 1_000, now: time).finishedRound {}
    }

    @Test func `a mailbox of several pieces is read, marked, listed and emptied`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open {
            ($0.quotas.notificationsPerOwner, $0.quotas.notificationBytesPerOwner) = (.max, .max)
        }
        // A piece has 256 KiB; the control characters take six bytes each.
        let made = try (0..<16).map { number in
            try store.createNotification(
                owner: "bob", sender: "s\(number % 3)",
                payload: "\(number)" + String(repeating: number % 2 == 0 ? "x" : "\u{1}", count: 20_000),
                now: noon + Int64(number),
                expiresAt: nextDay)
        }
        let listed = try store.notifications(owner: "bob", unreadOnly: false, after: nil, limit: .max, now: noon)
        #expect(listed == made.reversed().map { NotificationSummary($0, size: $0.size) })
        for note in made {
            #expect(try store.notification(token: note.token, owner: "bob", now: noon) == note)
            #expect(try store.readNotification(note.id, owner: "bob", now: noon) == note)
        }
        #expect(try store.notifications(owner: "bob", unreadOnly: true, after: nil, limit: 9, now: noon) == [])
        for note in made { #expect(try store.removeNotification(note.id, owner: "bob", now: noon)) }
        #expect(try store.wholeNotifications(owner: "bob", now: noon) == [])
    }

    @Test func `a list shows the same of any line, sealed or edited, that is read whole`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        var random = RandomRecords(seed: 11)
        var expected: [SecureNotification] = []
        for id in 1...600 {
            guard var note = random.next().record as? SecureNotification else { continue }
            (note.id, note.owner, note.expiresAt) = (Int32(id), "bob", nextDay)
            expected.append(note)
        }
        #expect(try store.putRecords(expected.map { .notification($0) }, now: noon) == expected.count)
        func summaries() throws -> Set<NotificationSummary> {
            Set(try store.notifications(owner: "bob", unreadOnly: false, after: nil, limit: .max, now: noon))
        }
        #expect(try summaries() == Set(expected.map { NotificationSummary($0, size: $0.size) }))
        #expect(expected.count > 20)
        // By hand: another order, a member of another version, no checksum.
        let line =
            #"{"owner":"bob","id":5000,"token":"t","payload":"p","read":true,"x":1,"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2999-01-01T00:00:00Z"}"#
        let file = try file(of: "bob", folder)
        try folder.append(line + "\n", to: file)
        let edited = try #require(try summaries().first { $0.id == 5_000 })
        #expect(edited.isRead && edited.sender.isEmpty && edited.size == line.utf8.count + 1)
    }

    @Test func `what its owner has removed is gone from the disk with the next sweep`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let made = try (0..<2).map { number in
            try store.createNotification(owner: "bob", payload: "secret-\(number)", now: noon, expiresAt: nextDay)
        }
        #expect(try store.removeNotification(made[0].id, owner: "bob", now: noon))
        try sweep(store, at: noon)
        let file = try file(of: "bob", folder)
        let text = try folder.text(file)
        #expect(!text.contains("secret-0") && text.contains("secret-1"))
    }

    @Test(arguments: [1, 128 << 10])
    func `what a sender may not ask after any more is forgotten at the hub as well`(bucketBytes: Int) throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { ($0.bucketBytes, $0.quotas.sentPerOwner) = (bucketBytes, 4) }
        let ids = (0..<12).map { "m\($0)" }
        for id in ids + ["other"] {
            try store.putHubMessage(HubMessage(id: id, document: .null, createdAt: noon, expiresAt: nextDay))
            if id != "other" { try store.rememberSent([id], owner: "alice", now: noon, expiresAt: nextDay) }
        }
        #expect(try ids.filter { try store.hasSent($0, owner: "alice", now: noon) } == Array(ids.suffix(4)))
        try sweep(store, at: noon)
        #expect(try ids.filter { try store.hubMessage($0, now: noon) != nil } == Array(ids.suffix(4)))
        #expect(try store.hubMessage("other", now: noon) != nil)
    }

    @Test(arguments: [1, 128 << 10], [0, 1, 2])
    func `a message that its sender may not ask after any more is forgotten`(bucketBytes: Int, sends: Int) throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { ($0.bucketBytes, $0.quotas.sentPerOwner) = (bucketBytes, 4) }
        let ids = "abcdefghijkl".map { String(repeating: $0, count: 22) }
        for id in ids {
            let message = SentMessage(id: id, owner: "alice", to: "bob", sentAt: noon, expiresAt: nextDay)
            try store.rememberSent(
                (0..<sends).map { "\(id)-\($0)" }, message: message, owner: "alice", now: noon, expiresAt: nextDay)
        }
        try sweep(store, at: noon)
        let left = 4 / max(sends, 1)
        #expect(try ids.filter { try store.sentMessage($0, now: noon) != nil } == Array(ids.suffix(left)))
        #expect(try store.sentMessages(owner: nil, limit: 99, now: noon).count == left)
    }

    @Test func `a message that an earlier version remembered by its own id is known, and forgotten with it`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.quotas.sentPerOwner = 2 }
        let message = SentMessage(
            id: String(repeating: "m", count: 22), owner: "alice", to: "bob", sentAt: noon,
            outcomes: [.init(platform: "apns", state: "Enqueued", notificationID: "m-1")], expiresAt: nextDay)
        // Two lines, of which none names the other.
        try store.rememberSent([], message: message, owner: "alice", now: noon, expiresAt: nextDay)
        try store.rememberSent(["m-1"], owner: "alice", now: noon, expiresAt: nextDay)
        #expect(try store.sentMessage(message.id, owner: "alice", now: noon) == message)
        try store.rememberSent(["late-1", "late-2"], owner: "alice", now: noon, expiresAt: nextDay)
        #expect(try store.sentMessage(message.id, owner: "alice", now: noon) == nil)
        try sweep(store, at: noon)
        #expect(try store.sentMessage(message.id, now: noon) == nil)
    }

    @Test func `one sender's finished sends do not make those of others forgotten`() throws {
        let folder = try TemporaryFolder()
        // As the product's own, in small: of 200 senders each has a share.
        let store = try folder.open {
            ($0.bucketBytes, $0.quotas.sentPerOwner, $0.quotas.hubMessages) = (2_000, 10, 2_048)
        }
        func finish(_ id: String, of owner: String) throws {
            try store.rememberSent([id], owner: owner, now: noon, expiresAt: nextDay)
            try store.putHubMessage(HubMessage(id: id, document: .null, createdAt: noon, expiresAt: nextDay))
        }
        for number in 0..<10 { try finish("a\(number)", of: "alice") }
        for number in 0..<20_000 { try finish("m\(number)", of: "mallory") }
        try sweep(store, at: noon)
        #expect(try (0..<10).allSatisfy { try store.hubMessage("a\($0)", now: noon) != nil })
        #expect(try (0..<20_000).count { try store.hubMessage("m\($0)", now: noon) != nil } <= 10)
    }

    /// No list of a user names them, so `sentPerOwner` does not bound them.
    @Test(arguments: [":Manage", nil]) func `finished sends by keys do not make those of users forgotten`(
        sender: String?
    ) throws {
        let folder = try TemporaryFolder()
        // Eight in each of 256 files.
        let store = try folder.open { $0.quotas.hubMessages = 2_048 }
        func finish(_ id: String, of owner: String?) throws {
            try store.putHubMessage(
                HubMessage(id: id, owner: owner, document: .null, createdAt: noon, expiresAt: nextDay))
        }
        for number in 0..<20 { try finish("a\(number)", of: "user-\(number)") }
        for number in 0..<6_000 { try finish("k\(number)", of: sender) }
        try sweep(store, at: noon)
        #expect(try (0..<20).allSatisfy { try store.hubMessage("a\($0)", now: noon) != nil })
        let left = try (0..<6_000).filter { try store.hubMessage("k\($0)", now: noon) != nil }
        #expect(left.last == 5_999 && left.count <= 2_048 && left.count > 1_800)
    }

    @Test func `finished sends of all together are bounded, and the oldest go`() throws {
        let folder = try TemporaryFolder()
        // Two in each of 256 files.
        let store = try folder.open { $0.quotas.hubMessages = 512 }
        for number in 0..<3_000 {
            try store.putHubMessage(HubMessage(id: "m\(number)", document: .null, createdAt: noon, expiresAt: nextDay))
        }
        try sweep(store, at: noon)
        let left = try (0..<3_000).filter { try store.hubMessage("m\($0)", now: noon) != nil }
        #expect(left.count <= 512 && left.count > 400)
        // Of each file the oldest go. A key of the store's own spreads them, so a file may have few of the newer half: about
        // seven of these 512 are older.
        #expect(left.last == 2_999 && left.count { $0 >= 1_500 } > left.count * 9 / 10)
    }
}
