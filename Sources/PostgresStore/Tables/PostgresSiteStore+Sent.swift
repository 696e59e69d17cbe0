// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// In the order in which they are forgotten: by the database's clock, then by their place in the call.
    private static let rememberSent = Statement.writingOnce(
        "rememberSent",
        """
        INSERT INTO sent (owner, id, remembered_at, place, expires_at)
        SELECT $1, new.id, clock_timestamp(), new.place, $3 FROM unnest($2) WITH ORDINALITY AS new (id, place)
        ON CONFLICT (owner, id) DO UPDATE SET remembered_at = excluded.remembered_at, place = excluded.place,
            expires_at = excluded.expires_at
        """)
    /// No user may ask the hub about a send that is not remembered any more, so the hub forgets it as well.
    private static let forgetSent = Statement.writingOnce(
        "forgetSent",
        """
        WITH forgotten AS (
            DELETE FROM sent WHERE owner = $1 AND id IN (
                SELECT id FROM sent WHERE owner = $1 ORDER BY remembered_at DESC, place DESC OFFSET $2)
            RETURNING id)
        DELETE FROM hub_messages WHERE id IN (SELECT id FROM forgotten)
        """)
    /// Of one sender's too many are forgotten by one call of so many, which reads all of theirs; so each costs about the
    /// same whatever its sender has sent before. Until then `hasSent` passes them over.
    private static let callsPerForgetting = 64
    private static let hasSent = Statement.reading(
        "hasSent",
        """
        SELECT 1 FROM sent AS own WHERE owner = $1 AND id = $2 AND expires_at > $3 AND (
            SELECT count(*) FROM (
                SELECT 1 FROM sent AS newer WHERE newer.owner = $1
                AND (newer.remembered_at, newer.place) > (own.remembered_at, own.place) LIMIT $4) AS others) < $4
        """)

    package func rememberSent(
        _ ids: [String], owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        guard !ids.isEmpty else { return }
        // No row may be written twice by one statement.
        var known: Set<[UInt8]> = []
        let new = ids.map { Array($0.utf8) }.filter { known.insert($0).inserted }
        try database.call(Self.rememberSent, [.name(owner), .byteArrays(new), .time(expiresAt)])
        guard Int.random(in: 0..<Self.callsPerForgetting) == 0 else { return }
        try database.call(Self.forgetSent, [.name(owner), .count(options.quotas.sentPerOwner)])
    }

    package func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        let values: [Value] = [.name(owner), .name(id), .time(now), .count(options.quotas.sentPerOwner)]
        return try database.call(Self.hasSent, values) { (rows) throws(CallFailure) in !rows.isEmpty }
    }
}
