// SPDX-License-Identifier: Apache-2.0
internal import HTTP
import System

/// Messages that were handed to a hub together, and what has become of each so far.
package final class PendingSends: Awaited {
    package typealias Outcome = Result<SendReceipt, HubError>

    private struct State {
        var outcomes: [Outcome?]
        /// Messages without an outcome.
        var missing: Int
    }

    private let state: Lock<State>
    private let completion = Completion()
    private let deadline: Deadline

    /// Messages that the hub has not answered yet.
    /// - Parameter deadline: until when who waits for them does. The way to the hub has a deadline of its own for each call;
    ///   this one is for a way that does not keep it.
    init(count: Int, deadline: Deadline) {
        state = Lock(State(outcomes: Array(repeating: nil, count: count), missing: count))
        self.deadline = deadline
    }

    /// Messages of which all is known.
    init(_ outcomes: [Outcome]) {
        state = Lock(State(outcomes: outcomes, missing: 0))
        deadline = .now
        completion.end()
    }

    /// Notes what has become of one; once for each.
    func record(_ outcome: Outcome, ofMessage index: Int) {
        let isLast = state.withLock { state in
            state.outcomes[index] = outcome
            state.missing -= 1
            return state.missing == 0
        }
        if isLast { completion.end() }
    }

    package var hasEnded: Bool { completion.hasEnded }

    package func onEnd(_ resume: @escaping @Sendable () -> Void) { completion.onEnd(resume) }

    package func wait() { completion.wait(until: deadline) }

    /// What has become of each message, in their order. One without an answer may have been sent.
    package var results: [Outcome] {
        state.withLock(\.outcomes).map { $0 ?? .failure(.unreachable("no answer in time", mayHaveActed: true)) }
    }
}
