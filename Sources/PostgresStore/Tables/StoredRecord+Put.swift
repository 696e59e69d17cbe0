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
        case .user(let user): Self.put(user)
        case .lastSeen(let seen): (Self.seen, seen.values + [.time(now)])
        case .notification(let notification): Self.put(notification, now)
        case .device(let device): Self.put(device)
        case .session(let session): Self.put(session, now)
        case .appToken(let token): (Self.appToken, token.values + [.time(now)])
        case .sent(let sent):
            (Self.sent, [.name(sent.owner), .name(sent.id), .integer(0), .time(sent.expiresAt), .time(now)])
        case .message(let message): (Self.sentMessage, message.values + [.time(now)])
        case .opening(let opening): (Self.opening, opening.values + [.time(now)])
        case .idempotentRequest(let request): Self.put(request, now)
        case .hubRegistration(let registration): try Self.put(registration)
        case .hubMessage(let message): (Self.message, try Self.values(message) + [.time(now)])
        case .scheduledSend(let send): (Self.send, try Self.values(send) + [.time(now)])
        case .queuedMessage(let message):
            (
                message.notBefore == nil ? Self.queued : Self.scheduled,
                try Self.values(message) + [
                    .count(try PostgresSiteStore.bytes(of: message)), PostgresSiteStore.anyPart(),
                ] + (message.notBefore.map { [.time($0)] } ?? [])
            )
        }
    }

    // MARK: Statements

    /// The columns' values are $1, $2 and so on; behind them comes the time.
    private static func expiring(_ table: String, _ columns: [String], key: [String]) -> Statement {
        let list = columns.joined(separator: ", ")
        return .writing(
            "import \(table)",
            """
            INSERT INTO \(table) AS t (\(list)) VALUES (\(parameters(columns.count)))
            ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(assignments(columns, without: key))
            WHERE t.expires_at <= $\(columns.count + 1) RETURNING 1
            """)
    }

    /// The last column is the version.
    private static func versioned(_ table: String, _ columns: [String], key: String) -> String {
        """
        INSERT INTO \(table) AS t (\(columns.joined(separator: ", ")), version)
        VALUES (\(parameters(columns.count + 1)))
        ON CONFLICT (\(key)) DO UPDATE SET \(assignments(columns, without: [key])),
            version = greatest(excluded.version, t.version + 1), removed_at = NULL
        WHERE t.removed_at IS NOT NULL RETURNING 1
        """
    }

    private static func parameters(_ count: Int) -> String {
        (1...count).map { "$\($0)" }.joined(separator: ", ")
    }

    private static func assignments(_ columns: [String], without key: [String]) -> String {
        columns.filter { !key.contains($0) }.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    }

    private static let user = Statement.writing(
        "import users",
        versioned(
            "users",
            [
                "name", "password_hash", "tags", "send_to", "generation", "ended_at", "keeps_data", "upkeep",
                "work_due_at", "last_log_in_at", "is_secure_only", "credential_epoch", "disabled_at", "expires_at",
                "roles",
            ], key: "name"))
    private static let seen = expiring("seen_users", ["id", "seen_at", "expires_at"], key: ["id"])
    private static let notification = expiring(
        "notifications",
        ["owner", "id", "token", "payload", "is_read", "created_at", "expires_at", "sender", "size", "is_plain"],
        key: ["owner", "id"])
    private static let device = Statement.writing(
        "import devices",
        versioned(
            "devices",
            ["id", "owner", "platform", "handle", "tags", "installation_id", "is_pending", "updated_at", "alias"],
            key: "id"))
    private static let session = expiring(
        "sessions", ["id", "owner", "binding", "created_at", "expires_at"], key: ["id"])
    private static let appToken = expiring("app_tokens", AppToken.columnNames, key: ["id"])
    private static let request = expiring(
        "idempotent_requests",
        ["owner", "key", "fingerprint", "created_at", "expires_at", "status", "content_type", "body"],
        key: ["owner", "key"])
    private static let message = expiring(
        "hub_messages", ["id", "document", "created_at", "expires_at"], key: ["id"])
    private static let send = expiring(
        "scheduled_sends", ["id", "document", "created_at", "expires_at"], key: ["id"])
    private static let sentMessage = expiring(
        "messages", ["id", "owner", "sent_at", "document", "expires_at"], key: ["id"])
    private static let opening = expiring("openings", ["message", "opener", "expires_at"], key: ["message", "opener"])
    private static let sent = Statement.writing(
        "import sent",
        """
        INSERT INTO sent AS t (owner, id, remembered_at, place, expires_at)
        VALUES ($1, $2, clock_timestamp(), $3, $4)
        ON CONFLICT (owner, id) DO UPDATE SET remembered_at = excluded.remembered_at, expires_at = excluded.expires_at
        WHERE t.expires_at <= $5 RETURNING 1
        """)
    /// The tags' index is as in `PostgresSiteStore.putHubRegistration(_:)`; a removed registration has none.
    private static let registration = Statement.writing(
        "import hub_registrations",
        """
        WITH put AS (
            \(versioned(
                "hub_registrations", ["id", "channel", "channel_start", "tags", "description", "updated_at"],
                key: "id"))),
        added AS (
            INSERT INTO hub_registration_tags (tag, registration_id) SELECT tag, $1 FROM unnest($8) AS new (tag)
            WHERE EXISTS (SELECT 1 FROM put) ON CONFLICT DO NOTHING)
        SELECT 1 FROM put
        """)
    private static let queued = Statement.writing(
        "import hub_queue",
        """
        WITH added AS (
            INSERT INTO hub_queue (id, document, created_at, expires_at, bytes, queued_at)
            VALUES ($1, $2, $3, $4, $5, clock_timestamp()) ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, messages = messages + 1, bytes = bytes + $5
            WHERE part = $6 AND EXISTS (SELECT 1 FROM added))
        SELECT 1 FROM added
        """)

    /// One that has become due is in the queue.
    private static let scheduled = Statement.writing(
        "import hub_scheduled",
        """
        WITH added AS (
            INSERT INTO hub_scheduled (id, document, created_at, expires_at, bytes, not_before)
            SELECT $1, $2, $3, $4, $5, $7 WHERE NOT EXISTS (SELECT 1 FROM hub_queue WHERE id = $1)
            ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, scheduled_bytes = scheduled_bytes + $5
            WHERE part = $6 AND EXISTS (SELECT 1 FROM added))
        SELECT 1 FROM added
        """)

    // MARK: Values, in the order of the columns

    private static func put(_ user: User) -> Put {
        (Self.user, PostgresSiteStore.values(user) + [.count(user.version)])
    }

    private static func put(_ notification: SecureNotification, _ now: Timestamp) -> Put {
        (
            Self.notification,
            [
                .name(notification.owner), .integer(Int64(notification.id)), .name(notification.token),
                .name(notification.payload), .bool(notification.isRead), .time(notification.createdAt),
                .time(notification.expiresAt), .name(notification.sender), .count(notification.size),
                .bool(notification.isPlain), .time(now),
            ]
        )
    }

    private static func put(_ device: DeviceRecord) -> Put {
        (
            Self.device,
            [
                .name(device.id), .name(device.owner), .name(device.platform), .name(device.handle),
                .text(JSONText.array(device.tags)), .name(device.installationID), .bool(device.needsReconciliation),
                .time(device.updatedAt), .name(device.alias), .count(device.version),
            ]
        )
    }

    private static func put(_ session: Session, _ now: Timestamp) -> Put {
        (
            Self.session,
            [
                .name(session.id), .name(session.owner), .name(session.binding), .time(session.createdAt),
                .time(session.expiresAt), .time(now),
            ]
        )
    }

    private static func put(_ request: IdempotentRequest, _ now: Timestamp) -> Put {
        (
            Self.request,
            [
                .name(request.owner), .name(request.key), .name(request.fingerprint), .time(request.createdAt),
                .time(request.expiresAt), .integer((request.answer?.status).map(Int64.init)),
                .name(request.answer?.contentType), .name(request.answer?.body), .time(now),
            ]
        )
    }

    private static func put(_ registration: HubRegistration) throws(StoreError) -> Put {
        (
            Self.registration,
            [
                .name(registration.id), .name(registration.channel),
                PostgresSiteStore.channelStart(registration.channel),
                .text(JSONText.array(registration.tags)), .text(try JSONText.document(registration.description)),
                .time(registration.updatedAt), .count(registration.version), .names(registration.tags),
            ]
        )
    }

    private static func values(_ message: HubMessage) throws(StoreError) -> [Value] {
        [
            .name(message.id), .text(try JSONText.document(message.document)), .time(message.createdAt),
            .time(message.expiresAt),
        ]
    }
}
