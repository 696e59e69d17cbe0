// SPDX-License-Identifier: Apache-2.0
import HTTP
package import System

/// One fetch of an issuer's keys, for all requests that wait for it.
package final class KeyFetch: Postponement {
    /// Requests that may wait for one fetch.
    static let maximumRequests = 1_000

    private struct State {
        var hasEnded = false
        var requests = 0
        var resumptions: [@Sendable () -> Void] = []
    }

    package let began = ContinuousClock.now
    /// One for all requests that wait for keys: they share the room that one source may take.
    package let source = "keys of issuers"
    private let state = Lock(State())

    /// One more request waits for it.
    /// - Returns: false when too many do.
    func join() -> Bool {
        state.withLock { state in
            guard state.requests < Self.maximumRequests else { return false }
            state.requests += 1
            return true
        }
    }

    package func onEnd(_ resume: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.resumptions.append(resume) }
            return state.hasEnded
        }
        if hasEnded { resume() }
    }

    /// Returns when it has ended, or at the deadline, whichever is first.
    package func wait(until deadline: Deadline) {
        let ended = Latch()
        onEnd { ended.open() }
        ended.wait(until: deadline)
    }

    /// Lets the requests go on.
    func end() {
        let resumptions = state.withLock { state in
            defer { (state.hasEnded, state.resumptions) = (true, []) }
            return state.resumptions
        }
        for resume in resumptions { resume() }
    }
}
