// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    private static let userRecord = Statement.reading(
        "user", "SELECT \(User.selected) FROM users WHERE name = $1 AND removed_at IS NULL")
    private static let users = Statement.reading(
        "users", "SELECT \(User.selected) FROM users WHERE removed_at IS NULL AND ended_at IS NULL")
    private static let usersWithWork = Statement.reading(
        "usersWithWork",
        """
        SELECT \(User.selected) FROM users WHERE work_due_at <= $1 AND removed_at IS NULL
        ORDER BY work_due_at LIMIT $2
        """)
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
        INSERT INTO seen_users (\(LastSeen.columns)) VALUES (\(LastSeen.columns.parameters))
        ON CONFLICT (id) DO UPDATE SET \(LastSeen.columns.assignments())
        """)
    private static let lastSeen = Statement.reading(
        "lastSeen", "SELECT \(LastSeen.selected) FROM seen_users WHERE id = $1 AND expires_at > $2")
    private static let forgetSeen = Statement.writingOnce("forgetSeen", "DELETE FROM seen_users WHERE id = $1")
    /// A record that was removed lately counts on.
    private static let createUser = Statement.writing(
        "createUser",
        """
        INSERT INTO users (\(User.columns), version) VALUES (\(User.columns.parameters), 1)
        ON CONFLICT (name) DO UPDATE SET \(User.columns.assignments(key: ["name"])), version = users.version + 1,
            removed_at = NULL
        WHERE users.removed_at IS NOT NULL RETURNING version
        """)
    private static let replaceUser = Statement.writing(
        "replaceUser",
        """
        UPDATE users SET \(User.columns.assignments(key: ["name"])), version = version + 1
        WHERE name = $1 AND version = \(User.columns.parameter(behind: 1)) AND removed_at IS NULL RETURNING version
        """)
    private static let removeUser = Statement.writing(
        "removeUser",
        """
        UPDATE users SET \(User.table.wiped) WHERE name = $1 AND removed_at IS NULL
        """)

    package func user(_ name: String) throws(StoreError) -> User? {
        guard let user = try userRecord(name), user.removedAt == nil else { return nil }
        return user
    }

    package func userRecord(_ name: String) throws(StoreError) -> User? {
        try first(Self.userRecord, [.name(name)])
    }

    package func users() throws(StoreError) -> [User] {
        let users: [User] = try all(Self.users, [])
        return users.sorted { $0.name < $1.name }
    }

    package func usersWithWork(dueBy now: Timestamp, limit: Int) throws(StoreError) -> [User] {
        try all(Self.usersWithWork, [.time(now), .count(max(0, limit))])
    }

    package func noteSeen(_ user: User, at time: Timestamp) throws(StoreError) {
        try database.call(Self.noteSeen, [.name(user.name), .count(user.generation), .time(time)])
    }

    package func noteSeen(_ seen: LastSeen) throws(StoreError) {
        try database.call(Self.noteSeenWithoutRecord, try seen.values())
    }

    package func lastSeen(_ owner: String, now: Timestamp) throws(StoreError) -> LastSeen? {
        try first(Self.lastSeen, [.name(owner), .time(now)])
    }

    package func forgetSeen(_ owner: String) throws(StoreError) {
        try database.call(Self.forgetSeen, [.name(owner)])
    }

    package func putUser(_ user: User) throws(StoreError) -> User {
        guard user.version >= 0, user.version < .max - 1 else { throw .conflict }
        var values = try user.values()
        if user.version > 0 { values.append(.count(user.version)) }
        let statement = user.version == 0 ? Self.createUser : Self.replaceUser
        return try database.call(statement, values) { (rows) throws(CallFailure) in
            guard let row = rows.first else { throw .told(.conflict) }
            var stored = user
            stored.version = try row.integer(0)
            return stored
        }
    }

    package func removeUser(_ name: String) throws(StoreError) -> Bool {
        try database.call(Self.removeUser, [.name(name)]) > 0
    }
}

extension LastSeen: TableRecord {
    static let table = Table<LastSeen>("seen_users")
}

extension User: TableRecord {
    static let table = Table<User>(
        "users", key: ["name"], .counts,
        derived: [.init(name: "work_due_at") { .time($0.upkeep.dueAt) }])
}
