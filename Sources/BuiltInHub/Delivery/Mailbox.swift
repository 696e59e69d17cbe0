// SPDX-License-Identifier: Apache-2.0
internal import Push
import System

/// What a push service, or the way to it, said of one target.
struct Answer: Sendable {
    /// The number of the desk that asked; none after it knows of the question.
    let desk: Int
    let messageID: String
    let delivery: PlannedDelivery
    let result: PushResult
}

/// The way from those who know something new to the thread that delivers, which sleeps on it.
final class Mailbox: Sendable {
    private struct State {
        var answers: [Answer] = []
        var isCalled = false
        var isSignalled = false
        var isStopping = false
    }

    private let state = Lock(State())
    private let bell = Semaphore()

    /// The answers since the last time. Each target has at most one under way, so the window bounds them.
    func takeAnswers() -> [Answer] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// Whether somebody has called for the thread since the last time.
    func takeCall() -> Bool {
        state.withLock { state in
            defer { state.isCalled = false }
            return state.isCalled
        }
    }

    func add(_ answer: Answer) { ring { $0.answers.append(answer) } }
    func wake() { ring { $0.isCalled = true } }
    func stop() { ring { $0.isStopping = true } }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// One bell for all that came since the sleeper last woke.
    private func ring(_ change: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            change(&state)
            defer { state.isSignalled = true }
            return !state.isSignalled
        }
        if isFirst { bell.signal() }
    }

    /// Sleeps until there is something new, or for that long.
    func wait(_ duration: Duration) {
        guard bell.wait(for: duration) else { return }
        state.withLock { $0.isSignalled = false }
    }
}
