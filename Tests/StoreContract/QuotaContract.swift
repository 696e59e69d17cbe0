// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing
internal import Text

/// How many bytes an owner's mailbox holds, whatever the store keeps its records in. Cap: 20,000 bytes.
package struct QuotaContract {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private let store: any StateStore

    package init(store: any StateStore) {
        self.store = store
    }

    private func leave(_ payload: String, for owner: String, from sender: String, at time: Timestamp = now) throws {
        _ = try store.createNotification(
            owner: owner, sender: sender, payload: payload, now: time, expiresAt: time + 60)
    }

    /// - Returns: how many were taken, and how many bytes they count.
    private func fill(_ owner: String, from sender: String, payload: String) throws -> (count: Int, bytes: Int) {
        for count in 0..<200 {
            do {
                try leave(payload, for: owner, from: sender)
            } catch {
                #expect(error as? StoreError == .shareExceeded(retryAfterSeconds: 60))
                let held = try store.notifications(
                    owner: owner, unreadOnly: false, after: nil, limit: .max, now: Self.now)
                return (count, held.filter { $0.sender == sender }.reduce(0) { $0 + $1.size })
            }
        }
        return (200, .max)
    }

    package func run() throws {
        try shares()
        try leaving()
        try largest()
    }

    /// A control character counts as the six bytes that it takes, and what has expired makes room.
    private func shares() throws {
        let plain = try fill("alice", from: "bob", payload: String(repeating: "x", count: 600))
        #expect((5...15).contains(plain.count) && (9_000...10_000).contains(plain.bytes))
        let escaped = try fill("carol", from: "bob", payload: String(repeating: "\u{1}", count: 600))
        #expect(escaped.count == 2 && (7_200...10_000).contains(escaped.bytes))
        try leave("later", for: "carol", from: "bob", at: Self.now + 61)
        let left = try store.wholeNotifications(owner: "carol", now: Self.now + 61)
        #expect(left.map(\.payload) == ["later"])
    }

    /// Who fills a mailbox loses their own for what others leave.
    private func leaving() throws {
        let payload = String(repeating: "x", count: 3_000)
        for sender in ["m1", "m2"] { #expect(try fill("dan", from: sender, payload: payload).count == 3) }
        for number in 0..<4 {
            try leave("small \(number) " + String(repeating: "y", count: 900), for: "dan", from: "bob")
        }
        let held = try store.notifications(owner: "dan", unreadOnly: false, after: nil, limit: .max, now: Self.now)
        #expect(held.reduce(0) { $0 + $1.size } <= 20_000)
        #expect(held.count { $0.sender == "bob" } == 4 && held.count { $0.sender.hasPrefix("m") } < 6)
    }

    private func largest() throws {
        #expect(throws: StoreError.quotaExceeded) {
            try leave(String(repeating: "x", count: 10_000), for: "eve", from: "bob")
        }
    }
}
