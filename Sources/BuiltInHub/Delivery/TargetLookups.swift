// SPDX-License-Identifier: Apache-2.0
import Store
import System

/// Reads from the store whom a message reaches, beside the delivering thread.
final class TargetLookup: Sendable {
    typealias Lanes = Result<[DeliveryJob.Lane], StoreError>

    private let read: @Sendable () throws(StoreError) -> [DeliveryJob.Lane]
    private let found = Lock<Lanes?>(nil)
    private let hasEnded = Latch()

    init(_ read: @escaping @Sendable () throws(StoreError) -> [DeliveryJob.Lane]) {
        self.read = read
    }

    /// Nil until it has ended.
    var result: Lanes? { found.withLock { $0 } }

    /// Returns when it has ended, but no later than that.
    func wait(for duration: Duration) { hasEnded.wait(for: duration) }

    fileprivate func run() {
        let lanes = Result { () throws(StoreError) in try read() }
        found.withLock { $0 = lanes }
        hasEnded.open()
    }
}

/// Some threads for look-ups: all devices of a large site take seconds to read, and other messages must not wait for them.
///
/// A thread ends when it had nothing to do for a while.
final class TargetLookups: Sendable {
    private struct Work {
        let lookup: TargetLookup
        let completion: @Sendable () -> Void

        func run() {
            lookup.run()
            completion()
        }
    }

    private struct State {
        /// Of the messages that are worked on at once, so there are no more than these.
        var waiting: [Work] = []
        var threads = 0
        var idle = 0
    }

    private static let idleTime = Duration.seconds(5)

    private let maximumThreads: Int
    private let state = Lock(State())
    private let arrived = Semaphore()

    init(atOnce maximumThreads: Int) {
        self.maximumThreads = maximumThreads
    }

    /// Has the look-up done by another thread; by the calling one, if the system refuses to start any.
    /// - Parameter completion: called when the look-up has ended.
    /// - Returns: whether it begins at once; else others go on, and it waits for one of them to end.
    func begin(_ lookup: TargetLookup, completion: @escaping @Sendable () -> Void) -> Bool {
        let work = Work(lookup: lookup, completion: completion)
        let (isFirst, needsThread) = state.withLock { state in
            state.waiting.append(work)
            let isFirst = state.waiting.count <= state.idle
            guard !isFirst, state.threads < maximumThreads else { return (isFirst, false) }
            state.threads += 1
            return (true, true)
        }
        if needsThread {
            if DetachedThread.start({ [self] in runAll(for: Self.idleTime) }) != 0 { runAll(for: .zero) }
        } else {
            arrived.signal()
        }
        return isFirst
    }

    /// Forgets those that have not begun.
    func forgetWaiting() { state.withLock { $0.waiting = [] } }

    /// Ends when there was nothing to do for so long.
    private func runAll(for idleTime: Duration) {
        while true {
            if let work = takeOrRest() {
                work.run()
                continue
            }
            let isCalled = arrived.wait(for: idleTime)
            let isOver = state.withLock { state in
                state.idle -= 1
                guard !isCalled, state.waiting.isEmpty else { return false }
                state.threads -= 1
                return true
            }
            if isOver { return }
        }
    }

    /// - Returns: nil when there is none; then the thread counts as idle.
    private func takeOrRest() -> Work? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.idle += 1
            return nil
        }
    }
}
