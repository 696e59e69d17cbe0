// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing
internal import Text

/// Plain messages beside secure ones, and a mailbox in short, whatever the store keeps its records in. Caps: 5 secure ones and 3
/// plain ones per owner.
package struct InboxContract {
    private let store: any StateStore

    package init(store: any StateStore) { self.store = store }

    package func runAll() throws {
        try kinds()
        try order()
        try plainQuota()
        try shares()
        try state()
        try statesOfNeighbours()
    }

    private func keep(
        _ payload: String, for owner: String, from sender: String = "s", isPlain: Bool = true, at time: Timestamp = noon
    ) throws -> SecureNotification {
        try store.createNotification(
            owner: owner, sender: sender, payload: payload, isPlain: isPlain, now: time, expiresAt: nextDay)
    }

    private func kinds() throws {
        let secret = try keep("a secret", for: "ina", isPlain: false)
        let plain = try keep("a \"text\"\n\u{0}", for: "ina", at: noon + 1)
        #expect(plain.isPlain && !secret.isPlain)
        #expect(try store.notification(plain.id, owner: "ina", now: noon) == plain)
        func listed(secureOnly: Bool, unreadOnly: Bool = false) throws -> [NotificationSummary] {
            try store.notifications(
                owner: "ina", unreadOnly: unreadOnly, secureOnly: secureOnly, after: nil, limit: 9, now: noon)
        }
        #expect(try listed(secureOnly: false) == [plain, secret].map { NotificationSummary($0, size: $0.size) })
        #expect(try listed(secureOnly: true) == [NotificationSummary(secret, size: secret.size)])
        let ids = [plain.id, secret.id]
        #expect(
            try store.payloads(of: ids + [0], owner: "ina", now: noon)
                == [plain.id: plain.payload, secret.id: secret.payload])
        #expect(try store.payloads(of: [plain.id], owner: "ina", now: noon) == [plain.id: plain.payload])
        #expect(try store.payloads(of: ids, owner: "another", now: noon).isEmpty)
        #expect(try store.payloads(of: ids, owner: "ina", now: nextDay).isEmpty)
        #expect(try store.payloads(of: [], owner: "ina", now: noon).isEmpty)
        #expect(try store.readNotification(plain.id, owner: "ina", now: noon) == plain)
        #expect(try store.notification(plain.id, owner: "ina", now: noon)?.isRead == true)
        #expect(try listed(secureOnly: false, unreadOnly: true).map(\.id) == [secret.id])
        #expect(try store.payloads(of: [plain.id], owner: "ina", now: noon) == [plain.id: plain.payload])
        #expect(try store.removeNotification(plain.id, owner: "ina", now: noon))
        #expect(try store.payloads(of: ids, owner: "ina", now: noon) == [secret.id: secret.payload])
    }

    /// Of one second, too, what was made last is first, and each page begins where the one before has ended.
    private func order() throws {
        let made = try (0..<8).map { number in
            try keep("\(number)", for: "ora", from: "s\(number)", isPlain: number % 3 == 1)
        }
        func page(after id: Int32?) throws -> [Int32] {
            try store.notifications(owner: "ora", unreadOnly: false, after: id, limit: 3, now: noon).map(\.id)
        }
        var (paged, next) = ([Int32](), [Int32]())
        repeat {
            next = try page(after: paged.last)
            paged += next
        } while !next.isEmpty
        #expect(paged == made.reversed().map(\.id))
    }

    private func plainQuota() throws {
        func texts() throws -> [String] {
            try store.wholeNotifications(owner: "ivo", now: noon).map(\.payload).sorted()
        }
        for number in 1...5 {
            _ = try keep(
                "secret-\(number)", for: "ivo", from: "\(number)", isPlain: false, at: noon + Int64(number - 9))
        }
        // No share: of one sender alone the oldest leaves, and never a secure one.
        for number in 1...4 { _ = try keep("text-\(number)", for: "ivo", at: noon + Int64(number)) }
        let secrets = (1...5).map { "secret-\($0)" }
        #expect(try texts() == secrets + ["text-2", "text-3", "text-4"])
        // What was read leaves first.
        let newest = try store.notifications(owner: "ivo", unreadOnly: false, after: nil, limit: 1, now: noon)
        _ = try store.readNotification(#require(newest.first).id, owner: "ivo", now: noon)
        _ = try keep("text-5", for: "ivo", at: noon + 5)
        #expect(try texts() == secrets + ["text-2", "text-3", "text-5"])
        // Then the oldest of who holds most, so that one who sends much costs the others nothing.
        for number in 6...9 { _ = try keep("text-\(number)", for: "ivo", from: "busy", at: noon + Int64(number)) }
        #expect(try texts() == secrets + ["text-5", "text-8", "text-9"])
        // And a secure one makes no plain one leave.
        _ = try keep("secret-6", for: "ivo", from: "6", isPlain: false, at: noon + 10)
        #expect(try texts() == Array(secrets.dropFirst()) + ["secret-6", "text-5", "text-8", "text-9"])
    }

    /// Who sends much pushes out neither what others have sent and was read, nor what was not.
    private func shares() throws {
        func texts() throws -> [String] {
            try store.wholeNotifications(owner: "ike", now: noon).map(\.payload).sorted()
        }
        let read = try keep("read", for: "ike", from: "friend", at: noon)
        _ = try store.readNotification(read.id, owner: "ike", now: noon)
        for number in 1...5 { _ = try keep("busy-\(number)", for: "ike", from: "busy", at: noon + Int64(number)) }
        #expect(try texts() == ["busy-4", "busy-5", "read"])
        // Their own that was read goes before their own that was not.
        let own = try store.notifications(owner: "ike", unreadOnly: true, after: nil, limit: 1, now: noon)
        _ = try store.readNotification(#require(own.first).id, owner: "ike", now: noon)
        _ = try keep("busy-6", for: "ike", from: "busy", at: noon + 6)
        #expect(try texts() == ["busy-4", "busy-6", "read"])
        // For a third sender what was read leaves, of any sender.
        _ = try keep("third", for: "ike", from: "third", at: noon + 7)
        #expect(try texts() == ["busy-4", "busy-6", "third"])
    }

    private func state() throws {
        func state(at time: Timestamp = noon) throws -> MailboxState {
            try store.mailboxState(owner: "ida", now: time)
        }
        var seen = [try state()]
        #expect(seen[0].unread == 0)
        func expectChange(unread: Int, _ change: () throws -> Void) throws {
            try change()
            let now = try state()
            #expect(now.unread == unread && !seen.map(\.revision).contains(now.revision))
            #expect(try state() == now)
            seen.append(now)
        }
        var ids: [Int32] = []
        try expectChange(unread: 1) { ids.append(try keep("one", for: "ida", isPlain: false).id) }
        try expectChange(unread: 2) { ids.append(try keep("two", for: "ida").id) }
        try expectChange(unread: 1) { _ = try store.readNotification(ids[0], owner: "ida", now: noon) }
        try expectChange(unread: 0) { _ = try store.readNotification(ids[1], owner: "ida", now: noon) }
        // Not so what changes nothing.
        _ = try store.readNotification(ids[1], owner: "ida", now: noon)
        #expect(try state() == seen.last)
        #expect(try state(at: nextDay + -1) == seen.last)
        #expect(try state(at: nextDay) == seen.first)
        try expectChange(unread: 0) { _ = try store.removeNotification(ids[0], owner: "ida", now: noon) }
        _ = try store.removeNotification(ids[1], owner: "ida", now: noon)
        #expect(try state() == seen.first)
    }

    private func statesOfNeighbours() throws {
        for isPlain in [true, false] { _ = try keep("x", for: "ivy", isPlain: isPlain) }
        let before = try store.mailboxState(owner: "ivy", now: noon)
        _ = try keep("x", for: "iris")
        #expect(try store.mailboxState(owner: "ivy", now: noon) == before)
        #expect(try store.mailboxState(owner: "iris", now: noon) != before)
        #expect(try store.removeNotifications(owner: "ivy") == 2)
        #expect(try store.mailboxState(owner: "ivy", now: noon).unread == 0)
        #expect(try store.notifications(owner: "ivy", unreadOnly: false, after: nil, limit: 9, now: noon).isEmpty)
    }
}
