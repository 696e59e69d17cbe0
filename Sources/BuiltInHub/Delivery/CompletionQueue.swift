// SPDX-License-Identifier: Apache-2.0
internal import Push
import System

/// What became of one push.
struct Completion: Sendable {
    /// The epoch of the session that sent it; later sessions know nothing of it.
    let epoch: Int
    let messageID: String
    let delivery: DeliveryAttempt
    let result: PushResult
}

/// What transport threads and callers hand to the delivering thread, which waits on it.
final class CompletionQueue: Sendable {
    private struct State {
        var completions: [Completion] = []
        var isCalled = false
        var isSignalled = false
        var isStopping = false
    }

    private let state = Lock(State())
    private let semaphore = Semaphore()

    /// The completions since the last time. Each target has at most one in flight, so the window bounds them.
    func takeAll() -> [Completion] {
        state.withLock { state in
            defer { state.completions = [] }
            return state.completions
        }
    }

    /// Whether `wake()` was called since the last time.
    func takeCall() -> Bool {
        state.withLock { state in
            defer { state.isCalled = false }
            return state.isCalled
        }
    }

    func add(_ completion: Completion) { update { $0.completions.append(completion) } }
    func wake() { update { $0.isCalled = true } }
    /// Ends the wait of the thread, which finds out by itself what there is to do.
    func noteLookup() { update { _ in } }
    func stop() { update { $0.isStopping = true } }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Signals once for all that was added since the thread last woke.
    private func update(_ change: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            change(&state)
            defer { state.isSignalled = true }
            return !state.isSignalled
        }
        if isFirst { semaphore.signal() }
    }

    /// Waits until something was added, but no longer than that.
    func wait(_ duration: Duration) {
        guard semaphore.wait(for: duration) else { return }
        state.withLock { $0.isSignalled = false }
    }
}
