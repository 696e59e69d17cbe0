// SPDX-License-Identifier: Apache-2.0
import System

/// How long a server that could not be reached, or has fallen silent, is left alone. Callers fail at once meanwhile, instead
/// of queueing up, and a server that comes back is not met by a crowd: one caller at a time tries.
final class Reachability: Sendable {
    private struct State {
        /// 0: all may connect.
        var failures = 0
        var reason = ""
        var notBefore: ContinuousClock.Instant?
        /// Whether one caller is trying.
        var isTried = false
    }

    static let backoff = Backoff(doubling: .milliseconds(100), to: .seconds(2), isSpread: true)

    private let state = Lock(State())

    /// - Returns: whether the caller is the one that tries; it must say how that ended.
    /// - Throws: `unreachable`, when it is not time yet, or another caller is trying.
    func begin(at now: ContinuousClock.Instant = .now) throws(CallFailure) -> Bool {
        let (isTrial, refusal) = state.withLock { state -> (Bool, String?) in
            guard state.failures > 0 else { return (false, nil) }
            if state.isTried { return (false, state.reason) }
            if let notBefore = state.notBefore, now < notBefore { return (false, state.reason) }
            state.isTried = true
            return (true, nil)
        }
        if let refusal { throw .unreachable(reason: refusal) }
        return isTrial
    }

    func succeed() { state.withLock { $0 = State() } }

    /// - Parameter isTrial: what `begin` has said. Of all who had begun before the first failure one counts.
    func fail(_ reason: String, isTrial: Bool, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard isTrial || state.failures == 0 else { return }
            state.notBefore = now + Self.backoff.pause(after: state.failures)
            state.failures += 1
            state.reason = reason
            state.isTried = false
        }
    }

    /// A call has had no answer. The next caller tries a new connection at once, and no other beside it.
    func suspect(_ reason: String) {
        state.withLock { state in
            guard state.failures == 0 else { return }
            (state.failures, state.reason) = (1, reason)
        }
    }
}
