// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    private static let columns = """
        name, password_hash, tags, send_to, generation, ended_at, keeps_data, upkeep, last_log_in_at, version,
        is_secure_only, credential_epoch, disabled_at, expires_at, roles
        """
    private static let userRecord = Statement.reading(
        "user", "SELECT \(columns) FROM users WHERE name = $1 AND removed_at IS NULL")
    private static let users = Statement.reading(
        "users", "SELECT \(columns) FROM users WHERE removed_at IS NULL AND (ended_at IS NULL OR $1)")
    private static let usersWithWork = Statement.reading(
        "usersWithWork",
        "SELECT \(columns) FROM users WHERE work_due_at <= $1 AND removed_at IS NULL ORDER BY work_due_at LIMIT $2")
    /// The column's name is that of versions that noted log-ins by password alone.
    private static let noteSeen = Statement.writingOnce(
        "noteSeen",
        """
        UPDATE users SET last_log_in_at = $3
        WHERE name = $1 AND generation = $2 AND ended_at IS NULL AND removed_at IS NULL
        """)
    private static let noteSeenWithoutRecord = Statement.writingOnce(
        "noteSeenWithoutRecord",
        """
        INSERT INTO seen_users (id, seen_at, expires_at) VALUES ($1, $2, $3)
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, expires_at = excluded.expires_at
        """)
    private static let lastSeen = Statement.reading(
        "lastSeen", "SELECT id, seen_at, expires_at FROM seen_users WHERE id = $1 AND expires_at > $2")
    private static let forgetSeen = Statement.writingOnce("forgetSeen", "DELETE FROM seen_users WHERE id = $1")
    /// A record that was removed lately counts on.
    private static let createUser = Statement.writing(
        "createUser",
        """
        INSERT INTO users (
            name, password_hash, tags, send_to, generation, ended_at, keeps_data, upkeep, work_due_at, last_log_in_at,
            is_secure_only, credential_epoch, disabled_at, expires_at, roles, version)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 1)
        ON CONFLICT (name) DO UPDATE SET \(assignments), version = users.version + 1, removed_at = NULL
        WHERE users.removed_at IS NOT NULL RETURNING version
        """)
    private static let replaceUser = Statement.writing(
        "replaceUser",
        """
        UPDATE users SET \(assignments), version = version + 1
        WHERE name = $1 AND version = $16 AND removed_at IS NULL RETURNING version
        """)
    private static let assignments = """
        password_hash = $2, tags = $3, send_to = $4, generation = $5, ended_at = $6, keeps_data = $7, upkeep = $8,
        work_due_at = $9, last_log_in_at = $10, is_secure_only = $11, credential_epoch = $12, disabled_at = $13,
        expires_at = $14, roles = $15
        """
    private static let removeUser = Statement.writing(
        "removeUser",
        """
        UPDATE users SET removed_at = now(), password_hash = '', tags = NULL, send_to = NULL, generation = 0,
            ended_at = NULL, keeps_data = false, upkeep = NULL, work_due_at = NULL, last_log_in_at = NULL,
            is_secure_only = false, credential_epoch = 0, disabled_at = NULL, expires_at = NULL, roles = NULL
        WHERE name = $1 AND removed_at IS NULL
        """)

    package func user(_ name: String) throws(StoreError) -> User? {
        guard let user = try userRecord(name), user.removedAt == nil else { return nil }
        return user
    }

    package func userRecord(_ name: String) throws(StoreError) -> User? {
        try first(Self.userRecord, [.name(name)])
    }

    package func users() throws(StoreError) -> [User] {
        let users: [User] = try all(Self.users, [.bool(false)])
        return users.sorted { $0.name < $1.name }
    }

    /// Removed ones too.
    func userRecords() throws(StoreError) -> [User] {
        try all(Self.users, [.bool(true)])
    }

    package func usersWithWork(dueBy now: Timestamp, limit: Int) throws(StoreError) -> [User] {
        try all(Self.usersWithWork, [.time(now), .count(max(0, limit))])
    }

    package func noteSeen(_ user: User, at time: Timestamp) throws(StoreError) {
        try database.call(Self.noteSeen, [.name(user.name), .count(user.generation), .time(time)])
    }

    package func noteSeen(_ seen: LastSeen) throws(StoreError) {
        try database.call(Self.noteSeenWithoutRecord, seen.values)
    }

    package func lastSeen(_ owner: String, now: Timestamp) throws(StoreError) -> LastSeen? {
        try first(Self.lastSeen, [.name(owner), .time(now)])
    }

    package func forgetSeen(_ owner: String) throws(StoreError) {
        try database.call(Self.forgetSeen, [.name(owner)])
    }

    package func putUser(_ user: User) throws(StoreError) -> User {
        guard user.version >= 0, user.version < .max - 1 else { throw .conflict }
        var values = Self.values(user)
        if user.version > 0 { values.append(.count(user.version)) }
        let statement = user.version == 0 ? Self.createUser : Self.replaceUser
        return try database.call(statement, values) { (rows) throws(CallFailure) in
            guard let row = rows.first else { throw .told(.conflict) }
            var stored = user
            stored.version = try row.integer(0)
            return stored
        }
    }

    /// All columns but the version.
    static func values(_ user: User) -> [Value] {
        [
            .name(user.name), .name(user.passwordHash), .text(user.tags.map(JSONText.array)),
            .text(user.sendTo.map(JSONText.array)), .count(user.generation), .time(user.removedAt),
            .bool(user.keepsData), .text(user.upkeep.text), .time(user.upkeep.dueAt), .time(user.lastSeenAt),
            .bool(user.isSecureOnly), .count(user.credentialEpoch), .time(user.disabledAt), .time(user.expiresAt),
            .text(user.roles.isEmpty ? nil : JSONText.array(user.roles)),
        ]
    }

    package func removeUser(_ name: String) throws(StoreError) -> Bool {
        try database.call(Self.removeUser, [.name(name)]) > 0
    }
}

extension LastSeen: RowRecord {
    init(_ row: Row) throws(CallFailure) {
        self.init(owner: try row.string(0), at: try row.time(1))
        expiresAt = try row.time(2)
    }

    /// Of the columns `id`, `seen_at` and `expires_at`.
    var values: [Value] { [.name(owner), .time(seenAt), .time(expiresAt)] }
}

extension User: RowRecord {
    init(_ row: Row) throws(CallFailure) {
        self.init(
            name: try row.string(0), passwordHash: try row.string(1), tags: try row.texts(2), sendTo: try row.texts(3),
            version: try row.integer(9))
        generation = try row.integer(4)
        removedAt = try row.optionalTime(5)
        keepsData = try row.bool(6)
        if let text = try row.optionalString(7) {
            guard let upkeep = Upkeep(text: text) else { throw .malformed }
            self.upkeep = upkeep
        }
        lastSeenAt = try row.optionalTime(8)
        isSecureOnly = try row.bool(10)
        credentialEpoch = try row.integer(11)
        (disabledAt, expiresAt) = (try row.optionalTime(12), try row.optionalTime(13))
        roles = try row.texts(14) ?? []
        guard generation >= 0, generation < .max - 1, credentialEpoch >= 0, credentialEpoch < .max - 1 else {
            throw .malformed
        }
    }
}
