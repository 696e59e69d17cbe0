// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    private static let isAlive = "(expires_at IS NULL OR expires_at > $2)"
    /// Of those who make one at the same moment each may find the same room. Sending it twice makes it once: no other
    /// token has that id and that hash.
    private static let createAppToken = Statement.writingOnce(
        "createAppToken",
        """
        WITH made AS (
          INSERT INTO app_tokens (\(AppToken.columns))
          SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
          WHERE (SELECT count(*) FROM app_tokens WHERE owner = $4 AND id <> $1 AND \(isAlive)) < $13
          ON CONFLICT (id) DO UPDATE SET id = excluded.id WHERE app_tokens.hash = $3
          RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM made), EXISTS (SELECT 1 FROM app_tokens WHERE id = $1)
        """)
    private static let appToken = Statement.reading(
        "appToken", "SELECT \(AppToken.selected) FROM app_tokens WHERE id = $1 AND \(isAlive)")
    private static let appTokens = Statement.reading(
        "appTokens",
        "SELECT \(AppToken.selected) FROM app_tokens WHERE owner = $1 AND \(isAlive) ORDER BY created_at, id")
    private static let noteAppToken = Statement.writingOnce(
        "noteAppToken", "UPDATE app_tokens SET last_used_at = $2 WHERE id = $1")
    private static let bindAppToken = Statement.writing(
        "bindAppToken", "UPDATE app_tokens SET recipient_owners = $2 WHERE id = $1 AND recipient_owners IS NULL")
    private static let removeAppToken = Statement.writing(
        "removeAppToken", "DELETE FROM app_tokens WHERE id = $1 AND owner = $2")
    private static let removeAppTokens = Statement.writing(
        "removeAppTokens", "DELETE FROM app_tokens WHERE owner = $1 AND epoch < $2")

    package func createAppToken(_ token: AppToken, now: Timestamp) throws(StoreError) {
        var values = token.values
        values.insert(.time(now), at: 1)
        try answer(Self.createAppToken, values + [.count(options.quotas.appTokensPerOwner)]) {
            (row) throws(CallFailure) in
            if try !row.bool(0) { throw .told(try row.bool(1) ? .conflict : .quotaExceeded) }
        }
    }

    package func appToken(_ id: String, now: Timestamp) throws(StoreError) -> AppToken? {
        try first(Self.appToken, [.name(id), .time(now)])
    }

    package func appTokens(owner: String, now: Timestamp) throws(StoreError) -> [AppToken] {
        try all(Self.appTokens, [.name(owner), .time(now)])
    }

    package func noteUse(ofAppToken id: String, at time: Timestamp) throws(StoreError) {
        try database.call(Self.noteAppToken, [.name(id), .time(time)])
    }

    package func bindRecipients(ofAppToken id: String, to owners: [String]) throws(StoreError) {
        try database.call(Self.bindAppToken, [.name(id), .text(JSONText.array(owners))])
    }

    package func removeAppToken(_ id: String, owner: String) throws(StoreError) -> Bool {
        try database.call(Self.removeAppToken, [.name(id), .name(owner)]) > 0
    }

    package func removeAppTokens(owner: String, before epoch: Int) throws(StoreError) -> Int {
        try database.call(Self.removeAppTokens, [.name(owner), .count(epoch)])
    }
}

extension AppToken: RowRecord {
    static let columns: Columns = [
        "id", "hash", "owner", "epoch", "scopes", "recipients", "recipient_owners", "label", "created_at", "expires_at",
        "last_used_at",
    ]
    static let selected = columns.description

    var values: [Value] {
        [
            .name(id), .name(hash), .name(owner), .count(epoch), .text(JSONText.array(scopes)),
            .text(recipients.map(JSONText.array)),
            .text(recipientOwners.isEmpty ? nil : JSONText.array(recipientOwners)),
            .name(label), .time(createdAt), .time(expiresAt), .time(lastUsedAt),
        ]
    }

    init(_ row: Row) throws(CallFailure) {
        guard let scopes = try row.texts(4) else { throw .malformed }
        self.init(
            id: try row.string(0), hash: try row.string(1), owner: try row.string(2), epoch: try row.integer(3),
            scopes: scopes, recipients: try row.texts(5), recipientOwners: try row.texts(6) ?? [],
            label: try row.string(7), createdAt: try row.time(8), expiresAt: try row.optionalTime(9),
            lastUsedAt: try row.optionalTime(10))
    }
}
