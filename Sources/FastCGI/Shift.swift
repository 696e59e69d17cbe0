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
final class Shift: Sendable {
    /// Who should take the place of the last listener.
    enum Successor {
        case nobody, called
        /// There is none asleep, and one may be hired: who does not manage to says `hireFailed()`.
        case hire
    }

    private struct Roster {
        /// Workers that there are.
        var hired: Int
        /// Workers that wait for a connection, or are on their way to.
        var listening: Int
        /// Workers that sleep here.
        var asleep = 0
        var isOver = false

        /// Counts one more, who listens from the hiring on, so that nobody hires twice.
        /// - Returns: false, when there may be none.
        mutating func hire(atMost workers: Int) -> Bool {
            guard hired < workers, !isOver else { return false }
            hired += 1
            listening += 1
            return true
        }
    }

    private let roster: Lock<Roster>
    private let size: Int
    private let workers: Int
    /// Counts calls; a read takes one (eventfd as a semaphore).
    private let calls: Descriptor

    /// - Parameters:
    ///   - workers: how many there may be.
    ///   - size: how many idle ones may listen; so many there are at first.
    /// - Throws: `ServerError.noDescriptor`.
    init(workers: Int, size: Int) throws(ServerError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_SEMAPHORE))
        guard number >= 0 else { throw .noDescriptor("eventfd: \(systemErrorText())") }
        calls = Descriptor(owning: number)
        self.size = size
        self.workers = workers
        let first = min(size, workers)
        roster = Lock(Roster(hired: first, listening: first))
    }

    /// A worker has taken a connection and is about to serve it.
    func leave() -> Successor {
        let successor = roster.withLock { roster -> Successor in
            roster.listening -= 1
            guard roster.listening == 0 else { return .nobody }
            guard roster.asleep > 0 else { return roster.hire(atMost: workers) ? .hire : .nobody }
            // Counted as listening from the call on, so that nobody calls twice.
            roster.asleep -= 1
            roster.listening += 1
            return .called
        }
        if successor == .called { call(1) }
        return successor
    }

    /// Nobody listens, because nobody could be had when he was needed: then one more is counted in.
    /// - Returns: whether he should be hired now; who does not manage to says `hireFailed()`.
    func wantsListener() -> Bool {
        roster.withLock { roster in
            roster.listening == 0 && roster.asleep == 0 && roster.hire(atMost: workers)
        }
    }

    /// The one who should be hired cannot be: as if all were busy.
    func hireFailed() {
        roster.withLock { roster in
            roster.hired -= 1
            roster.listening -= 1
        }
    }

    /// A worker is free again; returns when it should listen.
    func join() {
        let mustSleep = roster.withLock { roster in
            if roster.listening < size || roster.isOver {
                roster.listening += 1
                return false
            }
            roster.asleep += 1
            return true
        }
        guard mustSleep else { return }
        var count: UInt64 = 0
        while read(calls.number, &count, MemoryLayout<UInt64>.size) < 0, errno == EINTR {}
    }

    /// Wakes all, once and for all.
    func end() {
        let asleep = roster.withLock { roster in
            defer {
                roster.listening += roster.asleep
                roster.asleep = 0
                roster.isOver = true
            }
            return roster.asleep
        }
        if asleep > 0 { call(UInt64(asleep)) }
    }

    private func call(_ count: UInt64) {
        var count = count
        _ = write(calls.number, &count, MemoryLayout<UInt64>.size)
    }
}
