// SPDX-License-Identifier: Apache-2.0
package import Text

/// A user who may log in, or what a removed one leaves behind so that the next user of the name is another owner.
package struct User: Hashable, Sendable {
    /// The key, byte by byte: names that only look alike are two users.
    package var name: String
    /// As `crypt(3)` made it: `$y$…`, `$2b$…`, `$6$…`; empty once the user was removed.
    package var passwordHash: String
    /// Patterns of tags that the user may claim; nil: the configuration's default.
    package var tags: [String]?
    /// Patterns of recipients that the user may send to; nil: the configuration's default.
    package var sendTo: [String]?
    /// The names of their roles. What these may says the configuration, which may have no such role any more.
    package var roles: [String] = []
    /// Whether no plain text of theirs, or for them, goes through push services.
    package var isSecureOnly = false
    /// Since when the user may not log in, by the operator's word; nil: the user may.
    package var disabledAt: Timestamp?
    /// From this moment on the user may not log in; nil: it never comes.
    package var expiresAt: Timestamp?
    /// Counts how often all sessions and app tokens of the user were ended at once: those of before are void.
    package var credentialEpoch = 0
    /// How many users of this name were removed before, together with what they had.
    package var generation = 0
    /// Since when the user is removed; nil: the user may log in.
    package var removedAt: Timestamp?
    /// Of a removed user: whether the next user of the name gets what this one had.
    package var keepsData = false
    /// What is left to be done for this user, and for those who had the name before.
    package var upkeep = Upkeep()
    /// When the user was authenticated last, by whichever method. Noted now and then, not each time.
    package var lastSeenAt: Timestamp?
    /// Counts the writes, from 1; 0 in a user who was never stored. Also counts on over the record's removal, until the
    /// file is compacted.
    package var version: Int

    /// Ends all sessions and app tokens of the user.
    package mutating func endCredentials() {
        credentialEpoch += 1
    }

    /// Sets until when the user may log in. What had ended by now does not come back with the log-in.
    package mutating func setEnd(_ end: Timestamp?, now: Timestamp) {
        if let expiresAt, expiresAt <= now { endCredentials() }
        expiresAt = end
    }

    package init(
        name: String, passwordHash: String, tags: [String]? = nil, sendTo: [String]? = nil, version: Int = 0
    ) {
        self.name = name
        self.passwordHash = passwordHash
        self.tags = tags
        self.sendTo = sendTo
        self.version = version
    }
}

extension User {
    /// Whether the user may log in, now and with what they have.
    package func mayLogIn(_ now: Timestamp) -> Bool {
        removedAt == nil && disabledAt == nil && (expiresAt.map { $0 > now } ?? true)
    }

    /// Under which everything of this user is kept: devices, sessions, secrets, sends, keys. For the first user of a name
    /// it is the name. For those after a removal it also has a number, so nothing that is still written for a former
    /// user, by whatever process, is ever the new one's.
    package var owner: String { Self.owner(of: name, generation: generation) }

    /// Whose the name is now, or will be when it is added again.
    package var successor: String {
        removedAt == nil || keepsData ? owner : Self.owner(of: name, generation: nextGeneration)
    }

    /// Those former users of the name whom a cleaning is about, from the first to that one; none later than this user has
    /// ever been, whatever a record says.
    package func generations(of cleaning: Cleaning, to last: Int? = nil) -> Range<Int> {
        cleaning.first..<max(cleaning.first, min(last ?? cleaning.last, generation) + 1)
    }

    /// Of the next user of the name.
    package var nextGeneration: Int { keepsData ? generation : generation + 1 }

    /// A colon is in no user's name, so this is no other user's owner.
    package static func owner(of name: String, generation: Int) -> String {
        generation == 0 ? name : "\(name):\(generation)"
    }

    /// The name of the user whose owner that is.
    package static func name(ofOwner owner: String) -> String {
        String(Substring(owner.utf8.prefix { $0 != UInt8(ascii: ":") }))
    }
}

/// When a user without a record was authenticated last: one whom an issuer of tokens names. A user with a record has it there.
package struct LastSeen: Hashable, Sendable {
    /// For how long it is kept, in seconds.
    package static let keptSeconds: Int64 = 366 * 86_400

    /// The user, as the owner that they were.
    package var owner: String
    package var seenAt: Timestamp
    /// From this moment on it is forgotten.
    package var expiresAt: Timestamp

    package init(owner: String, at time: Timestamp) {
        (self.owner, seenAt, expiresAt) = (owner, time, time + Self.keptSeconds)
    }
}

/// Work that is owed for a name, until it is done.
package struct Upkeep: Hashable, Sendable {
    /// What former users of the name had is to be removed. Bounded: see `add(_:)`.
    package var cleanings: [Cleaning] = []
    /// The tags of the user's devices are to be compared with what the user may claim.
    package var review: Schedule?

    package init(cleanings: [Cleaning] = [], review: Schedule? = nil) {
        self.cleanings = cleanings
        self.review = review
    }

    package var isEmpty: Bool { cleanings.isEmpty && review == nil }

    /// When there is something to do; nil: never.
    package var dueAt: Timestamp? {
        (cleanings.map(\.schedule.dueAt) + [review?.dueAt].compactMap(\.self)).min()
    }

    /// More than removals that follow each other all the time make before the first of them is over.
    package static let maximumCleanings = 32

    /// Adds the removal of one more generation. Removals of the same ten seconds are one; beyond `maximumCleanings` the
    /// two oldest become one, which then lasts longer than
    /// one of them needs.
    package mutating func add(_ cleaning: Cleaning) {
        if let last = cleanings.last, last.schedule.slot == cleaning.schedule.slot {
            cleanings[cleanings.count - 1] = last.joined(with: cleaning)
        } else {
            cleanings.append(cleaning)
        }
        guard cleanings.count > Self.maximumCleanings else { return }
        cleanings.replaceSubrange(..<2, with: [cleanings[0].joined(with: cleanings[1])])
    }
}

/// The removal of what some former users of a name had, who followed each other.
package struct Cleaning: Hashable, Sendable {
    /// Their generations.
    package var first: Int
    package var last: Int
    /// Where an unfinished walk from the last to the first is; nil: the next one begins at the last.
    package var walk: Walk?
    package var schedule: Schedule

    /// A walk through the generations that takes more than one go.
    package struct Walk: Hashable, Sendable {
        /// The generation at which it goes on.
        package var next: Int
        package var begunAt: Timestamp
        /// Whether something could not be removed, so that another walk is needed.
        package var hasFailed: Bool

        package init(next: Int, begunAt: Timestamp, hasFailed: Bool = false) {
            (self.next, self.begunAt, self.hasFailed) = (next, begunAt, hasFailed)
        }
    }

    package init(first: Int, last: Int, walk: Walk? = nil, schedule: Schedule) {
        self.first = first
        self.last = last
        self.walk = walk
        self.schedule = schedule
    }

    fileprivate func joined(with later: Cleaning) -> Cleaning {
        var schedule = later.schedule
        schedule.until = max(schedule.until, self.schedule.until)
        schedule.dueAt = min(schedule.dueAt, self.schedule.dueAt)
        return Cleaning(first: min(first, later.first), last: max(last, later.last), schedule: schedule)
    }
}

/// When work is done that must be done more than once: a request that is under way may write what was just removed.
package struct Schedule: Hashable, Sendable {
    /// From then on nothing of before is under way any more: the work is over once it was done after that.
    package var until: Timestamp
    /// When it is done next.
    package var dueAt: Timestamp
    /// How often it has failed in a row.
    package var attempts: Int

    /// Which ten seconds it ends in.
    fileprivate var slot: Int64 { until.seconds / 10 }

    package init(until: Timestamp, dueAt: Timestamp, attempts: Int = 0) {
        self.until = until
        self.dueAt = dueAt
        self.attempts = attempts
    }
}
