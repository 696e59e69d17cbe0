// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import System

/// Lets only a few of the idle workers wait for connections (the leader-followers pattern).
///
/// With 64 threads in one epoll_wait every request wakes another one, with a cold cache; with a few, the one that has
/// just answered takes the next. The leaders wait in epoll_wait; the followers sleep here. When the last leader takes a
/// connection, it wakes one follower before it begins. So at least one worker waits for connections, or none is idle.
/// A worker's thread starts when it is first needed: 60 idle threads cost a start 16 ms, and 1.8 MB.
final class LeaderFollowers: Sendable {
    /// What takes the place of the last leader.
    enum Successor {
        case none, woken
        /// No worker sleeps, and one more may be started. A caller that cannot start it calls `startFailed()`.
        case start
    }

    private struct Counts {
        /// Workers whose thread was started.
        var started: Int
        /// Workers that wait for a connection, or are on their way to.
        var leading: Int
        /// Workers that sleep here.
        var following = 0
        var isEnded = false

        /// Counts one more worker, as a leader from now on, so that two threads do not both start one.
        /// - Returns: false, when there are as many as there may be.
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
    /// Counts wake-ups; a read takes one (eventfd as a semaphore).
    private let wakeUps: Descriptor

    /// - Parameters:
    ///   - workers: how many there may be.
    ///   - size: how many may lead at a time; so many there are at first.
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
            // Counted as leading from here on, so that two threads do not wake two.
            counts.following -= 1
            counts.leading += 1
            return .woken
        }
        if successor == .woken { wake(1) }
        return successor
    }

    /// Counts one more worker when there is no leader, because the last start of a thread failed.
    /// - Returns: whether to start it now. A caller that cannot calls `startFailed()`.
    func needsLeader() -> Bool {
        counts.withLock { counts in
            counts.leading == 0 && counts.following == 0 && counts.start(atMost: workers)
        }
    }

    /// Takes back the count of a worker whose thread could not be started.
    func startFailed() {
        counts.withLock { counts in
            counts.started -= 1
            counts.leading -= 1
        }
    }

    /// A worker is free again; returns when it should wait for a connection.
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
