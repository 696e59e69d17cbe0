// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// How many log-ins wait to be checked, and for how long.
package struct LogInLimits: Sendable {
    /// Seconds that an attempt waits for others before it is refused.
    package var seconds = 20
    /// Attempts that may wait or be hashed at the same time. One quarter of them is for networks where users have logged in.
    package var attempts = 4096
    /// Passwords that are hashed at the same time: each costs a core and up to 16 MiB.
    package var threads = min(max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))), 4)

    /// Of the attempts, those from other networks.
    var strangers: Int { attempts / 4 * 3 }
    /// Of all attempts, those from one network: one that makes many leaves room for the others.
    var perNetwork: Int { attempts / 4 }

    package init(seconds: Int = 20, attempts: Int = 4096) {
        (self.seconds, self.attempts) = (seconds, attempts)
    }
}

/// Hashes passwords on threads of its own, so that no request holds a worker while it waits.
///
/// The threads exist while there is something to hash. Requests with the same name and password from the same network wait
/// for one hash.
final class LogInQueue: Sendable {
    fileprivate struct State {
        var lines = LogInLines()
        /// Attempts that have not ended.
        var underWay: [LogInAttempt.Key: LogInAttempt] = [:]
        /// How many of these there are from a network.
        var networks: [ClientNetwork: Int] = [:]
        /// Those from networks where no user has logged in.
        var strangerCount = 0
        var threads = 0
    }

    private let limits: LogInLimits
    private let state = Lock(State())

    init(_ limits: LogInLimits) {
        self.limits = limits
    }

    /// Joins the attempt of that key that is under way, or begins one.
    /// - Parameter make: makes an attempt, which may be refused; must not block.
    /// - Returns: an attempt; when there is no room for it, it has ended already.
    /// - Throws: what `make` throws.
    func enter<Failure>(
        _ key: LogInAttempt.Key, _ make: () throws(Failure) -> LogInAttempt
    ) throws(Failure) -> LogInAttempt {
        let (attempt, next) = try state.withLock { (state) throws(Failure) -> (LogInAttempt, Next) in
            if let attempt = state.underWay[key] { return (attempt, .joined) }
            let attempt = try make()
            guard state.admit(attempt, limits) else { return (attempt, .refused) }
            guard state.threads < limits.threads else { return (attempt, .queued) }
            state.threads += 1
            return (attempt, .needsThread)
        }
        switch next {
        case .joined, .queued: break
        case .needsThread: startThread()
        case .refused:
            attempt.note(.notMade)
            attempt.end(.notMade)
        }
        return attempt
    }

    private enum Next {
        case joined, queued, needsThread, refused
    }

    /// Where no thread can be started and none is at work, the caller's does it.
    private func startThread() {
        guard DetachedThread.start({ self.work() }) != 0 else { return }
        let isAlone = state.withLock { state in
            guard state.threads > 1 else { return true }
            state.threads -= 1
            return false
        }
        if isAlone { work() }
    }

    /// Until nothing waits.
    private func work() {
        while let (attempt, overdue) = next() {
            for late in overdue { finish(late, .notMade) }
            if let attempt { finish(attempt, attempt.verify() ? .right : .wrong) }
        }
    }

    /// - Returns: nil when nothing waits; then this thread is not counted any more.
    private func next() -> (LogInAttempt?, overdue: [LogInAttempt])? {
        state.withLock { state in
            let overdue = state.lines.overdue(at: .now)
            let attempt = state.lines.next()
            guard attempt != nil || !overdue.isEmpty else {
                state.threads -= 1
                return nil
            }
            return (attempt, overdue)
        }
    }

    private func finish(_ attempt: LogInAttempt, _ outcome: LogInAttempt.Outcome) {
        // Before it is no longer under way: then the same credentials are remembered.
        attempt.note(outcome)
        state.withLock { $0.remove(attempt) }
        attempt.end(outcome)
    }
}

extension LogInQueue.State {
    /// - Returns: false when there is no room for it.
    fileprivate mutating func admit(_ attempt: LogInAttempt, _ limits: LogInLimits) -> Bool {
        let count = networks[attempt.site, default: 0]
        guard underWay.count < limits.attempts, count < limits.perNetwork else { return false }
        if !attempt.isFromKnownNetwork {
            guard strangerCount < limits.strangers else { return false }
            strangerCount += 1
        }
        networks[attempt.site] = count + 1
        underWay[attempt.key] = attempt
        lines.append(attempt)
        return true
    }

    fileprivate mutating func remove(_ attempt: LogInAttempt) {
        underWay[attempt.key] = nil
        let count = networks[attempt.site, default: 0] - 1
        networks[attempt.site] = count > 0 ? count : nil
        if !attempt.isFromKnownNetwork { strangerCount -= 1 }
    }
}
