// SPDX-License-Identifier: Apache-2.0
package import Store
package import Text

/// What an operator does with users, by a command or by the API: one way for both, so that they cannot differ.
package struct UserAdministration: Sendable {
    let store: any StateStore
    /// Those of the configuration.
    let roles: [Role]
    /// Those that a user gets who is added without any.
    let newUserRoles: [String]
    /// Whether only an issuer's user can have that name. Such a user needs no record.
    let hasIssuer: @Sendable (String) -> Bool
    let now: @Sendable () -> Timestamp

    package init(
        store: any StateStore, policy: TagPolicy = TagPolicy(),
        hasIssuer: @escaping @Sendable (String) -> Bool = { _ in false }, now: @escaping @Sendable () -> Timestamp
    ) {
        (self.store, self.hasIssuer, self.now) = (store, hasIssuer, now)
        (roles, newUserRoles) = (policy.roles, policy.newUserRoles)
    }

    // MARK: Finding

    /// The name as the store has it. A user whom an older version has let in under a name that is refused now can still be
    /// looked at and removed.
    /// - Throws: `AdministrationError.badName`; `StoreError`.
    package func stored(_ name: String) throws -> String {
        if let name = UserName(name) { return name.description }
        guard try store.userRecord(name) != nil else { throw AdministrationError.badName }
        return name
    }

    /// The user of that name. An issuer's user needs no record: one without is what a record begins with. It has no password,
    /// and the roles of a new user.
    /// - Throws: `AdministrationError`, when no user has it; `StoreError`.
    package func existing(_ name: String) throws -> User {
        let stored = try stored(name)
        if let user = try store.user(stored) { return user }
        guard hasIssuer(stored), UserName(new: stored) != nil, try store.userRecord(stored) == nil else {
            throw AdministrationError.noUser(name)
        }
        var user = newcomer(stored)
        user.lastSeenAt = try store.lastSeen(user.owner, now: now())?.seenAt
        return user
    }

    /// A user of that name who is not stored, as `add` makes one without options.
    package func newcomer(_ name: String) -> User {
        var user = User(name: name, passwordHash: "")
        user.roles = newUserRoles
        return user
    }

    /// Whether a user of that name was removed, and none was added since.
    /// - Throws: `AdministrationError.badName`; `StoreError`.
    package func wasRemoved(_ name: String) throws -> Bool {
        try store.userRecord(stored(name))?.removedAt != nil
    }

    /// Whether this user may administer, and no other user who may log in.
    package func isOnlyAdministrator(_ name: String) throws -> Bool {
        let names = roles.filter(\.administers).map(\.name)
        let time = now()
        let administrators = try store.users().filter { $0.mayLogIn(time) && $0.roles.contains(where: names.contains) }
        return try administrators.count == 1 && administrators.first?.name == stored(name)
    }

    /// - Returns: the name as a user is called who may be new.
    /// - Throws: `AdministrationError.badName`.
    package static func checked(_ name: String) throws(AdministrationError) -> String {
        guard let name = UserName(new: name) else { throw .badName }
        return name.description
    }

    /// - Throws: `AdministrationError.noRole`, for one that the configuration does not have.
    package func check(_ roles: [String]) throws(AdministrationError) {
        for role in roles where !self.roles.contains(where: { $0.name == role }) { throw .noRole(role) }
    }

    /// - Throws: `AdministrationError.unusablePassword`, for a new password with which no user could log in.
    static func check(password: String) throws(AdministrationError) {
        guard let credentials = BasicCredentials(name: "", password: password), !credentials.isAppToken else {
            throw .unusablePassword
        }
    }

    /// Shorter ones are soon guessed: in characters. Commands take them with a warning, and the API refuses them.
    package static let minimumPassword = 8

    package static func isShort(_ password: String) -> Bool { password.unicodeScalars.count < minimumPassword }

    /// - Throws: `AdministrationError.unusablePassword`, `.shortPassword`, for a new password that the API does not take.
    static func check(chosen password: String) throws(AdministrationError) {
        try check(password: password)
        guard !isShort(password) else { throw .shortPassword }
    }

    /// Of a new password.
    /// - Throws: `AdministrationError.unusablePassword`; `PasswordHash.Failure`, where this system can make no hash.
    package static func hash(_ password: String) throws -> String {
        try check(password: password)
        do throws(PasswordHash.Failure) {
            return try PasswordHash.make(password)
        } catch {
            guard error == .unusablePassword else { throw error }
            throw AdministrationError.unusablePassword
        }
    }

    // MARK: Changing

    /// Makes the record of an issuer's user who has none, for what is to be noted in it.
    package func record(_ user: User) throws {
        guard user.version == 0 else { return }
        try store.changeUser(user.name) { $0 ?? user }
    }

    /// Adds a user.
    /// - Parameters:
    ///   - tags: patterns of tags that the user may claim; nil: the configuration's. So it is with `sendTo`.
    ///   - roles: empty: those of new users.
    ///   - isDisabled: whether the user may not log in before `enable`.
    /// - Returns: the user's name.
    /// - Throws: `AdministrationError`, `StoreError`.
    package func add(
        _ name: String, passwordHash: String, tags: [String]? = nil, sendTo: [String]? = nil, roles: [String] = [],
        isSecureOnly: Bool = false, isDisabled: Bool = false
    ) throws -> String {
        try check(roles)
        let name = try Self.checked(name)
        try store.changeUser(name) { former in
            do throws(NameIsUsedUp) {
                var user = try User(
                    name: name, passwordHash: passwordHash, tags: tags, sendTo: sendTo,
                    roles: roles.isEmpty ? newUserRoles : roles, after: former, now: now())
                if isSecureOnly { user?.isSecureOnly = true }
                if isDisabled { user?.disabledAt = now() }
                if let user { return user }
            } catch {
                throw AdministrationError.nameIsUsedUp(name)
            }
            throw AdministrationError.isThere(name)
        }
        return name
    }

    /// Gives a user another password. Sessions end, and app tokens unless they are kept: with the same write, also those that a request
    /// under way is just making.
    /// - Parameters:
    ///   - hash: of the password; empty: the user has none any more.
    ///   - current: the user whose password it is to be, of the record as it is then.
    /// - Throws: what `current` throws; `StoreError`.
    package func setPassword(
        _ hash: String, of name: String, keepingTokens: Bool, current: (User?) throws -> User
    ) throws -> PasswordChange {
        var tokens = 0
        let changed = try store.changeUser(name) { record in
            var user = try current(record)
            let epoch = user.credentialEpoch
            tokens = try store.appTokens(owner: user.owner, now: now()).count(where: { $0.epoch == epoch })
            user.passwordHash = hash
            if !keepingTokens { user.endCredentials() }
            return user
        }
        // They have ended already, and only lists show their records. A token of the new epoch is newer and stays.
        _ = try? store.removeSessions(owner: changed.owner)
        if !keepingTokens { _ = try? store.removeAppTokens(owner: changed.owner, before: changed.credentialEpoch) }
        return PasswordChange(
            user: changed, tokensEnded: keepingTokens ? 0 : tokens, tokensKept: keepingTokens ? tokens : 0)
    }

    /// Lets the user log in no more; sessions and app tokens end for good.
    /// - Returns: the user as they were.
    /// - Throws: `AdministrationError`, `StoreError`.
    package func disable(_ name: String) throws -> User {
        let found = try existing(name)
        let changed = try store.changeUser(found.name) { _ in
            var user = try existing(name)
            user.disabledAt = user.disabledAt ?? now()
            user.endCredentials()
            return user
        }
        // They have ended already, and only lists show their records. If the user was enabled meanwhile, newer tokens stay.
        _ = try store.removeSessions(owner: changed.owner)
        _ = try store.removeAppTokens(owner: changed.owner, before: changed.credentialEpoch)
        return found
    }

    /// Lets a user log in again who was disabled, or whose time is over.
    /// - Returns: the user as they were.
    /// - Throws: `AdministrationError`, `StoreError`.
    package func enable(_ name: String) throws -> User {
        let found = try existing(name)
        try store.changeUser(found.name) { _ in
            var user = try existing(name)
            user.disabledAt = nil
            let time = now()
            if let end = user.expiresAt, end <= time { user.setEnd(nil, now: time) }
            return user
        }
        return found
    }

    /// Removes the user, with all that is theirs.
    /// - Parameter keepingData: the next user of the name gets all that this one had.
    /// - Returns: what was removed, and what the service goes on with.
    /// - Throws: `AdministrationError`, `StoreError`.
    package func remove(_ name: String, keepingData: Bool = false, by upkeep: UserUpkeep) throws -> UserRemains {
        let stored = try stored(name)
        if hasIssuer(stored), try store.userRecord(stored) == nil {
            let user = User(name: stored, passwordHash: "")
            guard try hasLeftSomething(user.owner) else { throw AdministrationError.leftNothing(stored) }
            try record(user)
        }
        guard let remains = try upkeep.remove(stored, keepingData: keepingData) else {
            throw AdministrationError.noUser(name)
        }
        return remains
    }

    /// Whether a user without a record was here as far as the store can tell: was seen, has a device, a message, or has sent one.
    private func hasLeftSomething(_ owner: String) throws(StoreError) -> Bool {
        if try store.lastSeen(owner, now: now()) != nil { return true }
        if try !store.devices(owner: owner).isEmpty { return true }
        if try !store.notifications(owner: owner, unreadOnly: false, after: nil, limit: 1, now: now()).isEmpty {
            return true
        }
        return try !store.sentMessages(owner: owner, limit: 1, now: now()).isEmpty
    }

    /// Removes one device of the user, at the hub too.
    /// - Returns: what was removed, and what the service goes on with.
    /// - Throws: `AdministrationError`, `StoreError`.
    package func removeDevice(_ id: String, of name: String, by upkeep: UserUpkeep) throws -> UserRemains {
        let user = try existing(name)
        if try store.device(id)?.owner == user.owner { try record(user) }
        guard let remains = try upkeep.removeDevice(id, of: user.name) else {
            throw AdministrationError.noDevice(user.name)
        }
        return remains
    }

    /// Ends all sessions of the user.
    /// - Returns: how many there were.
    /// - Throws: `StoreError`.
    package func endSessions(of user: User) throws(StoreError) -> Int { try store.removeSessions(owner: user.owner) }

    /// Ends one session of the user.
    /// - Parameter id: as it is shown.
    /// - Throws: `AdministrationError.noSession`, `StoreError`.
    package func endSession(_ id: String, of user: User) throws {
        let isEnded = try store.removeSession(shown: id, owner: user.owner, now: now())
        guard isEnded else { throw AdministrationError.noSession(user.name) }
    }
}

/// A user with another password.
package struct PasswordChange: Sendable {
    package let user: User
    /// App tokens that have ended with the former password.
    package let tokensEnded: Int
    package let tokensKept: Int
}
