// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import HTTP
package import Logging
package import Store
package import System
package import Text

/// The users of the store, with real password hashes.
package final class UserAuthenticator: PasswordAuthenticator {
    /// How long the hashes are kept that replace those of users who do not exist, in seconds, and how many.
    static let decoySeconds: Int64 = 60
    static let maximumDecoys = 256

    private let store: any StateStore
    private let cache = CredentialCache()
    private let throttle = LoginThrottle()
    private let accounts = AccountGuard()
    private let limits: LogInLimits
    private let queue: LogInQueue
    private let decoys = Lock<(hashes: [String], until: Int64)>(([], .min))
    private let metrics: (any LogInCounter)?
    private let logger: Logger?
    private let failures: FailedLogInLog
    private let now: @Sendable () -> Timestamp
    private let clock: MonotonicClock
    /// Checked when there is no user at all, so that the answer takes as long. Made when it is first needed: it costs
    /// as much as a log-in, and a start should not.
    private let decoy = Lock<String?>(nil)

    /// - Parameters:
    ///   - logger: gets a line for each wrong password, and one for each account that is being guessed at.
    package init(
        store: any StateStore, metrics: (any LogInCounter)? = nil, logger: Logger? = nil,
        limits: LogInLimits = LogInLimits(), now: @escaping @Sendable () -> Timestamp,
        clock: @escaping MonotonicClock = { .now }
    ) {
        self.store = store
        self.metrics = metrics
        self.logger = logger
        failures = FailedLogInLog(logger)
        self.limits = limits
        queue = LogInQueue(limits)
        self.now = now
        self.clock = clock
    }

    package func authenticate(_ credentials: BasicCredentials, of request: Request) throws -> Principal? {
        if case .resumed(let postponement) = request.postponing, let wait = postponement as? LogInWait {
            return try conclude(wait.attempt)
        }
        let logIn = try logIn(credentials, from: request.remoteAddress ?? "")
        if let user = logIn.user {
            let isRemembered = isRemembered(logIn)
            metrics?.count(isRemembered ? .remembered : .notRemembered)
            if isRemembered {
                accounts.noteRemembered(name: user.owner, address: logIn.address, now: logIn.time)
                return user.principal
            }
        }
        let attempt = try begin(logIn)
        guard attempt.join() else { throw Self.tooManyAtOnce }
        if attempt.outcome != .notMade, case .available = request.postponing { throw Postponed(LogInWait(attempt)) }
        attempt.wait()
        return try conclude(attempt)
    }

    /// Where a password is being guessed, what is remembered must not tell whether a guess is right, however often it is
    /// asked: there an attempt is made, which is counted. So it is at a network that is new, which is then known.
    private func isRemembered(_ logIn: LogIn) -> Bool {
        if cache.contains(logIn.fingerprint, now: logIn.time) { return true }
        let network = ClientNetwork(logIn.address)
        return cache.contains(logIn.fingerprint, at: network, now: logIn.time)
            && !throttle.refuses(name: logIn.name, address: logIn.address, now: logIn.time)
            && !accounts.delays(name: logIn.account, address: logIn.address, now: logIn.time)
    }

    private func logIn(_ credentials: BasicCredentials, from address: String) throws -> LogIn {
        let time = clock().seconds
        // Who may not log in, or has no password, is answered like who is not there.
        let name = UserName(credentials.name)?.description
        var user = try name.flatMap { try store.user($0) }
        if let found = user, !found.mayLogIn(now()) || found.passwordHash.isEmpty { user = nil }
        let hash = try user?.passwordHash ?? decoyHash(for: credentials.name, time)
        return LogIn(
            name: name ?? "", user: user, password: credentials.password, hash: hash,
            fingerprint: cache.fingerprint(
                name: user?.name ?? credentials.name, password: credentials.password, hash: hash),
            address: address, time: time)
    }

    /// - Throws: `Problem` 503, when the password was not looked at in time.
    private func conclude(_ attempt: LogInAttempt) throws -> Principal? {
        switch attempt.outcome ?? .notMade {
        case .notMade: throw Self.tooManyAtOnce
        case .wrong: return nil
        case .right: break
        }
        // The attempt may have waited: for a password or rights of before there is no log-in.
        guard let user = attempt.user, let current = try store.user(user.name),
            current.owner.hasSameBytes(as: user.owner), current.passwordHash == user.passwordHash,
            current.mayLogIn(now())
        else { return nil }
        return current.principal
    }

    package func account(of name: UserName) throws -> Account? { try store.user(name.description)?.account(now()) }

    /// No such user: hash anyway. Which user's hash decides by the name, so that the times of names that do
    /// not exist are spread like those of names that do, whatever kinds of hashes were imported.
    private func decoyHash(for name: String, _ time: Int64) throws -> String {
        let hashes = try decoys.withLock { decoys in
            if time >= decoys.until {
                let hashes = try store.users().map(\.passwordHash).filter { !$0.isEmpty }
                decoys = (Array(hashes.prefix(Self.maximumDecoys)), time + Self.decoySeconds)
            }
            return decoys.hashes
        }
        guard !hashes.isEmpty else { return try lastDecoy() }
        return hashes[Int(cache.fingerprint(name: name, password: "", hash: "").low % UInt64(hashes.count))]
    }

    private func lastDecoy() throws -> String {
        try decoy.withLock { decoy in
            if let decoy { return decoy }
            let made = try PasswordHash.make("decoy")
            decoy = made
            return made
        }
    }

    /// One password is to be hashed: every attempt is counted, and only so many may wait.
    /// - Throws: `Problem` 429 or 503, when it may not even be tried.
    private func begin(_ logIn: LogIn) throws(Problem) -> LogInAttempt {
        let network = ClientNetwork(logIn.address)
        let key = LogInAttempt.Key(credentials: logIn.fingerprint, network: network)
        return try queue.enter(key) { () throws(Problem) in
            let site = ClientNetwork(logIn.address, .site)
            let isCounted = try admit(logIn, network, site)
            return LogInAttempt(
                key, site: site,
                isFromKnownNetwork: accounts.knows(network, now: logIn.time),
                deadline: .after(.seconds(limits.seconds)), user: logIn.user,
                verify: { PasswordHash.verify(logIn.password, logIn.hash) && logIn.user != nil },
                record: { self.record($0, logIn, network, site, isCounted: isCounted) })
        }
    }

    /// - Returns: whether the attempt counts against its user, who is not known at that network.
    private func admit(_ logIn: LogIn, _ network: ClientNetwork, _ site: ClientNetwork) throws(Problem) -> Bool {
        switch throttle.admit(name: logIn.name, network: network, now: logIn.time) {
        case .refused(let seconds):
            metrics?.count(.throttled)
            throw Problem(.tooManyFailedLogIns, "Too many failed log-ins.", retryAfter: seconds)
        case .busy:
            metrics?.count(.busy)
            throw Self.tooManyAtOnce
        case .admitted: break
        }
        switch accounts.admit(name: logIn.account, network: network, site: site, now: logIn.time) {
        case .refused(let seconds):
            throttle.recordResult(name: logIn.name, network: network, isFailure: false)
            metrics?.count(.delayed)
            throw Problem(.tooManyFailedLogIns, "Too many failed log-ins.", retryAfter: seconds)
        case .admitted(let isCounted): return isCounted
        }
    }

    private func record(
        _ outcome: LogInAttempt.Outcome, _ logIn: LogIn, _ network: ClientNetwork, _ site: ClientNetwork,
        isCounted: Bool
    ) {
        throttle.recordResult(name: logIn.name, network: network, isFailure: outcome == .wrong)
        let isNews = accounts.recordResult(
            name: logIn.account, network: network, site: site, isCounted: isCounted, outcome,
            isUser: logIn.user != nil, now: logIn.time)
        if isNews { reportGuessing(logIn.name) }
        switch outcome {
        case .right:
            cache.insert(logIn.fingerprint, now: logIn.time)
            cache.insert(logIn.fingerprint, at: network, now: logIn.time)
            metrics?.count(.verified)
        case .wrong:
            metrics?.count(.failed)
            failures.report(address: logIn.address, user: logIn.user?.name, now: logIn.time)
        case .notMade: metrics?.count(.busy)
        }
    }

    /// - Parameter name: a user's, so that no password is logged that was typed in the place of a name.
    private func reportGuessing(_ name: String) {
        metrics?.count(.guessed)
        logger?.warning(
            "log-in: too many wrong passwords for one user; networks where they did not log in lately must wait",
            metadata: ["user": "\(name)"])
    }

    private static let tooManyAtOnce = Problem(
        .overloaded, "Too many log-ins at once.", retryAfter: 1)
}

/// The credentials of one request, and what they are checked against.
private struct LogIn: Sendable {
    /// As users are called; empty when no user can be called so.
    let name: String
    /// Nil: no user has that name.
    let user: User?
    let password: String
    let hash: String
    let fingerprint: CredentialCache.Fingerprint
    let address: String
    /// When it came, in seconds on the clock that cannot be set.
    let time: Int64

    /// Under which failures are counted. What a former user of the name did counts for that one.
    var account: String { user?.owner ?? name }
}

/// What happened to the credentials of a request.
package enum LogInEvent: Sendable {
    /// They were right a moment ago.
    case remembered
    /// They had to be checked against the store, for the first time or once more.
    case notRemembered
    case verified, failed, throttled, delayed, busy
    /// One user's password was tried too often, from any networks.
    case guessed
}

/// Counts log-ins for the operator.
package protocol LogInCounter: Sendable {
    /// Called on the request's thread; must not block.
    func count(_ event: LogInEvent)
}
