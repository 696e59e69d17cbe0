// SPDX-License-Identifier: Apache-2.0
import System

/// The requests that wait without a thread: how many, and how much memory they hold together. Those of one source may take
/// a share, so that one that makes many leaves room for the others.
final class PostponedRequests: Sendable {
    /// Of the room for all, the part that one source may take: this many such parts make the whole.
    static let shares = 4

    private struct Room {
        var count = 0
        var bytes = 0
        /// Of each source that has any.
        var sources: [String: Int] = [:]
    }

    private let room = Lock(Room())
    /// Bytes that all of them may hold together.
    private let capacity: Int
    private let maximumCount: Int

    init(capacity: Int, maximumCount: Int) {
        (self.capacity, self.maximumCount) = (capacity, maximumCount)
    }

    var count: Int { room.withLock { $0.count } }

    /// - Returns: false when there is no room for so much; then it is not in here.
    func enter(_ source: String, bytes: Int) -> Bool {
        room.withLock { room in
            let ofSource = room.sources[source] ?? 0
            guard room.count < maximumCount, bytes <= capacity - room.bytes,
                ofSource == 0 || bytes <= capacity / Self.shares - ofSource
            else { return false }
            room.count += 1
            room.bytes += bytes
            room.sources[source] = ofSource + bytes
            return true
        }
    }

    func leave(_ source: String, bytes: Int) {
        room.withLock { room in
            room.count -= 1
            room.bytes -= bytes
            let left = (room.sources[source] ?? 0) - bytes
            room.sources[source] = left > 0 ? left : nil
        }
    }
}
