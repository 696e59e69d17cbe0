// SPDX-License-Identifier: Apache-2.0
import Synchronization
import System

/// Slows down guessing of one account's password from many networks, which no count per network sees, and of one password
/// for many accounts, which no count per name sees.
///
/// After so many wrong passwords for one name, from whatever networks, each further one costs a delay, which grows. The
/// networks from which that user logged in lately are exempt, so that a stranger cannot lock a user out where they are;
/// from elsewhere the user waits as the stranger does. Names that do not exist are treated like those that do.
/// The wrong passwords of one site, for whatever names, are counted in the same way, with a short delay: behind its
/// address there may be many people.
final class AccountGuard: Sendable {
    /// Wrong passwords for one name, from all networks together, that cost no delay.
    static let freeFailures = 20
    /// The delays between two attempts.
    static let delays = Backoff(doubling: .seconds(1), to: .seconds(300))
    /// The same for one site and all names together.
    static let freeSiteFailures = 100
    static let siteDelays = Backoff(doubling: .seconds(1), to: .seconds(8))
    /// Failures are forgotten when there was no further one for so long, in seconds.
    static let forgetSeconds: Int64 = 3_600
    /// Names and sites whose failures are remembered; beyond it the half with the fewest is dropped. Each failure costs
    /// its maker a hash.
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

    /// The wrong passwords that are counted together.
    fileprivate enum Subject: Hashable {
        case name(String)
        case site(ClientNetwork)

        /// Those of one attempt.
        static func all(_ name: String, _ site: ClientNetwork) -> [Subject] { [.name(name), .site(site)] }

        var freeFailures: Int { if case .name = self { AccountGuard.freeFailures } else { freeSiteFailures } }
        var delays: Backoff { if case .name = self { AccountGuard.delays } else { siteDelays } }
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
        var failures: [Subject: Failures] = [:]
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
    /// - Parameter now: seconds on the clock that cannot be set, as in the other functions.
    func admit(name: String, network: ClientNetwork, site: ClientNetwork, now: Int64) -> Admission {
        state.withLock { state in
            guard !state.knows(network, of: name, now) else { return .admitted(isCounted: false) }
            let subjects = Subject.all(name, site)
            if let seconds = subjects.compactMap({ state.secondsHeld($0, now) }).max() {
                return .refused(seconds: seconds)
            }
            for subject in subjects {
                var failures = state.current(subject, now)
                if let excess = failures.excess(of: subject) {
                    failures.heldUntil = now + subject.delays.seconds(after: excess)
                    if case .name = subject { guessedUntil.store(now + Self.forgetSeconds, ordering: .relaxed) }
                }
                let isFull = state.failures.count >= Self.maximumNames && state.failures[subject] == nil
                if isFull { state.evictFailures(now) }
                failures.pending += 1
                state.failures[subject] = failures
            }
            return .admitted(isCounted: true)
        }
    }

    /// The attempt that was admitted has ended.
    /// - Parameters:
    ///   - isCounted: as its admission says.
    ///   - isUser: whether there is a user of that name.
    /// - Returns: whether the operator should be told now that this account is being guessed at.
    func recordResult(
        name: String, network: ClientNetwork, site: ClientNetwork, isCounted: Bool, _ outcome: LogInAttempt.Outcome,
        isUser: Bool, now: Int64
    ) -> Bool {
        state.withLock { state in
            switch outcome {
            case .right: state.remember(network, of: name, now)
            // Until the next right one: a user who has logged in from many networks could fill the line of those that go
            // first.
            case .wrong: state.known[network] = nil
            case .notMade: break
            }
            guard isCounted else { return false }
            for subject in Subject.all(name, site) { state.record(outcome, of: subject, now) }
            guard isUser, var failures = state.failures[.name(name)], failures.count >= Self.freeFailures,
                !failures.isReported, state.mayReport(now)
            else { return false }
            failures.isReported = true
            state.failures[.name(name)] = failures
            return true
        }
    }

    /// Whether attempts from that address cost a delay, because the account is being guessed at.
    func delays(name: String, address: String, now: Int64) -> Bool {
        guard now < guessedUntil.load(ordering: .relaxed) else { return false }
        return state.withLock { state in
            guard let failures = state.failures[.name(name)], !failures.isOver(now) else { return false }
            return failures.excess(of: .name(name)) != nil && !state.knows(ClientNetwork(address), of: name, now)
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
}

extension AccountGuard.Failures {
    fileprivate func isOver(_ now: Int64) -> Bool {
        now - lastAt >= AccountGuard.forgetSeconds
    }

    /// How many attempts are beyond those that cost no delay; nil: none is. For one name, attempts at the same moment count each
    /// other, so that no more are made than would be one after the other. Of one site a thousand users may come at once.
    fileprivate func excess(of subject: AccountGuard.Subject) -> Int? {
        let attempts = if case .name = subject { count + pending } else { count }
        let excess = attempts - subject.freeFailures
        return excess >= 0 ? excess : nil
    }
}

extension AccountGuard.State {
    /// What counts at this moment: what is long ago does not.
    fileprivate func current(_ subject: AccountGuard.Subject, _ now: Int64) -> AccountGuard.Failures {
        let found = failures[subject] ?? AccountGuard.Failures(lastAt: now)
        return found.isOver(now) ? AccountGuard.Failures(pending: found.pending, lastAt: now) : found
    }

    /// Nil when it is not held.
    fileprivate func secondsHeld(_ subject: AccountGuard.Subject, _ now: Int64) -> Int? {
        let failures = current(subject, now)
        guard failures.excess(of: subject) != nil, failures.heldUntil > now else { return nil }
        return Int(clamping: failures.heldUntil - now)
    }

    fileprivate mutating func record(_ outcome: LogInAttempt.Outcome, of subject: AccountGuard.Subject, _ now: Int64) {
        guard var found = failures[subject] else { return }
        found.pending = max(0, found.pending - 1)
        switch outcome {
        case .right: break
        case .notMade: found.heldUntil = .min
        case .wrong:
            found.count += 1
            found.lastAt = now
        }
        failures[subject] = found.count + found.pending > 0 ? found : nil
    }

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
        self.known.halve(above: AccountGuard.maximumUsers) { $0 }
    }

    fileprivate mutating func evictFailures(_ now: Int64) {
        failures = failures.filter { !$0.value.isOver(now) || $0.value.pending > 0 }
        guard failures.count >= AccountGuard.maximumNames else { return }
        failures.keepHighest(AccountGuard.maximumNames / 2) { $0.count }
    }

    /// Not more often than the operator can read.
    fileprivate mutating func mayReport(_ now: Int64) -> Bool {
        if let last = reportedAt, now - last < AccountGuard.reportSeconds { return false }
        reportedAt = now
        return true
    }
}
