// SPDX-License-Identifier: Apache-2.0
import Store

/// Records that come from another store, as they are. Each statement answers a row when it has written one, and none when
/// the key is taken. A record that was removed here takes no key, but counts on.
extension StoredRecord {
    typealias Put = (statement: Statement, values: [Value])

    private static func inserting(_ name: String, _ sql: String, taken: String) -> Statement {
        .writing("import " + name, "INSERT INTO \(sql) ON CONFLICT \(taken) RETURNING 1")
    }

    private static let counting = "version = greatest(excluded.version, t.version + 1), removed_at = NULL"

    func put() throws(StoreError) -> Put {
        switch self {
        case .user(let user): Self.put(user)
        case .notification(let notification): Self.put(notification)
        case .device(let device): Self.put(device)
        case .session(let session): Self.put(session)
        case .sent(let sent): (Self.sent, [.name(sent.owner), .name(sent.id), .time(sent.expiresAt)])
        case .idempotentRequest(let request): Self.put(request)
        case .hubRegistration(let registration): try Self.put(registration)
        case .hubMessage(let message): (Self.message, try Self.values(message))
        case .queuedMessage(let message):
            (
                Self.queued,
                try Self.values(message) + [.count(try PostgresStore.bytes(of: message)), PostgresStore.anyPart()]
            )
        }
    }

    private static let user = inserting(
        "user",
        "users AS t (name, password_hash, tags, send_to, version) VALUES ($1, $2, $3, $4, $5)",
        taken: """
            (name) DO UPDATE SET password_hash = $2, tags = $3, send_to = $4, \(counting)
            WHERE t.removed_at IS NOT NULL
            """)

    private static func put(_ user: User) -> Put {
        (
            Self.user,
            [
                .name(user.name), .name(user.passwordHash), .text(user.tags.map(JSONText.array)),
                .text(user.sendTo.map(JSONText.array)), .count(user.version),
            ]
        )
    }

    private static let notification = inserting(
        "notification",
        """
        notifications (owner, id, token, payload, is_read, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """, taken: "DO NOTHING")

    private static func put(_ notification: SecureNotification) -> Put {
        (
            Self.notification,
            [
                .name(notification.owner), .integer(Int64(notification.id)), .name(notification.token),
                .name(notification.payload), .bool(notification.isRead), .time(notification.createdAt),
                .time(notification.expiresAt),
            ]
        )
    }

    private static let device = inserting(
        "device",
        """
        devices AS t (id, owner, platform, handle, tags, installation_id, is_pending, updated_at, version)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """,
        taken: """
            (id) DO UPDATE SET owner = $2, platform = $3, handle = $4, tags = $5, installation_id = $6,
                is_pending = $7, updated_at = $8, \(counting)
            WHERE t.removed_at IS NOT NULL
            """)

    private static func put(_ device: DeviceRecord) -> Put {
        (
            Self.device,
            [
                .name(device.id), .name(device.owner), .name(device.platform), .name(device.handle),
                .text(JSONText.array(device.tags)), .name(device.installationID), .bool(device.isPending),
                .time(device.updatedAt), .count(device.version),
            ]
        )
    }

    private static let session = inserting(
        "session", "sessions (id, owner, binding, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)",
        taken: "DO NOTHING")

    private static func put(_ session: Session) -> Put {
        (
            Self.session,
            [
                .name(session.id), .name(session.owner), .name(session.binding), .time(session.createdAt),
                .time(session.expiresAt),
            ]
        )
    }

    private static let sent = inserting(
        "sent", "sent (owner, id, remembered_at, place, expires_at) VALUES ($1, $2, clock_timestamp(), 0, $3)",
        taken: "DO NOTHING")

    private static let request = inserting(
        "idempotentRequest",
        """
        idempotent_requests (owner, key, fingerprint, created_at, expires_at, status, content_type, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """, taken: "DO NOTHING")

    private static func put(_ request: IdempotentRequest) -> Put {
        (
            Self.request,
            [
                .name(request.owner), .name(request.key), .name(request.fingerprint), .time(request.createdAt),
                .time(request.expiresAt), .integer((request.answer?.status).map(Int64.init)),
                .name(request.answer?.contentType), .name(request.answer?.body),
            ]
        )
    }

    private static let registration = Statement.writing(
        "import registration",
        """
        WITH put AS (
            INSERT INTO hub_registrations AS t
                (id, channel, channel_start, tags, description, updated_at, version)
            VALUES ($1, $2, $3, $4, $5, $6, $8)
            ON CONFLICT (id) DO UPDATE SET channel = $2, channel_start = $3, tags = $4, description = $5,
                updated_at = $6, \(counting)
            WHERE t.removed_at IS NOT NULL RETURNING 1),
        added AS (
            INSERT INTO hub_registration_tags (tag, registration_id) SELECT tag, $1 FROM unnest($7) AS new (tag)
            WHERE EXISTS (SELECT 1 FROM put) ON CONFLICT DO NOTHING)
        SELECT 1 FROM put
        """)

    private static func put(_ registration: HubRegistration) throws(StoreError) -> Put {
        (
            Self.registration,
            [
                .name(registration.id), .name(registration.channel), PostgresStore.channelStart(registration.channel),
                .text(JSONText.array(registration.tags)), .text(try JSONText.document(registration.description)),
                .time(registration.updatedAt), .names(registration.tags), .count(registration.version),
            ]
        )
    }

    private static let message = inserting(
        "message", "hub_messages (id, document, created_at, expires_at) VALUES ($1, $2, $3, $4)",
        taken: "DO NOTHING")
    private static let queued = Statement.writing(
        "import queued",
        """
        WITH added AS (
            INSERT INTO hub_queue (id, document, created_at, expires_at, bytes, queued_at)
            VALUES ($1, $2, $3, $4, $5, clock_timestamp()) ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, messages = messages + 1, bytes = bytes + $5
            WHERE part = $6 AND EXISTS (SELECT 1 FROM added))
        SELECT 1 FROM added
        """)

    private static func values(_ message: HubMessage) throws(StoreError) -> [Value] {
        [
            .name(message.id), .text(try JSONText.document(message.document)), .time(message.createdAt),
            .time(message.expiresAt),
        ]
    }
}
