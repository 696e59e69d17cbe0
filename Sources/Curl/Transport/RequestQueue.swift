// SPDX-License-Identifier: Apache-2.0
import Synchronization
import System

/// The way from the callers to the transfer thread: bounded, and the only thing they share.
final class RequestQueue: Sendable {
    private struct State {
        var waiting: [PendingRequest] = []
        /// Calls that are waiting or under way.
        var count = 0
        var isClosed = false
    }

    private let state = Lock(State())
    private let unsentCount = Atomic(0)
    private let capacity: Int
    /// Signalled when there is something for the transfer thread.
    let wakeUp: EventFD

    init(capacity: Int, wakeUp: EventFD) {
        self.capacity = capacity
        self.wakeUp = wakeUp
    }

    /// - Throws: `overloaded`, `cancelled` (the queue is closed).
    func add(_ request: PendingRequest) throws(TransportError) {
        let refusal = state.withLock { state -> TransportError? in
            guard !state.isClosed else { return .cancelled }
            guard state.count < capacity else { return .overloaded }
            state.count += 1
            state.waiting.append(request)
            unsentCount.add(1, ordering: .relaxed)
            if state.waiting.count == 1 { wakeUp.signal() }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// From now on every `add` is refused.
    func close() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            wakeUp.signal()
        }
    }

    /// Takes out calls that wait, in their order; the rest stays.
    func take(atMost count: Int) -> [PendingRequest] {
        state.withLock { state in
            guard count < state.waiting.count else {
                defer { state.waiting.removeAll(keepingCapacity: true) }
                return state.waiting
            }
            defer { state.waiting.removeFirst(max(0, count)) }
            return Array(state.waiting.prefix(max(0, count)))
        }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Calls that were added and are not sent yet.
    var unsent: Int { unsentCount.load(ordering: .relaxed) }

    /// A call is about to be sent for the first time, or has ended without that.
    func didSend() { unsentCount.subtract(1, ordering: .relaxed) }

    /// Makes room for as many new calls.
    func didFinish(_ count: Int) {
        guard count > 0 else { return }
        state.withLock { $0.count -= count }
    }
}
