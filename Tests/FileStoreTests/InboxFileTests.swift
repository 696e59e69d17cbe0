// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import StoreContract
import Testing
import Text

/// What asking for an inbox reads of the disk, and what older versions have left there.
@Suite struct InboxFileTests {
    private func open(_ folder: TemporaryFolder, _ reads: ReadCount) throws -> FileSiteStore {
        try folder.open {
            $0.calls = reads.counting
            $0.settlingTime = .zero
        }
    }

    private func keep(_ store: FileSiteStore, for owner: String, isPlain: Bool = true) throws -> SecureNotification {
        try store.createNotification(
            owner: owner, sender: "bob", payload: "p", isPlain: isPlain, now: noon, expiresAt: nextDay)
    }

    @Test func `an unchanged mailbox is not read again, and what another process changes is seen`() throws {
        let folder = try TemporaryFolder()
        let reads = ReadCount()
        let store = try open(folder, reads)
        let other = try folder.open()
        let made = try keep(store, for: "alice")
        let first = try store.mailboxState(owner: "alice", now: noon)
        var again: MailboxState?
        let cost = try reads.during { again = try store.mailboxState(owner: "alice", now: noon) }
        #expect(again == first && cost == [0, 0])
        #expect(try other.readNotification(made.id, owner: "alice", now: noon) != nil)
        let read = try store.mailboxState(owner: "alice", now: noon)
        #expect(read != first && read.unread == 0)
        // What has expired is not there, though its file is as it was.
        let later = try store.mailboxState(owner: "alice", now: nextDay)
        #expect(later != read)
        #expect(try store.mailboxState(owner: "alice", now: noon) == read)
    }

    @Test func `a mailbox that has changed is read once, and then costs no more than a message that was read before`()
        throws
    {
        let folder = try TemporaryFolder()
        let reads = ReadCount()
        let store = try open(folder, reads)
        let made = try (0..<40).map { _ in try keep(store, for: "alice", isPlain: false) }
        _ = try store.readNotification(made[0].id, owner: "alice", now: noon)
        #expect(try reads.during { _ = try store.mailboxState(owner: "alice", now: noon) }[1] > 0)
        _ = try store.notification(made[0].id, owner: "alice", now: noon)
        #expect(try reads.during { _ = try store.notification(made[0].id, owner: "alice", now: noon) } == [0, 0])
        #expect(try reads.during { _ = try store.mailboxState(owner: "alice", now: noon) } == [0, 0])
    }

    @Test func `two processes name the same state alike`() throws {
        let folder = try TemporaryFolder()
        let stores = [try folder.open(), try folder.open()]
        _ = try keep(stores[0], for: "alice")
        let states = try stores.map { try $0.mailboxState(owner: "alice", now: noon) }
        #expect(states[0] == states[1])
    }

    @Test func `a line of a version without plain messages is a secure one`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let made = try keep(store, for: "alice", isPlain: false)
        let file = try #require(try folder.files(under: "notifications").first)
        // The form of the versions before.
        #expect(try !folder.text(file).contains("plain"))
        let plain = try keep(store, for: "alice")
        #expect(try folder.text(file).contains(",\"plain\":true,"))
        let listed = try store.notifications(owner: "alice", unreadOnly: false, after: nil, limit: 9, now: noon)
        #expect(Set(listed.filter { !$0.isPlain }.map(\.id)) == [made.id])
        #expect(Set(listed.filter(\.isPlain).map(\.id)) == [plain.id])
    }

    @Test func `a mailbox of several pieces gives the payloads that are asked for`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.quotas.plainMessageBytesPerOwner = .max }
        let made = try (0..<60).map { number in
            try store.createNotification(
                owner: "alice", sender: "", payload: "\(number)" + String(repeating: "\u{1}", count: 20_000),
                isPlain: true,
                now: noon, expiresAt: nextDay)
        }
        let wanted = made.enumerated().filter { $0.offset % 7 == 0 }.map(\.element)
        let found = try store.payloads(of: wanted.map(\.id), owner: "alice", now: noon)
        #expect(found == Dictionary(uniqueKeysWithValues: wanted.map { ($0.id, $0.payload) }))
    }
}
