// SPDX-License-Identifier: Apache-2.0
import Store

extension PostgresStore {
    private static let user = Statement.reading(
        "user",
        "SELECT name, password_hash, tags, send_to, version FROM users WHERE name = $1 AND removed_at IS NULL")
    private static let users = Statement.reading(
        "users", "SELECT name, password_hash, tags, send_to, version FROM users WHERE removed_at IS NULL")
    /// A user who was removed lately counts on.
    private static let createUser = Statement.writing(
        "createUser",
        """
        INSERT INTO users (name, password_hash, tags, send_to, version) VALUES ($1, $2, $3, $4, 1)
        ON CONFLICT (name) DO UPDATE SET password_hash = $2, tags = $3, send_to = $4, version = users.version + 1,
            removed_at = NULL
        WHERE users.removed_at IS NOT NULL RETURNING version
        """)
    private static let replaceUser = Statement.writing(
        "replaceUser",
        """
        UPDATE users SET password_hash = $2, tags = $3, send_to = $4, version = version + 1
        WHERE name = $1 AND version = $5 AND removed_at IS NULL RETURNING version
        """)
    private static let removeUser = Statement.writing(
        "removeUser",
        """
        UPDATE users SET removed_at = now(), password_hash = '', tags = NULL, send_to = NULL
        WHERE name = $1 AND removed_at IS NULL
        """)

    package func user(_ name: String) throws(StoreError) -> User? {
        try first(Self.user, [.name(name)])
    }

    package func users() throws(StoreError) -> [User] {
        let users: [User] = try all(Self.users, [])
        return users.sorted { $0.name < $1.name }
    }

    package func putUser(_ user: User) throws(StoreError) -> User {
        guard user.version >= 0, user.version < .max - 1 else { throw .conflict }
        var values: [Value] = [
            .name(user.name), .name(user.passwordHash), .text(user.tags.map(JSONText.array)),
            .text(user.sendTo.map(JSONText.array)),
        ]
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

extension User: RowRecord {
    init(_ row: Row) throws(CallFailure) {
        self.init(
            name: try row.string(0), passwordHash: try row.string(1), tags: try row.texts(2), sendTo: try row.texts(3),
            version: try row.integer(4))
    }
}
