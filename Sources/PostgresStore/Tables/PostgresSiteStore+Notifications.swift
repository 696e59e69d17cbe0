// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// Ids that were drawn and taken (with a full mailbox one of two million draws meets one), and times that others were
    /// faster where room had been made.
    private static let maximumDraws = 5

    private static let new = SecureNotification.columns
    /// How many, and how many bytes, the owner may have, and of these the sender.
    private static let room = (1...4).map(new.parameter(behind:))
    /// Callers at the same moment each find the room that there was before, so they may exceed the quotas by their number.
    private static let createNotification = Statement.writingOnce(
        "createNotification",
        """
        WITH mailbox (sender, is_read, size) AS (
            SELECT sender, is_read, coalesce(size, octet_length(payload)::bigint + 256) FROM notifications
            WHERE owner = \(new["owner"]) AND expires_at > \(new["created_at"]) AND is_plain = \(new["is_plain"])),
        room AS (
            SELECT count(*) < \(room[0]) AND coalesce(sum(size), 0)::bigint + \(new["size"])::bigint <= \(room[1]) AND (
                SELECT count(*) < \(room[2]) AND coalesce(sum(size), 0)::bigint + \(new["size"]) <= \(room[3])
                FROM mailbox WHERE sender = \(new["sender"]) AND NOT is_read) AS is_there
            FROM mailbox),
        made AS (
            INSERT INTO notifications (\(new)) SELECT \(new.parameters) FROM room WHERE is_there
            ON CONFLICT (owner, id) DO UPDATE SET id = excluded.id WHERE notifications.token = excluded.token
            RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM made) OR EXISTS (
            SELECT 1 FROM notifications
            WHERE owner = \(new["owner"]) AND id = \(new["id"]) AND token = \(new["token"])), is_there
        FROM room
        """)
    private static let mailbox = Statement.reading(
        "mailbox", "SELECT \(NotificationSummary.selected) FROM notifications WHERE owner = $1 AND expires_at > $2")
    private static let removeNotifications = Statement.writing(
        "removeNotifications", "DELETE FROM notifications WHERE owner = $1 AND id = ANY ($2) AND expires_at > $3")
    private static let notification = Statement.reading(
        "notification",
        "SELECT \(SecureNotification.selected) FROM notifications WHERE owner = $1 AND id = $2 AND expires_at > $3")
    private static let notificationByToken = Statement.reading(
        "notificationByToken",
        "SELECT \(SecureNotification.selected) FROM notifications WHERE owner = $1 AND token = $2 AND expires_at > $3")
    /// Where there is none of the id `after`, the comparison is NULL, and all are wanted.
    private static let notifications = Statement.reading(
        "notifications",
        """
        SELECT \(NotificationSummary.selected) FROM notifications
        WHERE owner = $1 AND expires_at > $2 AND NOT ($3 AND is_read) AND NOT ($6 AND is_plain)
        AND coalesce((created_at, sequence, id) < (
            SELECT created_at, sequence, id FROM notifications WHERE owner = $1 AND id = $4 AND expires_at > $2), true)
        ORDER BY created_at DESC, sequence DESC, id DESC LIMIT $5
        """)
    private static let payloads = Statement.reading(
        "payloads",
        "SELECT \(Payload.selected) FROM notifications WHERE owner = $1 AND id = ANY ($2) AND expires_at > $3")
    /// Tokens are drawn at random, so that the hash is another one after each change.
    private static let mailboxState = Statement.reading(
        "mailboxState",
        """
        SELECT count(*) FILTER (WHERE NOT is_read), count(*) || '-' || left(encode(sha256(coalesce(string_agg(
            token || CASE WHEN is_read THEN '-'::bytea ELSE '+'::bytea END, ''::bytea ORDER BY token), '')), 'hex'), 32)
        FROM notifications WHERE owner = $1 AND expires_at > $2
        """)
    /// Of two at once the second waits for the first, and finds nothing left to change; what it selects is of before.
    private static let readNotification = Statement.writing(
        "readNotification",
        """
        WITH first AS (
            UPDATE notifications SET is_read = true
            WHERE owner = $1 AND id = $2 AND expires_at > $3 AND NOT is_read RETURNING 1)
        SELECT \(SecureNotification.table.selected(["is_read": "NOT EXISTS (SELECT 1 FROM first)"]))
        FROM notifications WHERE owner = $1 AND id = $2 AND expires_at > $3
        """)

    package func createNotification(
        token: String?, owner: String, sender: String, payload: String, isPlain: Bool, now: Timestamp,
        expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification {
        var random = KernelRandom()
        for _ in 0..<Self.maximumDraws {
            let new = SecureNotification(
                id: NotificationNames.id(using: &random), token: token ?? NotificationNames.token(using: &random),
                owner: owner, sender: sender, payload: payload, isPlain: isPlain, isRead: false, createdAt: now,
                sequence: sequence.next(), expiresAt: expiresAt)
            let (isMade, hasRoom) = try create(new)
            if isMade { return new }
            if !hasRoom { try makeRoom(for: new) }
        }
        throw .unavailable(detail: "PostgreSQL, createNotification: no id is free")
    }

    /// Sending it twice makes it once: the token tells one's own, also where the first sending ends while this one waits.
    /// - Returns: whether it is there; where it is not, whether there is room for it: then the id is taken.
    private func create(_ new: SecureNotification) throws(StoreError) -> (isMade: Bool, hasRoom: Bool) {
        let quotas = options.quotas
        var values = try new.values()
        if new.isPlain {
            let room: [Value] = [.count(quotas.plainMessagesPerOwner), .count(quotas.plainMessageBytesPerOwner)]
            values += room + room
        } else {
            values += [.count(quotas.notificationsPerOwner), .count(quotas.notificationBytesPerOwner)]
            values += [.count(quotas.notificationsPerSender), .count(quotas.notificationBytesPerSender)]
        }
        return try answer(Self.createNotification, values) { (row) throws(CallFailure) in
            (try row.bool(0), try row.bool(1))
        }
    }

    private func makeRoom(for new: SecureNotification) throws(StoreError) {
        let now = new.createdAt
        let held: [NotificationSummary] = try all(Self.mailbox, [.name(new.owner), .time(now)])
        let leaving = try MailboxRoom(held, options.quotas, isPlain: new.isPlain)
            .leaving(for: new.sender, adding: new.size, now: now)
        _ = try remove(leaving, owner: new.owner, now)
    }

    private func remove(_ ids: [Int32], owner: String, _ now: Timestamp) throws(StoreError) -> Int {
        guard !ids.isEmpty else { return 0 }
        return try database.call(Self.removeNotifications, [.name(owner), .integers(ids.map(Int64.init)), .time(now)])
    }

    package func removeNotification(_ id: Int32, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        try remove([id], owner: owner, now) > 0
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
        owner: String, unreadOnly: Bool, secureOnly: Bool, after: Int32?, limit: Int, now: Timestamp
    ) throws(StoreError) -> [NotificationSummary] {
        try all(
            Self.notifications,
            [
                .name(owner), .time(now), .bool(unreadOnly), .integer(after.map(Int64.init)),
                .count(max(0, limit)), .bool(secureOnly),
            ])
    }

    package func payloads(of ids: [Int32], owner: String, now: Timestamp) throws(StoreError) -> [Int32: String] {
        let found: [Payload] = try all(
            Self.payloads, [.name(owner), .integers(ids.map(Int64.init)), .time(now)])
        return Dictionary(found.map { ($0.id, $0.text) }) { first, _ in first }
    }

    package func mailboxState(owner: String, now: Timestamp) throws(StoreError) -> MailboxState {
        try answer(Self.mailboxState, [.name(owner), .time(now)]) { (row) throws(CallFailure) in
            MailboxState(unread: try row.integer(0), revision: try row.string(1))
        }
    }

    package func readNotification(
        _ id: Int32, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        try first(Self.readNotification, [.name(owner), .integer(Int64(id)), .time(now)])
    }
}

extension SecureNotification: TableRecord {
    static let table = Table<SecureNotification>(
        "notifications", key: ["owner", "id"], derived: [.init(name: "size") { .count($0.size) }])
}

extension NotificationSummary: RowRecord {
    /// Of a row of before, `size` is about what its line in a file would take.
    static let selected = """
        id, token, sender, is_read, created_at, expires_at, coalesce(size, octet_length(payload)::bigint + 256), is_plain,
        sequence
        """

    init(_ row: Row) throws(CallFailure) {
        guard let id = Int32(exactly: try row.integer(0)) else { throw .malformed }
        self.init(
            id: id, token: try row.string(1), sender: try row.string(2), isPlain: try row.bool(7),
            isRead: try row.bool(3), createdAt: try row.time(4), sequence: Int64(try row.integer(8)),
            expiresAt: try row.time(5), size: try row.integer(6))
    }
}

private struct Payload: RowRecord {
    static let selected = "id, payload"

    let id: Int32
    let text: String

    init(_ row: Row) throws(CallFailure) {
        guard let id = Int32(exactly: try row.integer(0)) else { throw .malformed }
        (self.id, text) = (id, try row.string(1))
    }
}
