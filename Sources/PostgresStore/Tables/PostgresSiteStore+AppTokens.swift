// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    private static let isAlive = "(expires_at IS NULL OR expires_at > $2)"
    private static let new = AppToken.columns
    /// Of those who make one at the same moment each may find the same room. Sending it twice makes it once: no other
    /// token has that id and that hash.
    private static let createAppToken = Statement.writingOnce(
        "createAppToken",
        """
        WITH made AS (
          INSERT INTO app_tokens (\(new))
          SELECT \(new.parameters)
          WHERE (
            SELECT count(*) FROM app_tokens WHERE owner = \(new["owner"]) AND id <> $1
            AND (expires_at IS NULL OR expires_at > \(new.parameter(behind: 1)))) < \(new.parameter(behind: 2))
          ON CONFLICT (id) DO UPDATE SET id = excluded.id WHERE app_tokens.hash = \(new["hash"])
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
        let values = try token.values() + [.time(now), .count(options.quotas.appTokensPerOwner)]
        try answer(Self.createAppToken, values) { (row) throws(CallFailure) in
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

extension AppToken: TableRecord {
    static let table = Table<AppToken>("app_tokens")
}
