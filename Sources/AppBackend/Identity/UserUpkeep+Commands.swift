// SPDX-License-Identifier: Apache-2.0
package import Store
package import Text

/// What an operator asks for.
extension UserUpkeep {
    /// Removes the user. From the first write on there is no such user any more, for any process.
    /// - Parameter keepingData: the next user of the name gets all that this one had.
    /// - Returns: what was removed, and what the service goes on with; nil, when there is no such user, and nothing is left.
    /// - Throws: `StoreError`.
    package func remove(_ name: String, keepingData: Bool = false) throws(StoreError) -> UserRemains? {
        for _ in 0..<RegisterController.maximumHubWrites {
            guard var user = try store.userRecord(name) else { return nil }
            let wasThere = user.removedAt == nil
            guard wasThere || !user.upkeep.cleanings.isEmpty || user.keepsData && !keepingData else { return nil }
            let time = now()
            if wasThere || user.keepsData { user.end(keepingData: keepingData, at: time) }
            // The work was due before, and this process does it.
            let due = user.upkeep.dueNow(time)
            for index in user.upkeep.cleanings.indices {
                user.upkeep.cleanings[index].schedule.dueAt = time + Self.leaseSeconds
            }
            guard let removed = try replace(user) else { continue }
            // They are void for the next user, whose number of tokens is bounded.
            if keepingData { _ = try store.removeAppTokens(owner: removed.owner) }
            return try work(on: removed, asOf: due)
        }
        throw .conflict
    }

    /// Takes from the user's devices what the user may not claim any more, and gives them the tags of the user's roles.
    /// - Parameter user: as it is to be stored, with the new rights.
    /// - Returns: what was changed, and what the service goes on with; nil, when the user was changed meanwhile.
    /// - Throws: `StoreError`.
    package func change(_ user: User) throws(StoreError) -> UserRemains? {
        let time = now()
        var user = user
        let review = Schedule(until: time + Self.requestSeconds, dueAt: time)
        user.upkeep.review = review
        user.upkeep.review?.dueAt = time + Self.leaseSeconds
        guard let changed = try replace(user) else { return nil }
        return try work(on: changed, asOf: Upkeep(review: review))
    }

    /// Removes one registration of the user, at the hub too.
    /// - Returns: what was removed, and what the service goes on with; nil, when the user has no registration of that id.
    /// - Throws: `StoreError`.
    package func removeDevice(_ id: String, of name: String) throws(StoreError) -> UserRemains? {
        for _ in 0..<RegisterController.maximumHubWrites {
            guard var user = try store.user(name), let device = try store.device(id),
                device.owner.hasSameBytes(as: user.owner)
            else { return nil }
            let time = now()
            // A review that is under way may have passed the device already: it ends none with another `until`.
            let until = user.upkeep.review.map { max($0.until + 1, time) } ?? time
            let review = Schedule(until: until, dueAt: time + Self.leaseSeconds)
            user.upkeep.review = review
            guard try replace(user) != nil else { continue }
            let remains = end(registration: id, of: user.owner)
            try record(review, remains, begunAt: time, name: name)
            return remains
        }
        throw .conflict
    }

    private func end(registration id: String, of owner: String) -> UserRemains {
        var remains = UserRemains()
        do {
            let removal = RegistrationRemoval(store: store, hub: hub, now: now)
            if try removal.remove(id, where: { $0.owner.hasSameBytes(as: owner) }) { remains.devices = 1 }
        } catch {
            remains.unreachable = 1
            remains.record(error)
        }
        return remains
    }
}

extension User {
    /// Makes the record that of a removed user.
    fileprivate mutating func end(keepingData: Bool, at time: Timestamp) {
        (passwordHash, tags, sendTo, roles, lastSeenAt) = ("", nil, nil, [], nil)
        (removedAt, keepsData, upkeep.review) = (time, keepingData, nil)
        (disabledAt, expiresAt) = (nil, nil)
        // What is kept goes on being sent to, so it goes on being sent no plain text.
        isSecureOnly = isSecureOnly && keepingData
        guard !keepingData else { return }
        let schedule = Schedule(until: time + UserUpkeep.requestSeconds, dueAt: time)
        upkeep.add(Cleaning(first: generation, last: generation, schedule: schedule))
    }

    /// A user of a name who comes after the one whose record that is; with what is left to be done for the name. Without a
    /// former one there may still be devices: an issuer's user needs no record.
    /// - Returns: nil, when the former one is still there.
    /// - Throws: `NameIsUsedUp`.
    package init?(
        name: String, passwordHash: String, tags: [String]? = nil, sendTo: [String]? = nil, roles: [String] = [],
        after former: User?, now: Timestamp
    ) throws(NameIsUsedUp) {
        self.init(name: name, passwordHash: passwordHash, tags: tags, sendTo: sendTo)
        self.roles = roles
        guard let former else {
            if tags != nil || !roles.isEmpty {
                upkeep.review = Schedule(until: now + UserUpkeep.requestSeconds, dueAt: now)
            }
            return
        }
        guard former.removedAt != nil else { return nil }
        generation = former.nextGeneration
        guard owner.utf16.count <= UserName.maximumOwnerLength else { throw NameIsUsedUp() }
        upkeep.cleanings = former.upkeep.cleanings
        version = former.version
        guard former.keepsData, let removedAt = former.removedAt else { return }
        isSecureOnly = former.isSecureOnly
        // The former user's app tokens are not this one's.
        credentialEpoch = former.credentialEpoch
        endCredentials()
        // The devices that were kept may have tags that this user may not claim.
        upkeep.review = Schedule(until: removedAt + UserUpkeep.requestSeconds, dueAt: removedAt)
    }
}

/// A name that is so long that no further user of it can be told from the former ones.
package struct NameIsUsedUp: Error {}

extension Upkeep {
    /// All cleanings, as if they were due.
    fileprivate func dueNow(_ time: Timestamp) -> Upkeep {
        var upkeep = Upkeep(cleanings: cleanings)
        for index in upkeep.cleanings.indices { upkeep.cleanings[index].schedule.dueAt = time }
        return upkeep
    }
}
