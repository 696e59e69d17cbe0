// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

import class System.Lock

/// Idempotency keys in memory. It keeps the contract that the real store keeps (`IdempotencyContract`).
package final class MemoryIdempotencyStore: IdempotencyStore {
    /// Byte by byte: names that only look alike are two owners.
    private struct Name: Hashable {
        let owner: [UInt8]
        let key: [UInt8]

        init(_ key: String, _ owner: String) {
            self.owner = Array(owner.utf8)
            self.key = Array(key.utf8)
        }
    }

    private let requests = Lock<[Name: IdempotentRequest]>([:])
    private let keysPerOwner: Int

    package init(keysPerOwner: Int = 1_000) {
        self.keysPerOwner = keysPerOwner
    }

    package func claimIdempotencyKey(
        _ request: IdempotentRequest, now: Timestamp
    ) throws(StoreError) -> IdempotentRequest? {
        let name = Name(request.key, request.owner)
        let (holder, isFull) = requests.withLock { requests -> (IdempotentRequest?, Bool) in
            if let holder = requests[name], holder.expiresAt > now { return (holder, false) }
            let waiting = requests.filter { $0.key.owner == name.owner && $0.value.answer == nil }
            guard waiting.values.count(where: { $0.expiresAt > now }) < keysPerOwner else { return (nil, true) }
            requests[name] = request
            return (nil, false)
        }
        guard !isFull else { throw .quotaExceeded }
        return holder
    }

    package func keepAnswer(of request: IdempotentRequest) throws(StoreError) {
        let name = Name(request.key, request.owner)
        requests.withLock { requests in
            requests[name] = request
            let own = requests.filter { $0.key.owner == name.owner }
            let answered = own.filter { $0.value.answer != nil && $0.key != name }
            let oldestFirst = answered.sorted { $0.value.createdAt < $1.value.createdAt }
            for old in oldestFirst.prefix(max(0, own.count - keysPerOwner)) { requests[old.key] = nil }
        }
    }

    package func releaseIdempotencyKey(_ key: String, owner: String) throws(StoreError) {
        requests.withLock { $0[Name(key, owner)] = nil }
    }
}
