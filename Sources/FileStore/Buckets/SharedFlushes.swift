// SPDX-License-Identifier: Apache-2.0
import Store
import Synchronization
import System

/// One flush for all threads that wait for the same file (group commit).
///
/// A flush that runs already may have begun before a thread's line was written. So a thread that comes meanwhile waits for the
/// next one, which is made by the first that waits, for all that have come until it begins.
final class SharedFlushes: Sendable {
    struct File: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    private final class Round: Sendable {
        /// Signalled when the flush before is done.
        let turn = Semaphore()
        let isDone = Latch()
        let failure = Lock<StoreError?>(nil)
        /// Threads that wait for it.
        let threads = Atomic(1)
    }

    private enum Role {
        /// No flush of the file runs.
        case alone
        case first(Round)
        case other(Round)
    }

    /// The files that are being flushed, each with the round that comes next.
    private let running = Lock<[File: Round?]>([:])

    /// Returns when a flush of the file is done that began after this call.
    /// - Throws: what the flush has thrown, whichever thread made it.
    func flush(_ file: File, _ flush: () throws(StoreError) -> Void) throws(StoreError) {
        switch role(file) {
        case .alone: try run(flush, of: file, for: nil)
        case .first(let round):
            round.turn.wait()
            // Threads that come from here on may come too late for it.
            running.withLock { $0[file] = .some(nil) }
            try run(flush, of: file, for: round)
        case .other(let round):
            round.isDone.wait(for: Deadline.farthest)
            if let failure = round.failure.withLock({ $0 }) { throw failure }
        }
    }

    private func role(_ file: File) -> Role {
        running.withLock { running in
            guard let next = running[file] else {
                running[file] = .some(nil)
                return .alone
            }
            if let next {
                next.threads.add(1, ordering: .relaxed)
                return .other(next)
            }
            let round = Round()
            running[file] = round
            return .first(round)
        }
    }

    /// How many threads wait for the file's next flush.
    func waiting(for file: File) -> Int {
        running.withLock { running in (running[file] ?? nil)?.threads.load(ordering: .relaxed) ?? 0 }
    }

    private func run(_ flush: () throws(StoreError) -> Void, of file: File, for round: Round?) throws(StoreError) {
        defer { end(file) }
        do throws(StoreError) {
            try flush()
        } catch {
            round?.failure.withLock { $0 = error }
            round?.isDone.open()
            throw error
        }
        round?.isDone.open()
    }

    private func end(_ file: File) {
        let next = running.withLock { running -> Round? in
            let next = running[file] ?? nil
            if next == nil { running[file] = nil }
            return next
        }
        next?.turn.signal()
    }
}
