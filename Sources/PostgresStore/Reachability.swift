// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How long a server that could not be reached is left alone. Callers fail at once meanwhile, instead of queueing up, and
/// a server that comes back is not met by a crowd: one caller at a time tries.
final class Reachability: Sendable {
    private struct State {
        var failures = 0
        var reason = ""
        var notBefore: ContinuousClock.Instant?
    }

    private static let firstPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(2)

    private let state = Mutex(State())

    /// - Throws: `unreachable`, when it is not time yet.
    func begin() throws(CallFailure) {
        let refusal = state.withLock { state -> String? in
            guard state.failures > 0 else { return nil }
            let now = ContinuousClock.now
            if let notBefore = state.notBefore, now < notBefore { return state.reason }
            state.notBefore = now + Self.pause(after: state.failures)
            return nil
        }
        if let refusal { throw .unreachable(reason: refusal) }
    }

    func succeed() { state.withLock { $0 = State() } }

    func fail(_ reason: String) {
        state.withLock { state in
            state.failures += 1
            state.reason = reason
            state.notBefore = .now + Self.pause(after: state.failures)
        }
    }

    /// Twice as long each time, and up to a quarter more, so that not all processes come at once.
    private static func pause(after failures: Int) -> Duration {
        let pause = min(longestPause, firstPause * (1 << min(failures, 10)))
        return pause + pause * Double.random(in: 0...0.25)
    }
}
