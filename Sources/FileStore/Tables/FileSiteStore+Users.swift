// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
package import Text

extension FileSiteStore {
    package func user(_ name: String) throws(StoreError) -> User? {
        guard let user = try userRecord(name), user.removedAt == nil else { return nil }
        return user
    }

    /// Costs two `stat` where the file has not changed since the user was last asked for, also for one whom it does not have:
    /// users of an issuer need no record, and are asked for at each of their requests.
    package func userRecord(_ name: String) throws(StoreError) -> User? {
        // Two names may be equal that only look alike.
        if let known = userCache.record(name), known.name.hasSameBytes(as: name) { return known }
        if let absent = absentUserCache.record(name), absent.hasSameBytes(as: name) { return nil }
        let asked = FileIdentity.clock
        guard let content = try userTable.readLines(of: name) else { return nil }
        guard let user = user(name, in: content) else {
            absentUserCache.remember(name, as: name, bytes: name.utf8.count, of: content, in: context, asked: asked)
            return nil
        }
        userCache.remember(user, as: name, bytes: user.textBytes, of: content, in: context, asked: asked)
        return user
    }

    package func users() throws(StoreError) -> [User] {
        var users: [User] = []
        try userTable.forEachFile { (content, range) in
            users += CurrentRecords(content, userTable).decoded(as: User.self)
                .filter { $0.removedAt == nil && range.contains(userTable.hash(of: $0.name)) }
        }
        return users.sorted { $0.name < $1.name }
    }

    /// Files in which a former call found no work, and that have not changed since, are not read.
    package func usersWithWork(dueBy now: Timestamp, limit: Int) throws(StoreError) -> [User] {
        var found: [User] = []
        try userTable.forEachFile(except: idleUserFiles.isKnown) { (content, _) in
            let working = CurrentRecords(content, userTable).decoded(as: User.self).filter { !$0.upkeep.isEmpty }
            if working.isEmpty { idleUserFiles.insert(content.identity, content.name) }
            found += working.filter { $0.upkeep.dueAt.map { $0 <= now } ?? false }
        }
        let mostUrgentFirst = found.sorted { ($0.upkeep.dueAt ?? now) < ($1.upkeep.dueAt ?? now) }
        return Array(mostUrgentFirst.prefix(max(0, limit)))
    }

    package func noteSeen(_ user: User, at time: Timestamp) throws(StoreError) {
        try userTable.write(user.name, durably: false) { (bucket) throws(StoreError) in
            let line = userTable.current(user.name, in: try userTable.lines(of: user.name, in: bucket.file))
            guard var current = line.flatMap({ User(line: $0) }), current.removedAt == nil,
                current.generation == user.generation
            else { return }
            current.lastSeenAt = time
            try bucket.append(LineCodec.encode(current, keepingUnknownOf: line))
        }
    }

    package func noteSeen(_ seen: LastSeen) throws(StoreError) {
        try seenTable.write(seen.owner, now: seen.seenAt, durably: false) { (bucket) throws(StoreError) in
            try bucket.append(LineCodec.encode { seen.write(to: &$0) })
        }
    }

    package func lastSeen(_ owner: String, now: Timestamp) throws(StoreError) -> LastSeen? {
        let seen = seenTable.current(owner, in: try seenTable.read(owner)).flatMap(LastSeen.init(line:))
        return seen.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    package func forgetSeen(_ owner: String) throws(StoreError) {
        seenTable.forget([owner])
    }

    package func putUser(_ user: User) throws(StoreError) -> User {
        try userTable.write(user.name) { (bucket) throws(StoreError) -> User in
            let content = try userTable.lines(of: user.name, in: bucket.file)
            let oldLine = userTable.current(user.name, in: content)
            let old = oldLine.flatMap { User(line: $0) }
            guard user.version == old?.version ?? 0, user.version < .max - 1 else { throw .conflict }
            var new = user
            new.version = try userTable.nextVersion(of: user.name, after: old?.version, in: content)
            try bucket.append(LineCodec.encode(new, keepingUnknownOf: oldLine))
            return new
        }
    }

    package func removeUser(_ name: String) throws(StoreError) -> Bool {
        guard try userRecord(name) != nil else { return false }
        return try userTable.write(name) { (bucket) throws(StoreError) -> Bool in
            guard let old = self.user(name, in: try userTable.lines(of: name, in: bucket.file)) else { return false }
            try bucket.append(LineCodec.removal(of: name, version: old.version))
            return true
        }
    }

    private func user(_ name: String, in content: BucketContent) -> User? {
        userTable.current(name, in: content).flatMap { User(line: $0) }
    }
}

extension User {
    /// How long all of its texts are.
    fileprivate var textBytes: Int {
        upkeep.cleanings.count * MemoryLayout<Cleaning>.size
            + ((tags ?? []) + (sendTo ?? []) + roles).reduce(name.utf8.count + passwordHash.utf8.count) {
                $0 + $1.utf8.count + 16
            }
    }
}
