// SPDX-License-Identifier: Apache-2.0
import JSON
package import Store
import Testing
internal import Text

/// That no user fills what all users share, whatever the store keeps it in (`SharedRoom`).
package struct SharedRoomContract {
    private let store: any HubQueue & WaitingStore

    /// - Parameter store: with these quotas.
    package init(store: any HubQueue & WaitingStore) { self.store = store }

    package static func shrink(_ quotas: inout Quotas) {
        (quotas.queueBytes, quotas.webhookBytes, quotas.sendBytes) = (40_000, 40_000, 256_000)
    }

    package func run() throws {
        try shares(Self.quotas.queueRoom) { try store.enqueueHubMessage($0) }
        // What has left it makes room again, for its owner as for others.
        try store.removeQueuedHubMessages((0..<1_000).map { message("mallory", $0) })
        try store.enqueueHubMessage(message("mallory", 1_000))
        for list in WaitingList.allCases {
            try shares(Self.quotas.room(of: list)) { try store.putWaiting([$0], in: list) }
            // What waits already may change.
            try store.putWaiting([message("mallory", 0)], in: list)
            try store.removeWaiting((0..<1_000).map { message("mallory", $0).id }, from: list)
            try store.putWaiting([message("mallory", 1_000)], in: list)
        }
    }

    private static var quotas: Quotas {
        var quotas = Quotas()
        shrink(&quotas)
        return quotas
    }

    private func shares(_ room: SharedRoom, _ put: (HubMessage) throws -> Void) throws {
        let share = StoreError.shareExceeded(retryAfterSeconds: SharedRoom.retryAfterSeconds)
        // The first one has half of it, and no more.
        let first = try fill("mallory", until: share, put) * Self.bytes
        #expect((room.free / 2...room.free).contains(first))
        // Then each has their share, however many have come before. The keys of a served hub are an owner, too.
        for owner in ["bob", "carol", ":key"] {
            let bytes = try fill(owner, until: share, put) * Self.bytes
            #expect((1...room.share).contains(bytes))
        }
        #expect(throws: share) { try put(message("mallory", 1_001)) }
        // What is an operator's command has no share, and takes what is left.
        #expect(try fill(nil, until: .quotaExceeded, put) > 0)
        #expect(throws: StoreError.quotaExceeded) { try put(message("eve", 0)) }
    }

    /// - Returns: how many were taken.
    private func fill(_ owner: String?, until end: StoreError, _ put: (HubMessage) throws -> Void) throws -> Int {
        for count in 0..<1_000 {
            do {
                try put(message(owner, count))
            } catch {
                #expect(error as? StoreError == end)
                return count
            }
        }
        return 1_000
    }

    /// Of a document; what a store adds is for it to say.
    private static let bytes = 400

    private func message(_ owner: String?, _ number: Int) -> HubMessage {
        HubMessage(
            id: "\(owner ?? "none")-\(number)", owner: owner,
            document: .string(String(repeating: "x", count: Self.bytes)),
            createdAt: noon, expiresAt: nextDay)
    }
}
