// SPDX-License-Identifier: Apache-2.0
import Store
import System

/// A file that was appended to and has yet to be flushed.
struct UnflushedFile: Sendable {
    struct Key: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    let descriptor: OpenFile
    /// As it was when it was opened, under the lock of its bucket.
    let identity: FileIdentity

    var key: Key { Key(device: identity.device, inode: identity.inode) }
}

/// One flush for all threads that wait for the same file (group commit).
///
/// A flush that runs already may have begun before a thread's line was written. So a thread that comes meanwhile waits for the
/// next one, which is made by the first that waits, for all that have come until it begins.
///
/// The kernel reports a failed write to the descriptors that were open when it failed; to one that was opened later only if
/// no process has heard of it. So the flush is made with the descriptor that was opened before all others that wait.
final class SharedFlushes: Sendable {
    private final class Round: Sendable {
        /// Signalled when the flush before is done.
        let turn = Semaphore()
        let isDone = Latch()
        let failure = Lock<StoreError?>(nil)
    }

    /// The round that comes next.
    private struct Next {
        let round = Round()
        /// Of those that wait for it the one that was opened first: each of them has appended, so it was the shortest then.
        var oldest: UnflushedFile
        var threads = 1
    }

    private struct State {
        /// With one, none or one flush runs; without one, one runs.
        var next: Next?
    }

    private let files = Lock<[UnflushedFile.Key: State]>([:])

    /// Returns when a flush of the file is done that began after this call.
    /// - Parameter flush: of a descriptor of that file, which another thread may have opened.
    /// - Throws: what the flush has thrown, whichever thread made it.
    func flush(
        _ file: UnflushedFile, _ flush: (OpenFile) throws(StoreError) -> Void
    ) throws(StoreError) {
        let (round, isFirst) = join(file)
        if isFirst {
            round.turn.wait()
            let oldest = begin(file.key) ?? file
            let failure = StoreContext.failure { () throws(StoreError) in try flush(oldest.descriptor) }
            round.failure.withLock { $0 = failure }
            round.isDone.open()
            end(file.key)
        } else {
            while !round.isDone.wait(for: Deadline.farthest) {}
        }
        if let failure = round.failure.withLock({ $0 }) { throw failure }
    }

    private func join(_ file: UnflushedFile) -> (round: Round, isFirst: Bool) {
        files.withLock { files in
            if var next = files[file.key]?.next {
                next.threads += 1
                if file.identity.size < next.oldest.identity.size { next.oldest = file }
                files[file.key]?.next = next
                return (next.round, false)
            }
            let next = Next(oldest: file)
            if files.updateValue(State(next: next), forKey: file.key) == nil { next.round.turn.signal() }
            return (next.round, true)
        }
    }

    /// Threads that come from here on may come too late for the round.
    private func begin(_ key: UnflushedFile.Key) -> UnflushedFile? {
        files.withLock { $0.updateValue(State(), forKey: key)?.next?.oldest }
    }

    private func end(_ key: UnflushedFile.Key) {
        files.withLock { files in
            if let next = files[key]?.next { next.round.turn.signal() } else { files[key] = nil }
        }
    }

    /// How many threads wait for the file's next flush.
    func waiting(for file: UnflushedFile.Key) -> Int {
        files.withLock { $0[file]?.next?.threads ?? 0 }
    }
}
