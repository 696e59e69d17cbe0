// SPDX-License-Identifier: Apache-2.0
import Store
internal import System

/// Reads from the store whom a message reaches, beside the delivering thread.
final class TargetLookup: Sendable {
    typealias Lanes = Result<[DeliveryJob.Lane], StoreError>

    private struct State {
        var lanes: Lanes?
        var completion: (@Sendable () -> Void)?
    }

    /// The tag expression that it reads the devices of.
    fileprivate let expression: String
    private let read: @Sendable () throws(StoreError) -> [DeliveryJob.Lane]
    private let state = Lock(State())
    private let hasEnded = Latch()

    /// - Parameter expression: empty for all devices.
    init(
        _ expression: String, _ read: @escaping @Sendable () throws(StoreError) -> [DeliveryJob.Lane]
    ) {
        (self.expression, self.read) = (expression, read)
    }

    /// Nil until it has ended.
    var result: Lanes? { state.withLock { $0.lanes } }

    /// Returns when it has ended, but no later than that.
    func wait(for duration: Duration) { hasEnded.wait(for: duration) }

    /// Calls `completion` on the thread that ends it; at once, where it has ended.
    func whenEnded(_ completion: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.lanes == nil { state.completion = completion }
            return state.lanes != nil
        }
        if hasEnded { completion() }
    }

    fileprivate func run() -> Lanes { Result { () throws(StoreError) in try read() } }

    fileprivate func end(_ lanes: Lanes) {
        let completion = state.withLock { state in
            state.lanes = lanes
            return state.completion.take()
        }
        hasEnded.open()
        completion?()
    }
}

/// Some threads for look-ups: all devices of a large site take seconds to read, and other messages must not wait for them.
///
/// One tag expression has one thread at a time: messages to it, to all platforms perhaps, read the same registrations, and
/// would take all threads. A thread ends when it had nothing to do for a while.
final class TargetLookups: Sendable {
    private struct State {
        /// Of the messages that are worked on at once, so these are all.
        var waiting: [TargetLookup] = []
        /// The expressions that threads are at.
        var running: Set<String> = []
        var threads = 0
        var idle = 0

        /// Those that need nothing but a thread.
        var ready: Int { waiting.count { !running.contains($0.expression) } }

        mutating func takeReady() -> TargetLookup? {
            guard let index = waiting.firstIndex(where: { !running.contains($0.expression) }) else { return nil }
            running.insert(waiting[index].expression)
            return waiting.remove(at: index)
        }

        /// As above; where there is none, the thread that asks is idle.
        mutating func takeReadyOrRest() -> TargetLookup? {
            let next = takeReady()
            if next == nil { idle += 1 }
            return next
        }
    }

    private static let idleTime = Duration.seconds(5)

    private let maximumThreads: Int
    private let state = Lock(State())
    private let arrived = Semaphore()

    init(atOnce maximumThreads: Int) {
        self.maximumThreads = maximumThreads
    }

    /// Has the look-up done by another thread; by the calling one, where there is no other and the system refuses to start any.
    /// - Returns: whether it begins at once; else it waits for another look-up to end.
    func begin(_ lookup: TargetLookup) -> Bool {
        let (beginsAtOnce, needsThread) = state.withLock { state in
            state.waiting.append(lookup)
            guard !state.running.contains(lookup.expression) else { return (false, false) }
            let beginsAtOnce = state.ready <= state.idle
            guard !beginsAtOnce, state.threads < maximumThreads else { return (beginsAtOnce, false) }
            state.threads += 1
            return (true, true)
        }
        if !needsThread {
            arrived.signal()
        } else if DetachedThread.start({ [self] in runAll() }) != 0 {
            let isAlone = state.withLock { state in
                state.threads -= 1
                return state.threads == 0
            }
            if isAlone, let next = state.withLock({ $0.takeReady() }) { _ = run(next) { _ in nil } }
        }
        return beginsAtOnce
    }

    /// Forgets those that have not begun.
    func forgetWaiting() { state.withLock { $0.waiting = [] } }

    /// Ends when there was nothing to do for a while.
    private func runAll() {
        var next = state.withLock { $0.takeReadyOrRest() }
        while true {
            while let lookup = next { next = run(lookup) { $0.takeReadyOrRest() } }
            let isCalled = arrived.wait(for: Self.idleTime)
            let isOver = state.withLock { state in
                state.idle -= 1
                guard isCalled || state.ready > 0 else {
                    state.threads -= 1
                    return true
                }
                next = state.takeReadyOrRest()
                return false
            }
            if isOver { return }
        }
    }

    /// - Parameter takeNext: what the thread does next, which is decided before any other thread hears of this look-up's end.
    private func run(
        _ lookup: TargetLookup, then takeNext: (inout State) -> TargetLookup?
    ) -> TargetLookup? {
        let lanes = lookup.run()
        let (next, isOtherReady) = state.withLock { state in
            state.running.remove(lookup.expression)
            let next = takeNext(&state)
            return (next, state.ready > 0 && state.idle > 0)
        }
        if isOtherReady { arrived.signal() }
        // Last: the delivering thread, which waits for it, may begin the next one at once, and this thread is there for it.
        lookup.end(lanes)
        return next
    }
}
