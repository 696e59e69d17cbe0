// SPDX-License-Identifier: Apache-2.0
import Store

extension PostgresStore {
    private static let columns = "id, token, owner, payload, is_read, created_at, expires_at"
    /// Ids that were drawn and taken: with a full quota one of two million draws meets one.
    private static let maximumDraws = 5

    /// Callers at the same moment each find the room that there was before, so they may exceed the caps by their number.
    private static let createNotification = Statement.writingOnce(
        "createNotification",
        """
        WITH held AS (
            SELECT count(*) AS records, coalesce(sum(octet_length(payload) + $9::bigint), 0)::bigint AS bytes
            FROM notifications WHERE owner = $1 AND expires_at > $5),
        made AS (
            INSERT INTO notifications (owner, id, token, payload, is_read, created_at, expires_at)
            SELECT $1, $2, $3, $4, false, $5, $6 FROM held
            WHERE records < $7 AND bytes + octet_length($4) + $9 <= $8
            ON CONFLICT (owner, id) DO UPDATE SET id = excluded.id WHERE notifications.token = excluded.token
            RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM made) OR
            EXISTS (SELECT 1 FROM notifications WHERE owner = $1 AND id = $2 AND token = $3),
            records < $7 AND bytes + octet_length($4) + $9 <= $8
        FROM held
        """)
    private static let notification = Statement.reading(
        "notification", "SELECT \(columns) FROM notifications WHERE owner = $1 AND id = $2 AND expires_at > $3")
    private static let notificationByToken = Statement.reading(
        "notificationByToken",
        "SELECT \(columns) FROM notifications WHERE owner = $1 AND token = $2 AND expires_at > $3")
    /// Where there is none of the id `after`, the comparison is NULL, and all are wanted.
    private static let notifications = Statement.reading(
        "notifications",
        """
        SELECT \(columns) FROM notifications WHERE owner = $1 AND expires_at > $2 AND NOT ($3 AND is_read)
        AND coalesce((created_at, id) < (
            SELECT created_at, id FROM notifications WHERE owner = $1 AND id = $4 AND expires_at > $2), true)
        ORDER BY created_at DESC, id DESC LIMIT $5
        """)
    /// Of two at once the second waits for the first, and finds nothing left to change; what it selects is of before.
    private static let readNotification = Statement.writing(
        "readNotification",
        """
        WITH first AS (
            UPDATE notifications SET is_read = true
            WHERE owner = $1 AND id = $2 AND expires_at > $3 AND NOT is_read RETURNING 1)
        SELECT id, token, owner, payload, NOT EXISTS (SELECT 1 FROM first), created_at, expires_at
        FROM notifications WHERE owner = $1 AND id = $2 AND expires_at > $3
        """)

    package func createNotification(
        owner: String, payload: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification {
        var random = KernelRandom()
        for _ in 0..<Self.maximumDraws {
            let new = SecureNotification(
                id: NotificationNames.id(using: &random), token: NotificationNames.token(using: &random), owner: owner,
                payload: payload, isRead: false, createdAt: now, expiresAt: expiresAt)
            if try create(new) { return new }
        }
        throw .unavailable(detail: "PostgreSQL, createNotification: no id is free")
    }

    /// Sending it twice makes it once: the token tells one's own, also where the first sending ends while this one waits.
    /// - Returns: false when the id is taken.
    private func create(_ new: SecureNotification) throws(StoreError) -> Bool {
        let values: [Value] = [
            .name(new.owner), .integer(Int64(new.id)), .name(new.token), .name(new.payload), .time(new.createdAt),
            .time(new.expiresAt), .count(options.caps.notificationsPerOwner),
            .count(options.caps.notificationBytesPerOwner),
            .count(FileStore.notificationOverhead),
        ]
        return try database.call(Self.createNotification, values) { (rows) throws(CallFailure) in
            guard let row = rows.first else { throw .malformed }
            if try row.bool(0) { return true }
            guard try row.bool(1) else { throw .told(.quotaExceeded) }
            return false
        }
    }

    package func notification(
        _ id: Int32, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        try first(Self.notification, [.name(owner), .integer(Int64(id)), .time(now)])
    }

    package func notification(
        token: String, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        try first(Self.notificationByToken, [.name(owner), .name(token), .time(now)])
    }

    package func notifications(
        owner: String, unreadOnly: Bool, after: Int32?, limit: Int, now: Timestamp
    ) throws(StoreError) -> [SecureNotification] {
        try all(
            Self.notifications,
            [
                .name(owner), .time(now), .bool(unreadOnly), .integer(after.map(Int64.init)),
                .count(max(0, limit)),
            ])
    }

    package func readNotification(
        _ id: Int32, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        try first(Self.readNotification, [.name(owner), .integer(Int64(id)), .time(now)])
    }
}

extension SecureNotification: RowRecord {
    init(_ row: Row) throws(CallFailure) {
        guard let id = Int32(exactly: try row.integer(0)) else { throw .malformed }
        self.init(
            id: id, token: try row.string(1), owner: try row.string(2), payload: try row.string(3),
            isRead: try row.bool(4), createdAt: try row.time(5), expiresAt: try row.time(6))
    }
}
