// SPDX-License-Identifier: Apache-2.0
import HTTP
import Store
import System

/// One password that is to be checked, for all requests that bring it at the same time.
final class LogInAttempt: Sendable {
    /// What requests have in common that share one attempt.
    struct Key: Hashable, Sendable {
        let credentials: CredentialCache.Fingerprint
        let network: ClientNetwork
    }

    enum Outcome: Sendable {
        case right, wrong
        /// The password was not looked at.
        case notMade
    }

    /// Requests that may share one: of one user and one network.
    static let maximumRequests = 256

    private struct State {
        var outcome: Outcome?
        var requests = 0
    }

    let key: Key
    /// Where it comes from, as far as many attempts are concerned.
    let site: ClientNetwork
    /// Whether some user has logged in from its network before. Not whether this one has: how long an attempt waits must not
    /// tell whose network it is.
    let isFromKnownNetwork: Bool
    /// When it is refused if it has not been its turn.
    let deadline: Deadline
    /// The user as they were before; nil where no user has that name.
    let user: User?
    /// Hashes the password; whether it is right.
    let verify: @Sendable () -> Bool
    private let record: @Sendable (Outcome) -> Void
    private let state = Lock(State())
    private let completion = Completion()

    /// - Parameter record: called once with the outcome, before any request learns of it.
    init(
        _ key: Key, site: ClientNetwork, isFromKnownNetwork: Bool, deadline: Deadline, user: User?,
        verify: @escaping @Sendable () -> Bool, record: @escaping @Sendable (Outcome) -> Void
    ) {
        (self.key, self.site, self.deadline, self.user) = (key, site, deadline, user)
        self.isFromKnownNetwork = isFromKnownNetwork
        (self.verify, self.record) = (verify, record)
    }

    /// One more request waits for it.
    /// - Returns: false when too many do.
    func join() -> Bool {
        state.withLock { state in
            guard state.requests < Self.maximumRequests else { return false }
            state.requests += 1
            return true
        }
    }

    /// Nil until it has ended.
    var outcome: Outcome? { state.withLock(\.outcome) }

    func onEnd(_ resume: @escaping @Sendable () -> Void) { completion.onEnd(resume) }

    /// Returns when it has ended, or at its deadline, whichever is first.
    func wait() { completion.wait(until: deadline) }

    /// Records the outcome; to be called once, and then `end`.
    func note(_ outcome: Outcome) { record(outcome) }

    /// Lets the requests go on.
    func end(_ outcome: Outcome) {
        state.withLock { $0.outcome = outcome }
        completion.end()
    }
}

/// One request that waits for an attempt, alone or with others.
final class LogInWait: Postponement {
    let attempt: LogInAttempt
    let began = ContinuousClock.now

    init(_ attempt: LogInAttempt) { self.attempt = attempt }

    var source: String { attempt.site.text }

    func onEnd(_ resume: @escaping @Sendable () -> Void) { attempt.onEnd(resume) }
}
