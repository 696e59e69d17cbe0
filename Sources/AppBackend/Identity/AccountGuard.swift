// SPDX-License-Identifier: Apache-2.0
import Synchronization
import System

/// Slows down guessing of one account's password from many networks, which no count per network sees.
///
/// After so many wrong passwords for one name, from whatever networks, each further one costs a delay, which grows. The
/// networks from which that user logged in lately are exempt, so that a stranger cannot lock a user out where they are;
/// from elsewhere the user waits as the stranger does. Names that do not exist are treated like those that do.
final class AccountGuard: Sendable {
    /// Wrong passwords for one name, from all networks together, that cost no delay.
    static let freeFailures = 20
    /// The longest delay between two attempts, in seconds. The first is one second, and each failure doubles it.
    static let maximumDelay: Int64 = 300
    /// Failures are forgotten when there was no further one for so long, in seconds.
    static let forgetSeconds: Int64 = 3_600
    /// Names whose failures are remembered; beyond it the half with the fewest is dropped. Each failure costs its maker a
    /// hash.
    static let maximumNames = 10_000
    /// Networks that are remembered for one user; a new one replaces the one used longest ago.
    static let maximumNetworks = 8
    /// Users whose networks are remembered, and networks where some user is known; beyond it the half that logged in longest
    /// ago is dropped.
    static let maximumUsers = 10_000
    /// For how long a network is remembered, in seconds.
    static let networkSeconds: Int64 = 30 * 86_400
    /// Seconds between two accounts that are reported to the operator.
    static let reportSeconds: Int64 = 10

    enum Admission: Equatable {
        /// It may be made; `recordResult` when it was, or could not be. From where the user is known it is not counted.
        case admitted(isCounted: Bool)
        /// Not before so many seconds.
        case refused(seconds: Int)
    }

    fileprivate struct Failures {
        var count = 0
        /// Admitted and without a result.
        var pending = 0
        var lastAt: Int64
        /// No attempt before it, in seconds.
        var heldUntil = Int64.min
        var isReported = false
    }

    fileprivate struct State {
        var failures: [String: Failures] = [:]
        /// When a user's right password last came from a network.
        var networks: [String: [ClientNetwork: Int64]] = [:]
        /// When any user's did.
        var known: [ClientNetwork: Int64] = [:]
        var reportedAt: Int64?
    }

    private let state = Lock(State())
    /// Until when some account is taken to be guessed at, in seconds.
    private let guessedUntil = Atomic(Int64.min)

    /// Asks for one attempt.
    /// - Parameter now: seconds of any clock that only the caller must keep to.
    func admit(name: String, network: ClientNetwork, now: Int64) -> Admission {
        state.withLock { state in
            guard !state.knows(network, of: name, now) else { return .admitted(isCounted: false) }
            var failures = state.failures[name] ?? Failures(lastAt: now)
            if failures.isOver(now) { failures = Failures(pending: failures.pending, lastAt: now) }
            // Attempts at the same moment count each other, so that no more are made than would be one after the other.
            let excess = failures.count + failures.pending - Self.freeFailures
            if excess >= 0 {
                if let seconds = failures.secondsHeld(now) { return .refused(seconds: seconds) }
                failures.heldUntil = now + Self.delay(after: excess)
                guessedUntil.store(now + Self.forgetSeconds, ordering: .relaxed)
            }
            if state.failures.count >= Self.maximumNames, state.failures[name] == nil { state.evictFailures(now) }
            failures.pending += 1
            state.failures[name] = failures
            return .admitted(isCounted: true)
        }
    }

    /// The attempt that was admitted has ended.
    /// - Parameters:
    ///   - isCounted: as its admission says.
    ///   - isUser: whether there is a user of that name.
    /// - Returns: whether the operator should be told now that this account is being guessed at.
    func recordResult(
        name: String, network: ClientNetwork, isCounted: Bool, _ outcome: LogInAttempt.Outcome, isUser: Bool, now: Int64
    ) -> Bool {
        state.withLock { state in
            if outcome == .right { state.remember(network, of: name, now) }
            guard isCounted, var failures = state.failures[name] else { return false }
            failures.pending = max(0, failures.pending - 1)
            switch outcome {
            case .right: break
            case .notMade: failures.heldUntil = .min
            case .wrong:
                failures.count += 1
                failures.lastAt = now
            }
            let isNews = isUser && failures.count >= Self.freeFailures && !failures.isReported && state.mayReport(now)
            if isNews { failures.isReported = true }
            state.failures[name] = failures.count + failures.pending > 0 ? failures : nil
            return isNews
        }
    }

    /// Whether attempts from that address cost a delay, because the account is being guessed at.
    func delays(name: String, address: String, now: Int64) -> Bool {
        guard now < guessedUntil.load(ordering: .relaxed) else { return false }
        return state.withLock { state in
            guard let failures = state.failures[name], !failures.isOver(now) else { return false }
            return failures.count + failures.pending >= Self.freeFailures
                && !state.knows(ClientNetwork(address), of: name, now)
        }
    }

    /// Whether a right password came from that network lately, of whichever user.
    func knows(_ network: ClientNetwork, now: Int64) -> Bool {
        state.withLock { state in state.known[network].map { now - $0 < Self.networkSeconds } ?? false }
    }

    /// A password that was found to be right before came from there. While no account is being guessed at this is not
    /// written down: it is called for each request.
    func noteRemembered(name: String, address: String, now: Int64) {
        guard now < guessedUntil.load(ordering: .relaxed) else { return }
        state.withLock { $0.remember(ClientNetwork(address), of: name, now) }
    }

    /// 1, 2, 4 … seconds.
    private static func delay(after excess: Int) -> Int64 { min(maximumDelay, 1 << Int64(min(excess, 16))) }
}

extension AccountGuard.Failures {
    fileprivate func isOver(_ now: Int64) -> Bool {
        now < lastAt || now - lastAt >= AccountGuard.forgetSeconds
    }

    /// Nil when it is not held. A clock that was set back must not hold it for longer than ever.
    fileprivate func secondsHeld(_ now: Int64) -> Int? {
        heldUntil > now && heldUntil <= now + AccountGuard.maximumDelay ? Int(clamping: heldUntil - now) : nil
    }
}

extension AccountGuard.State {
    fileprivate func knows(_ network: ClientNetwork, of name: String, _ now: Int64) -> Bool {
        guard let time = networks[name]?[network] else { return false }
        return now - time < AccountGuard.networkSeconds
    }

    fileprivate mutating func remember(_ network: ClientNetwork, of name: String, _ now: Int64) {
        if networks.count >= AccountGuard.maximumUsers, networks[name] == nil {
            networks.keepHighest(AccountGuard.maximumUsers / 2) { $0.values.max() ?? .min }
        }
        var known = networks[name] ?? [:]
        known[network] = now
        if known.count > AccountGuard.maximumNetworks, let oldest = known.min(by: { $0.value < $1.value }) {
            known[oldest.key] = nil
        }
        networks[name] = known
        self.known[network] = now
        if self.known.count > AccountGuard.maximumUsers { self.known.keepHighest(AccountGuard.maximumUsers / 2) { $0 } }
    }

    fileprivate mutating func evictFailures(_ now: Int64) {
        failures = failures.filter { !$0.value.isOver(now) || $0.value.pending > 0 }
        guard failures.count >= AccountGuard.maximumNames else { return }
        failures.keepHighest(AccountGuard.maximumNames / 2) { $0.count }
    }

    /// Not more often than the operator can read.
    fileprivate mutating func mayReport(_ now: Int64) -> Bool {
        if let last = reportedAt, now >= last, now - last < AccountGuard.reportSeconds { return false }
        reportedAt = now
        return true
    }
}
