// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import System

/// Keeps few of the idle workers awake.
///
/// With 64 threads in one epoll_wait every request wakes another one, with a cold cache; with a few, the one that has
/// just answered takes the next. The others sleep here until all that were awake have a request in hand: then the last
/// of them, before it begins, calls one more. So there is always somebody who listens, or nobody idle. Nor does a worker
/// exist before it is first needed: 60 threads that have nothing to do cost a start 16 ms, and 1.8 MB.
final class LeaderFollowers: Sendable {
    /// Who should take the place of the last listener.
    enum Successor {
        case none, woken
        /// There is none following, and one may be started: who does not manage to says `startFailed()`.
        case start
    }

    private struct Counts {
        /// Workers that there are.
        var started: Int
        /// Workers that wait for a connection, or are on their way to.
        var leading: Int
        /// Workers that sleep here.
        var following = 0
        var isEnded = false

        /// Counts one more, who listens from the hiring on, so that nobody hires twice.
        /// - Returns: false, when there may be none.
        mutating func start(atMost workers: Int) -> Bool {
            guard started < workers, !isEnded else { return false }
            started += 1
            leading += 1
            return true
        }
    }

    private let counts: Lock<Counts>
    private let size: Int
    private let workers: Int
    /// Counts calls; a read takes one (eventfd as a semaphore).
    private let wakeUps: Descriptor

    /// - Parameters:
    ///   - workers: how many there may be.
    ///   - size: how many idle ones may listen; so many there are at first.
    /// - Throws: `ServerError.noDescriptor`.
    init(workers: Int, size: Int) throws(ServerError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_SEMAPHORE))
        guard number >= 0 else { throw .noDescriptor("eventfd: \(systemErrorText())") }
        wakeUps = Descriptor(owning: number)
        self.size = size
        self.workers = workers
        let first = min(size, workers)
        counts = Lock(Counts(started: first, leading: first))
    }

    /// A worker has taken a connection and is about to serve it.
    func promote() -> Successor {
        let successor = counts.withLock { counts -> Successor in
            counts.leading -= 1
            guard counts.leading == 0 else { return .none }
            guard counts.following > 0 else { return counts.start(atMost: workers) ? .start : .none }
            // Counted as leading from the call on, so that nobody calls twice.
            counts.following -= 1
            counts.leading += 1
            return .woken
        }
        if successor == .woken { wake(1) }
        return successor
    }

    /// Nobody listens, because nobody could be had when he was needed: then one more is counted in.
    /// - Returns: whether he should be started now; who does not manage to says `startFailed()`.
    func needsLeader() -> Bool {
        counts.withLock { counts in
            counts.leading == 0 && counts.following == 0 && counts.start(atMost: workers)
        }
    }

    /// The one who should be started cannot be: as if all were busy.
    func startFailed() {
        counts.withLock { counts in
            counts.started -= 1
            counts.leading -= 1
        }
    }

    /// A worker is free again; returns when it should listen.
    func becomeFollower() {
        let mustWait = counts.withLock { counts in
            if counts.leading < size || counts.isEnded {
                counts.leading += 1
                return false
            }
            counts.following += 1
            return true
        }
        guard mustWait else { return }
        var count: UInt64 = 0
        while read(wakeUps.number, &count, MemoryLayout<UInt64>.size) < 0, errno == EINTR {}
    }

    /// Wakes all, once and for all.
    func end() {
        let following = counts.withLock { counts in
            defer {
                counts.leading += counts.following
                counts.following = 0
                counts.isEnded = true
            }
            return counts.following
        }
        if following > 0 { wake(UInt64(following)) }
    }

    private func wake(_ count: UInt64) {
        var count = count
        _ = write(wakeUps.number, &count, MemoryLayout<UInt64>.size)
    }
}
