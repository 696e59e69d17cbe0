// SPDX-License-Identifier: Apache-2.0
import Store
import Testing

struct QuotaTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private func fill(_ store: FileStore, _ owner: String, payload: String) throws -> Int {
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

    @Test func `an owner's payloads are bounded in bytes, and what has expired makes room`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.notificationBytesPerOwner = 20_000 }
        let payload = String(repeating: "x", count: 2_000 - FileStore.notificationOverhead)
        #expect(try fill(store, "alice", payload: payload) == 10)
        #expect(try fill(store, "bob", payload: payload) == 10)
        let later = Self.now + 61
        let again = try store.createNotification(
            owner: "alice", payload: payload, now: later, expiresAt: later + 60)
        #expect(again.payload == payload)
        let left = try store.notifications(owner: "alice", unreadOnly: false, after: nil, limit: 50, now: later)
        #expect(left == [again])
    }
}
