// SPDX-License-Identifier: Apache-2.0
internal import Push
import Synchronization
internal import System

/// What became of one push.
struct Completion: Sendable {
    /// The epoch of the session that sent it; later sessions know nothing of it.
    let epoch: Int
    let messageID: String
    let delivery: DeliveryAttempt
    let result: PushResult
}

/// What transport threads and callers hand to the delivering thread, which they wake.
final class CompletionQueue: Sendable {
    let loop = WorkLoop()
    private let completions = Lock<[Completion]>([])
    private let isCalled = Atomic(false)

    /// The completions since the last time. Each target has at most one in flight, so the window bounds them.
    func takeAll() -> [Completion] {
        completions.withLock { completions in
            defer { completions = [] }
            return completions
        }
    }

    /// Whether `call()` was called since the last time.
    func takeCall() -> Bool { isCalled.exchange(false, ordering: .sequentiallyConsistent) }

    func add(_ completion: Completion) {
        completions.withLock { $0.append(completion) }
        loop.wake()
    }

    /// Has the thread look for new messages at once.
    func call() {
        isCalled.store(true, ordering: .sequentiallyConsistent)
        loop.wake()
    }
}
