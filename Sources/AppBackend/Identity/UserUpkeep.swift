// SPDX-License-Identifier: Apache-2.0
package import NotificationHub
package import Store
import System
package import Text

/// Removes users with all that is theirs, and single devices, takes tags from the devices of those who may not claim
/// them any more, and has the tags of roles follow their users'.
///
/// The work is written into the user's record before it begins, and stays there until it is done. When the process that
/// does it is killed, another goes on. Each step may be done twice. The work is repeated for a while, because a request
/// that began before may write after it, and with growing pauses while the hub cannot be reached.
package struct UserUpkeep: Sendable {
    /// No request of before is under way any more after so many seconds.
    package static let requestSeconds = IdempotencyHandler.longestSeconds + 30
    /// A process has its lease for so long, in seconds; then another takes it for dead.
    static let leaseSeconds: Int64 = 15
    /// Between two looks for what late requests have written, in seconds.
    static let lookSeconds: Int64 = 30
    static let backoff = Backoff(doubling: .seconds(10), to: .seconds(3_600))
    /// Users that are looked after in one go.
    static let usersAtOnce = 16
    /// Former users of one name who are cleaned up after in one go.
    static let generationsAtOnce = 16

    let store: any StateStore
    let hub: any Hub
    let policy: TagPolicy
    let now: @Sendable () -> Timestamp
    /// Hears what the operator should know, in a sentence.
    let report: @Sendable (String) -> Void

    package init(
        store: any StateStore, hub: any Hub, policy: TagPolicy, now: @escaping @Sendable () -> Timestamp,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.hub = hub
        self.policy = policy
        self.now = now
        self.report = report
    }

    /// Does what is due, of a few users.
    /// - Throws: `StoreError`, when not even that can be found out.
    package func run() throws(StoreError) {
        for user in try store.usersWithWork(dueBy: now(), limit: Self.usersAtOnce) {
            guard let leased = try lease(user) else { continue }
            // The next one would wait for the same hub again.
            if try work(on: leased, asOf: user.upkeep).isHubAway { return }
        }
    }

    /// Keeps others from the work that is due, for a while.
    /// - Returns: nil, when another process was faster.
    private func lease(_ user: User) throws(StoreError) -> User? {
        let time = now()
        var user = user
        for index in user.upkeep.cleanings.indices where user.upkeep.cleanings[index].schedule.dueAt <= time {
            user.upkeep.cleanings[index].schedule.dueAt = time + Self.leaseSeconds
        }
        if let review = user.upkeep.review, review.dueAt <= time {
            user.upkeep.review?.dueAt = time + Self.leaseSeconds
        }
        return try replace(user)
    }

    func replace(_ user: User) throws(StoreError) -> User? {
        do throws(StoreError) {
            return try store.putUser(user)
        } catch {
            guard error == .conflict else { throw error }
            return nil
        }
    }

    /// - Parameter upkeep: what was due before it was leased.
    func work(on user: User, asOf upkeep: Upkeep) throws(StoreError) -> UserRemains {
        let time = now()
        var total = UserRemains()
        for cleaning in upkeep.cleanings where cleaning.schedule.dueAt <= time {
            let remains = clean(cleaning, of: user)
            try record(cleaning, remains, begunAt: time, name: user.name)
            total += remains
        }
        if let review = upkeep.review, review.dueAt <= time {
            let remains = self.review(user)
            try record(review, remains, begunAt: time, name: user.name)
            total += remains
        }
        if let failure = total.failure {
            report("upkeep of a user: \(total.unreachable) registrations wait: \(failure)")
        }
        return total
    }

    // MARK: Steps

    private func clean(_ cleaning: Cleaning, of user: User) -> UserRemains {
        var remains = UserRemains()
        for generation in Self.generations(of: cleaning, user).reversed() {
            clean(User.owner(of: user.name, generation: generation), &remains)
        }
        return remains
    }

    /// Those of one go: the latest first, because a user who is removed now must have nothing left now.
    private static func generations(of cleaning: Cleaning, _ user: User) -> Range<Int> {
        user.generations(of: cleaning, to: cleaning.walk?.next).suffix(generationsAtOnce)
    }

    /// Sessions and tokens first: what they could still write is then written by requests that are under way only.
    private func clean(_ owner: String, _ remains: inout UserRemains) {
        do throws(StoreError) {
            remains.sessions += try store.removeSessions(owner: owner)
            remains.tokens += try store.removeAppTokens(owner: owner)
            remains.sends += try store.removeScheduledSends(owner: owner)
            remains.secrets += try store.removeNotifications(owner: owner)
            remains.keys += try store.removeIdempotencyKeys(owner: owner)
            remains.sends += try store.forgetSent(owner: owner)
            try store.forgetSeen(owner)
        } catch {
            remains.record(error)
        }
        endRegistrations(of: owner, &remains)
    }

    private func endRegistrations(of owner: String, _ remains: inout UserRemains) {
        let removal = RegistrationRemoval(store: store, hub: hub, now: now)
        forEachDevice(of: owner, &remains) { device in
            try removal.remove(device.id) { $0.owner.hasSameBytes(as: owner) }
        }
    }

    private func review(_ user: User) -> UserRemains {
        var remains = UserRemains()
        guard user.removedAt == nil else { return remains }
        let narrowing = TagNarrowing(store: store, hub: hub, now: now)
        let rights = policy.rights(of: user)
        forEachDevice(of: user.owner, &remains) { device in
            if device.isBeingRemoved { try finishRemoval(of: device.id, user.owner) }
            guard !device.platform.isEmpty else { return false }
            let change = try narrowing.narrow(device, to: rights)
            guard change == .none else { return change.isLoss }
            // An interrupted change, whose tags the hub may not have. The store's sweep removes the registration of a gone device.
            if device.needsReconciliation, !device.isGone { try narrowing.syncHub(device) }
            return false
        }
        return remains
    }

    /// The device may have registered again while the hub was asked for others: then it stays.
    private func finishRemoval(of id: String, _ owner: String) throws {
        guard try store.device(id)?.isBeingRemoved == true else { return }
        _ = try RegistrationRemoval(store: store, hub: hub, now: now).remove(id) { $0.owner.hasSameBytes(as: owner) }
    }

    /// A hub that does not answer is not asked for the next device: that would wait for the same deadline again.
    private func forEachDevice(
        of owner: String, _ remains: inout UserRemains, _ body: (DeviceRecord) throws -> Bool
    ) {
        do {
            for device in try store.devices(owner: owner) {
                guard !remains.isHubAway else {
                    remains.unreachable += 1
                    continue
                }
                do {
                    if try body(device) { remains.devices += 1 }
                } catch {
                    remains.unreachable += 1
                    remains.record(error)
                }
            }
        } catch {
            remains.record(error)
        }
    }

    // MARK: What comes next

    private func record(
        _ cleaning: Cleaning, _ remains: UserRemains, begunAt: Timestamp, name: String
    ) throws(StoreError) {
        let hasFailed = remains.failure != nil
        let walk = Cleaning.Walk(
            next: cleaning.first, begunAt: cleaning.walk?.begunAt ?? begunAt,
            hasFailed: hasFailed || cleaning.walk?.hasFailed == true)
        try change(name) { user in
            // Of those that begin with this one; when more joined it meanwhile, these are due anyway.
            guard let index = user.upkeep.cleanings.firstIndex(where: { $0.first == cleaning.first }),
                user.upkeep.cleanings[index].last == cleaning.last
            else { return }
            let reached = Self.generations(of: cleaning, user).lowerBound
            if reached > cleaning.first {
                user.upkeep.cleanings[index].walk = walk
                user.upkeep.cleanings[index].walk?.next = reached - 1
                user.upkeep.cleanings[index].schedule.dueAt = now() + (hasFailed ? Self.backoff.seconds(after: 0) : 0)
            } else if let next = next(cleaning.schedule, hasFailed: walk.hasFailed, begunAt: walk.begunAt) {
                user.upkeep.cleanings[index].schedule = next
                user.upkeep.cleanings[index].walk = nil
            } else {
                user.upkeep.cleanings.remove(at: index)
            }
        }
    }

    func record(
        _ review: Schedule, _ remains: UserRemains, begunAt: Timestamp, name: String
    ) throws(StoreError) {
        try change(name) { user in
            // Another change of the user's rights has a review of its own.
            guard user.upkeep.review?.until == review.until else { return }
            user.upkeep.review = next(review, hasFailed: remains.failure != nil, begunAt: begunAt)
        }
    }

    /// - Parameter begunAt: of the look that has ended now. What was written after it began may have been missed.
    /// - Returns: nil, when nothing is left to do.
    private func next(_ schedule: Schedule, hasFailed: Bool, begunAt: Timestamp) -> Schedule? {
        let time = now()
        var next = schedule
        guard !hasFailed else {
            next.dueAt = time + Self.backoff.seconds(after: next.attempts)
            next.attempts += 1
            return next
        }
        guard begunAt < schedule.until else { return nil }
        next.attempts = 0
        next.dueAt = min(time + Self.lookSeconds, max(time, schedule.until))
        return next
    }

    private func change(_ name: String, _ body: (inout User) -> Void) throws(StoreError) {
        for _ in 0..<RegisterController.maximumHubWrites {
            guard let user = try store.userRecord(name) else { return }
            var changed = user
            body(&changed)
            if changed == user { return }
            if try replace(changed) != nil { return }
        }
        throw .conflict
    }
}
