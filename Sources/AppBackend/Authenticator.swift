// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Dispatch
import Store

/// Decides whether credentials are somebody's.
package protocol Authenticator: Sendable {
    /// - Parameter address: the peer's address, for counting failures.
    /// - Returns: the user; nil when there is no such user or the password is wrong, without a hint which.
    /// - Throws: `Problem` 429 or 503, when it was not even tried; `StoreError`.
    func authenticate(_ credentials: BasicCredentials, address: String) throws -> UserName?
}

/// The users of the store, with real password hashes.
package final class UserAuthenticator: Authenticator {
    /// Passwords that are hashed at the same time: each costs a core and up to 16 MiB.
    package static let maximumParallelHashes = 2
    /// How long an attempt waits for its turn, in seconds, before it is told to come back.
    static let turnSeconds = 5

    private let store: any StateStore
    private let cache = CredentialCache()
    private let throttle = LoginThrottle()
    private let turns = DispatchSemaphore(value: maximumParallelHashes)
    private let now: @Sendable () -> Timestamp
    /// Checked when there is no user to check, so that the answer takes as long.
    private let decoy: String

    /// - Throws: `PasswordHash.Failure`, when libcrypt can make no hash on this machine.
    package init(store: any StateStore, now: @escaping @Sendable () -> Timestamp) throws {
        self.store = store
        self.now = now
        decoy = try PasswordHash.make("decoy")
    }

    package func authenticate(_ credentials: BasicCredentials, address: String) throws -> UserName? {
        let time = now().seconds
        guard let name = UserName(credentials.name) else { return try reject(credentials, address, time) }
        guard let user = try store.user(name.description) else { return try reject(credentials, address, time) }
        let fingerprint = cache.fingerprint(name: user.name, password: credentials.password, hash: user.passwordHash)
        if cache.contains(fingerprint, now: time) { return name }
        guard try verify(credentials, against: user.passwordHash, address, time) else { return nil }
        cache.insert(fingerprint, now: time)
        return name
    }

    /// No such user: hash all the same. Which user's hash decides by the name, so that the times of names that do
    /// not exist are spread like those of names that do, whatever kinds of hashes were imported.
    private func reject(_ credentials: BasicCredentials, _ address: String, _ time: Int64) throws -> UserName? {
        _ = try verify(credentials, against: try decoyHash(for: credentials.name), address, time, isDecoy: true)
        return nil
    }

    private func decoyHash(for name: String) throws(StoreError) -> String {
        let users = try store.users()
        guard !users.isEmpty else { return decoy }
        let pick = cache.fingerprint(name: name, password: "", hash: "").low % UInt64(users.count)
        return users[Int(pick)].passwordHash
    }

    private func checkThrottle(_ name: String, _ address: String, _ time: Int64) throws(Problem) {
        guard let seconds = throttle.waitingTime(name: name, address: address, now: time) else { return }
        throw Problem(.tooManyRequests, "Too many failed log-ins.", retryAfter: seconds)
    }

    private func verify(
        _ credentials: BasicCredentials, against hash: @autoclosure () throws -> String, _ address: String,
        _ time: Int64, isDecoy: Bool = false
    ) throws -> Bool {
        let name = UserName(credentials.name)?.description ?? ""
        try checkThrottle(name, address, time)
        guard turns.wait(timeout: .now() + .seconds(Self.turnSeconds)) == .success else {
            throw Problem(.serviceUnavailable, "Too many log-ins at once.", retryAfter: 1)
        }
        defer { turns.signal() }
        // Again: those who had their turn before may have used up the attempts.
        try checkThrottle(name, address, time)
        let isRight = PasswordHash.verify(credentials.password, try hash())
        if isRight && !isDecoy { return true }
        throttle.recordFailure(name: name, address: address, now: time)
        return false
    }
}

/// The tutorial's own check: whoever gives his name as password is that user. Not a real authentication scheme; it
/// exists for trying the tutorials' clients, and nobody gets it without asking for `auth.method: test`.
package struct AuthenticationTestHandler: Authenticator {
    package init() {}

    package func authenticate(_ credentials: BasicCredentials, address: String) -> UserName? {
        guard credentials.name == credentials.password else { return nil }
        return UserName(credentials.name)
    }
}
