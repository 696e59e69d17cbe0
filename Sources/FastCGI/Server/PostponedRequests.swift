// SPDX-License-Identifier: Apache-2.0
import System

/// The requests that wait without a thread: how many, and how much memory they hold together.
final class PostponedRequests: Sendable {
    private let held = Lock((count: 0, bytes: 0))
    /// Bytes that all of them may hold together.
    private let capacity: Int
    private let maximumCount: Int

    init(capacity: Int, maximumCount: Int) {
        (self.capacity, self.maximumCount) = (capacity, maximumCount)
    }

    var count: Int { held.withLock { $0.count } }

    /// - Returns: false when there is no room for so much; then it is not in here.
    func enter(bytes: Int) -> Bool {
        held.withLock { held in
            guard held.count < maximumCount, bytes <= capacity - held.bytes else { return false }
            held = (held.count + 1, held.bytes + bytes)
            return true
        }
    }

    func leave(bytes: Int) {
        held.withLock { $0 = ($0.count - 1, $0.bytes - bytes) }
    }
}
