// SPDX-License-Identifier: Apache-2.0
import Store
internal import Text

/// Records that come from another store, as they are. Each statement answers a row when it has written one, and none when
/// the key is taken. What has expired or was removed here takes no key; what was removed counts on.
extension StoredRecord {
    typealias Put = (statement: Statement, values: [Value])

    /// - Parameter now: what has expired by then is replaced.
    func put(now: Timestamp) throws(StoreError) -> Put {
        switch self {
        case .user(let user): (Self.user, user.values + [.count(user.version)])
        case .lastSeen(let seen): (Self.seen, seen.values + [.time(now)])
        case .notification(let notification): Self.put(notification, now)
        case .device(let device): (Self.device, device.values + [.count(device.version)])
        case .session(let session): (Self.session, session.values + [.time(now)])
        case .appToken(let token): (Self.appToken, token.values + [.time(now)])
        case .sent(let sent):
            (
                Self.sent,
                [
                    .name(sent.owner), .name(sent.id), .integer(0), .time(sent.expiresAt), .time(now),
                    .name(sent.message),
                ]
            )
        case .message(let message): (Self.sentMessage, message.values + [.time(now)])
        case .opening(let opening): (Self.opening, opening.values + [.time(now)])
        case .idempotentRequest(let request): (Self.request, request.values + [.time(now)])
        case .hubRegistration(let registration):
            (
                Self.registration,
                try registration.values() + [.count(registration.version), .names(registration.tags)]
            )
        case .hubMessage(let message): (Self.message, try message.values() + [.time(now)])
        case .scheduledSend(let send): (Self.send, try send.values() + [.time(now)])
        case .queuedMessage(let message):
            (
                message.notBefore == nil ? Self.queued : Self.scheduled,
                try message.values() + [
                    .count(try PostgresSiteStore.bytes(of: message)), PostgresSiteStore.anyPart(),
                ] + (message.notBefore.map { [.time($0)] } ?? [])
            )
        }
    }

    // MARK: Statements

    /// The columns' values are $1, $2 and so on; behind them comes the time.
    private static func expiring(_ table: String, _ columns: Columns, key: [String] = ["id"]) -> Statement {
        .writing(
            "import \(table)",
            """
            INSERT INTO \(table) AS t (\(columns)) VALUES (\(columns.parameters))
            ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(columns.assignments(key: key))
            WHERE t.expires_at <= $\(columns.names.count + 1) RETURNING 1
            """)
    }

    /// The version comes behind the columns.
    private static func versioned(_ table: String, _ columns: Columns, key: String = "id") -> String {
        """
        INSERT INTO \(table) AS t (\(columns), version)
        VALUES (\(columns.parameters), $\(columns.names.count + 1))
        ON CONFLICT (\(key)) DO UPDATE SET \(columns.assignments(key: [key])),
            version = greatest(excluded.version, t.version + 1), removed_at = NULL
        WHERE t.removed_at IS NOT NULL RETURNING 1
        """
    }

    private static let user = Statement.writing("import users", versioned("users", User.columns, key: "name"))
    private static let seen = expiring("seen_users", LastSeen.columns)
    private static let notification = expiring(
        "notifications",
        [
            "owner", "id", "token", "payload", "is_read", "created_at", "expires_at", "sender", "size", "is_plain",
            "sequence",
        ],
        key: ["owner", "id"])
    private static let device = Statement.writing("import devices", versioned("devices", DeviceRecord.columns))
    private static let session = expiring("sessions", Session.columns)
    private static let appToken = expiring("app_tokens", AppToken.columns)
    private static let request = expiring(
        "idempotent_requests", IdempotentRequest.columns, key: ["owner", "key"])
    private static let message = expiring("hub_messages", HubMessage.columns)
    private static let send = expiring("scheduled_sends", HubMessage.columns)
    private static let sentMessage = expiring("messages", SentMessage.columns)
    private static let opening = expiring("openings", MessageOpening.columns, key: ["message", "opener"])
    private static let sent = Statement.writing(
        "import sent",
        """
        INSERT INTO sent AS t (owner, id, remembered_at, place, message, expires_at)
        VALUES ($1, $2, clock_timestamp(), $3, $6, $4)
        ON CONFLICT (owner, id) DO UPDATE SET remembered_at = excluded.remembered_at, message = excluded.message,
            expires_at = excluded.expires_at
        WHERE t.expires_at <= $5 RETURNING 1
        """)
    /// The tags' index is as in `PostgresSiteStore.putHubRegistration(_:)`; a removed registration has none.
    private static let registration = Statement.writing(
        "import hub_registrations",
        """
        WITH put AS (\(versioned("hub_registrations", HubRegistration.columns))),
        added AS (
            INSERT INTO hub_registration_tags (tag, registration_id)
            SELECT tag, $1 FROM unnest(\(HubRegistration.columns.parameter(behind: 2))) AS new (tag)
            WHERE EXISTS (SELECT 1 FROM put) ON CONFLICT DO NOTHING)
        SELECT 1 FROM put
        """)
    private static let queued = Statement.writing(
        "import hub_queue",
        """
        WITH added AS (
            INSERT INTO hub_queue (\(HubMessage.columns), bytes, queued_at)
            VALUES (\(HubMessage.columns.parameters), $6, clock_timestamp()) ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, messages = messages + 1, bytes = bytes + $6
            WHERE part = $7 AND EXISTS (SELECT 1 FROM added))
        SELECT 1 FROM added
        """)

    /// One that has become due is in the queue.
    private static let scheduled = Statement.writing(
        "import hub_scheduled",
        """
        WITH added AS (
            INSERT INTO hub_scheduled (\(HubMessage.columns), bytes, not_before)
            SELECT \(HubMessage.columns.parameters), $6, $8 WHERE NOT EXISTS (SELECT 1 FROM hub_queue WHERE id = $1)
            ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, scheduled_bytes = scheduled_bytes + $6
            WHERE part = $7 AND EXISTS (SELECT 1 FROM added))
        SELECT 1 FROM added
        """)

    private static func put(_ notification: SecureNotification, _ now: Timestamp) -> Put {
        (
            Self.notification,
            [
                .name(notification.owner), .integer(Int64(notification.id)), .name(notification.token),
                .name(notification.payload), .bool(notification.isRead), .time(notification.createdAt),
                .time(notification.expiresAt), .name(notification.sender), .count(notification.size),
                .bool(notification.isPlain), .integer(notification.sequence), .time(now),
            ]
        )
    }
}
