// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import System

/// Lets only a few of the workers take connections (the leader-followers pattern).
///
/// The leaders wait for connections and serve them; the followers sleep here. A leader stays one from one request to the
/// next, so that a request wakes no other thread, with a cold cache; it wakes a follower in its place when it is about to
/// block. So as many workers as there may be leaders are not blocked, or none is free. A worker's thread starts when it is
/// first needed: 60 idle threads cost a start 16 ms, and 1.8 MB.
final class LeaderFollowers: Sendable {
    /// What takes the place of a leader.
    enum Successor {
        case none, woken
        /// No worker sleeps, and one more may be started. A caller that cannot start it calls `startFailed()`.
        case start
    }

    private struct Counts {
        /// Workers whose thread was started.
        var started: Int
        /// Workers that wait for a connection, are on their way to, or serve one and are not blocked.
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
    ///   - size: how many lead at a time; so many there are at first.
    /// - Throws: `ServerError.noDescriptor`.
    init(workers: Int, size: Int) throws(ServerError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_SEMAPHORE))
        guard number >= 0 else { throw .noDescriptor("eventfd: \(numberedErrorText())") }
        wakeUps = Descriptor(owning: number)
        self.size = size
        self.workers = workers
        let first = min(size, workers)
        counts = Lock(Counts(started: first, leading: first))
    }

    /// A leader has stopped leading.
    func promote() -> Successor {
        let successor = counts.withLock { counts -> Successor in
            counts.leading -= 1
            guard counts.following > 0 else { return counts.start(atMost: workers) ? .start : .none }
            // Counted as leading from here on, so that two threads do not wake two.
            counts.following -= 1
            counts.leading += 1
            return .woken
        }
        if successor == .woken { wake(1) }
        return successor
    }

    /// Counts one more worker when a leader is missing, because the last start of a thread failed.
    /// - Returns: whether to start it now. A caller that cannot calls `startFailed()`.
    func needsLeader() -> Bool {
        counts.withLock { counts in
            counts.leading < size && counts.following == 0 && counts.start(atMost: workers)
        }
    }

    /// Takes back the count of a worker whose thread could not be started; one that follows by now leads in its place.
    func startFailed() {
        let mustWake = counts.withLock { counts in
            counts.started -= 1
            guard counts.following > 0 else {
                counts.leading -= 1
                return false
            }
            counts.following -= 1
            return true
        }
        if mustWake { wake(1) }
    }

    /// A worker that does not lead any more is free again; returns when it should lead.
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
