// SPDX-License-Identifier: Apache-2.0
import Synchronization
import System

/// How busy a server is: a few counters, cheap enough to read at every health check.
package struct ServerStatus: Sendable, Equatable {
    /// Threads that carry requests.
    package let workers: Int
    /// Those that carry one now.
    package let workersBusy: Int
    /// Open connections, idle ones included.
    package let connections: Int
    /// Connections with part of a request.
    package let waiting: Int
    /// Requests that wait without a worker until something has ended.
    package let postponed: Int
    /// Requests answered since the start.
    package let answered: Int
    /// Requests and connections refused since the start, by reason; reasons that never came up are absent.
    package let refused: [RejectReason: Int]
    /// Whether `stop()` was called.
    package let isDraining: Bool
}

/// A server's signs of life.
package struct ServerLiveness: Sendable {
    /// Grows after each look at it, and once a second or more, as long as connections are accepted and deadlines are kept.
    package let iterations: Int
    /// For how long no worker has taken a request or become free; zero while one is free.
    package let exhausted: Duration

    /// What has made no progress since an earlier look.
    package enum Stall: Equatable, Sendable {
        /// The event thread has not gone round.
        case accepting
        /// Every worker has been at the same request for longer than it may take.
        case workers(Duration)
    }

    /// - Parameter patience: how long a request may take.
    /// - Returns: nil when all are at work; waiting for something slow is work, up to that time.
    package func stall(since last: ServerLiveness, patience: Duration) -> Stall? {
        if iterations == last.iterations { return .accepting }
        return exhausted > patience ? .workers(exhausted) : nil
    }
}

/// The counters behind `ServerStatus`.
final class Counters: Sendable {
    let busy = Atomic(0)
    let answered = Atomic(0)
    /// The event thread's iterations.
    let iterations = Atomic(0)
    /// Grows with everything that happens; two equal readings mean that nothing did.
    let activity = Atomic(0)
    private let refused = Lock<[RejectReason: Int]>([:])

    var rejections: [RejectReason: Int] { refused.withLock { $0 } }

    func count(_ reason: RejectReason) {
        refused.withLock { $0[reason, default: 0] &+= 1 }
    }

    func beginWork() {
        busy.wrappingAdd(1, ordering: .sequentiallyConsistent)
        activity.wrappingAdd(1, ordering: .relaxed)
    }

    func endWork() {
        busy.wrappingSubtract(1, ordering: .relaxed)
    }
}
