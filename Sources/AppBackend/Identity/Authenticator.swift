// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
package import Logging
package import Store
import System
package import Text

/// Decides whether credentials are those of a user.
package protocol Authenticator: Sendable {
    /// - Parameter address: the peer's address, for counting failures.
    /// - Returns: the user; nil when there is no such user or the password is wrong, without a hint which.
    /// - Throws: `Problem` 429 or 503, when it was not even tried; `StoreError`.
    func authenticate(_ credentials: BasicCredentials, address: String) throws -> Principal?

    /// Who has the name at present, and what that user's sessions depend on.
    /// - Returns: nil, when there is no such user; then there is no session either.
    /// - Throws: `StoreError`.
    func account(of name: UserName) throws -> Account?
}

/// A user as log-ins see it.
package struct Account: Sendable {
    let principal: Principal
    /// When it changes, the user's sessions end.
    let credentialVersion: String

    package init(_ principal: Principal, credentialVersion: String) {
        self.principal = principal
        self.credentialVersion = credentialVersion
    }
}

extension Authenticator {
    /// The account that the owner's is, as long as it is the one that has its name.
    func account(ofOwner owner: String) throws -> Account? {
        guard let name = UserName(User.name(ofOwner: owner)), let account = try account(of: name),
            account.principal.owner.hasSameBytes(as: owner)
        else { return nil }
        return account
    }
}

extension User {
    var principal: Principal { Principal(name: name, owner: owner, record: self) }
}

/// The users of the store, with real password hashes.
package final class UserAuthenticator: Authenticator {
    /// How long the hashes are kept that stand in for users who do not exist, in seconds, and how many.
    static let decoySeconds: Int64 = 60
    static let maximumDecoys = 256

    /// A log-in so soon after the one that was noted last is not noted, in seconds: each costs a line in the store.
    static let logInPauseSeconds: Int64 = 900

    private let store: any StateStore
    private let cache = CredentialCache()
    private let throttle = LoginThrottle()
    private let accounts = AccountGuard()
    private let slots: HashingSlots
    private let decoys = Lock<(hashes: [String], until: Int64)>(([], .min))
    private let metrics: (any LogInCounter)?
    private let logger: Logger?
    private let now: @Sendable () -> Timestamp
    /// Checked when there is no user at all, so that the answer takes as long. Made when it is first needed: it costs
    /// as much as a log-in, and a start should not.
    private let decoy = Lock<String?>(nil)

    /// - Parameters:
    ///   - logger: gets a line for each account that is being guessed at.
    ///   - waitSeconds: how long an attempt waits for others, in seconds, before it is refused.
    package init(
        store: any StateStore, metrics: (any LogInCounter)? = nil, logger: Logger? = nil,
        waitSeconds: Int = HashingSlots.waitSeconds, now: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.metrics = metrics
        self.logger = logger
        slots = HashingSlots(waitSeconds: waitSeconds)
        self.now = now
    }

    package func authenticate(_ credentials: BasicCredentials, address: String) throws -> Principal? {
        let time = now().seconds
        guard let name = UserName(credentials.name) else { return try reject(credentials, address, time) }
        guard let user = try store.user(name.description) else { return try reject(credentials, address, time) }
        let fingerprint = cache.fingerprint(name: user.name, password: credentials.password, hash: user.passwordHash)
        let isRemembered = cache.contains(fingerprint, now: time)
        metrics?.count(isRemembered ? .remembered : .notRemembered)
        if isRemembered {
            accounts.noteRemembered(name: user.owner, address: address, now: time)
            return user.principal
        }
        guard try verify(credentials, of: user.owner, against: user.passwordHash, address, time) else { return nil }
        // The attempt may have waited: for a password or rights of before there is no log-in.
        guard let current = try store.user(name.description), current.owner.hasSameBytes(as: user.owner),
            current.passwordHash == user.passwordHash
        else { return nil }
        cache.insert(fingerprint, now: time)
        noteLogIn(current, Timestamp(seconds: time))
        return current.principal
    }

    /// A log-in shall not fail because it cannot be noted.
    private func noteLogIn(_ user: User, _ time: Timestamp) {
        let last = user.lastLogInAt ?? Timestamp(seconds: .min)
        // A clock that was set back must not keep a later time for good.
        guard last + Self.logInPauseSeconds <= time || last > time else { return }
        try? store.noteLogIn(user, at: time)
    }

    /// Sessions depend on the hash of the password, which is another one also when the same password is set again.
    package func account(of name: UserName) throws -> Account? {
        try store.user(name.description).map { Account($0.principal, credentialVersion: $0.passwordHash) }
    }

    /// No such user: hash all the same. Which user's hash decides by the name, so that the times of names that do
    /// not exist are spread like those of names that do, whatever kinds of hashes were imported.
    private func reject(_ credentials: BasicCredentials, _ address: String, _ time: Int64) throws -> Principal? {
        let hash = try decoyHash(for: credentials.name, time)
        _ = try verify(credentials, against: hash, address, time, isDecoy: true)
        return nil
    }

    private func decoyHash(for name: String, _ time: Int64) throws -> String {
        let hashes = try decoys.withLock { decoys in
            if time >= decoys.until || decoys.until > time + Self.decoySeconds {
                decoys = (try store.users().prefix(Self.maximumDecoys).map(\.passwordHash), time + Self.decoySeconds)
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

    /// Tries one password, slowly: every attempt is counted, and only so many are at it.
    /// - Parameter owner: of the user; nil: there is none of the name. What a former user of the name did counts for that one.
    private func verify(
        _ credentials: BasicCredentials, of owner: String? = nil, against hash: String, _ address: String,
        _ time: Int64,
        isDecoy: Bool = false
    ) throws(Problem) -> Bool {
        let name = UserName(credentials.name)?.description ?? ""
        let account = owner ?? name
        let network = ClientNetwork(address)
        switch throttle.admit(name: name, network: network, now: time) {
        case .refused(let seconds):
            metrics?.count(.throttled)
            throw Problem(.tooManyRequests, "Too many failed log-ins.", retryAfter: seconds)
        case .busy:
            metrics?.count(.busy)
            throw Self.tooManyAtOnce
        case .admitted: break
        }
        let isCounted: Bool
        switch accounts.admit(name: account, network: network, now: time) {
        case .refused(let seconds):
            throttle.recordResult(name: name, network: network, isFailure: false)
            metrics?.count(.delayed)
            throw Problem(.tooManyRequests, "Too many failed log-ins.", retryAfter: seconds)
        case .admitted(let counted): isCounted = counted
        }
        let isRight = slots.run(from: address) { PasswordHash.verify(credentials.password, hash) && !isDecoy }
        throttle.recordResult(name: name, network: network, isFailure: isRight == false)
        let isNews = accounts.recordResult(
            name: account, network: network, isCounted: isCounted, AccountGuard.Outcome(isRight), isUser: !isDecoy,
            now: time)
        if isNews { reportGuessing(name) }
        metrics?.count(isRight.map { $0 ? .verified : .failed } ?? .busy)
        guard let isRight else { throw Self.tooManyAtOnce }
        return isRight
    }

    /// - Parameter name: a user's, so that no password is logged that was typed in the place of a name.
    private func reportGuessing(_ name: String) {
        metrics?.count(.guessed)
        logger?.warning(
            "log-in: too many wrong passwords for one user; networks where they did not log in lately must wait",
            metadata: ["user": "\(name)"])
    }

    private static let tooManyAtOnce = Problem(
        .serviceUnavailable, "Too many log-ins at once.", retryAfter: 1)
}

/// The tutorial's own check: a request whose password equals the name is that user's. Not a real authentication scheme;
/// it exists for trying the tutorials' clients, and only `auth.method: test` turns it on.
package struct AuthenticationTestHandler: Authenticator {
    private let store: any StateStore

    /// - Parameter store: may have users of these names, whose rights count; they need not be there.
    package init(store: any StateStore) {
        self.store = store
    }

    package func authenticate(_ credentials: BasicCredentials, address: String) throws -> Principal? {
        guard credentials.name.hasSameBytes(as: credentials.password) else { return nil }
        return try UserName(credentials.name).map(principal)
    }

    /// The credentialVersion is not a hash of any password, so that no session outlives the change to real users, or back.
    package func account(of name: UserName) throws -> Account? {
        Account(try principal(name), credentialVersion: "test")
    }

    private func principal(_ name: UserName) throws(StoreError) -> Principal {
        let name = name.description
        return Principal(name: name, owner: name, record: try store.user(name))
    }
}
