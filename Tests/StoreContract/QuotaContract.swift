// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing

/// How many bytes an owner may leave unread, whatever the store keeps its records in. Cap: 20,000 bytes.
package struct QuotaContract {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private let store: any StateStore

    package init(store: any StateStore) {
        self.store = store
    }

    private func fill(_ owner: String, payload: String) throws -> Int {
        for count in 0..<200 {
            do throws(StoreError) {
                _ = try store.createNotification(
                    owner: owner, payload: payload, now: Self.now, expiresAt: Self.now + 60)
            } catch {
                #expect(error == .quotaExceeded)
                return count
            }
        }
        return 200
    }

    /// An owner's payloads are bounded in bytes, and what has expired makes room.
    package func run() throws {
        let payload = String(repeating: "x", count: 2_000 - FileStore.notificationOverhead)
        #expect(try fill("alice", payload: payload) == 10)
        #expect(try fill("bob", payload: payload) == 10)
        let later = Self.now + 61
        let again = try store.createNotification(
            owner: "alice", payload: payload, now: later, expiresAt: later + 60)
        #expect(again.payload == payload)
        let left = try store.notifications(owner: "alice", unreadOnly: false, after: nil, limit: 50, now: later)
        #expect(left == [again])
    }
}
