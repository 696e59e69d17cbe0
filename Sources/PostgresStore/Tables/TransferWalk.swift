// SPDX-License-Identifier: Apache-2.0
import Store

extension TransferWalk {
    /// $1: the key that comes next; $2: how many; $3: the time, of what expires.
    private static func byID<Record: RowRecord>(
        _ name: String, from table: String, where condition: String? = nil, expires: Bool = false,
        id: KeyPath<Record, String> & Sendable, _ record: @escaping @Sendable (Record) -> StoredRecord
    ) -> TransferWalk {
        let only = condition ?? (expires ? "AND expires_at > $3" : "")
        let statement = Statement.reading(
            "export " + name, "SELECT \(Record.selected) FROM \(table) WHERE id >= $1 \(only) ORDER BY id LIMIT $2")
        return TransferWalk(statement: statement, start: [.behind(nil)], expires: expires) {
            (row) throws(CallFailure) in
            let found = try Record(row)
            return (record(found), [.behind(found[keyPath: id])])
        }
    }

    static let all: [TransferWalk] = [
        byID("seen users", from: "seen_users", expires: true, id: \LastSeen.owner) { .lastSeen($0) },
        notifications,
        byID("devices", from: "devices", where: "AND removed_at IS NULL", id: \DeviceRecord.id) { .device($0) },
        byID("sessions", from: "sessions", expires: true, id: \Session.id) { .session($0) },
        byID(
            "appTokens", from: "app_tokens", where: "AND (expires_at IS NULL OR expires_at > $3)", expires: true,
            id: \AppToken.id
        ) { .appToken($0) },
        sent,
        byID("sentMessages", from: "messages", expires: true, id: \SentMessage.id) { .message($0) },
        openings, idempotentRequests,
        byID("registrations", from: "hub_registrations", where: "AND removed_at IS NULL", id: \HubRegistration.id) {
            .hubRegistration($0)
        },
        byID("messages", from: "hub_messages", expires: true, id: \HubMessage.id) { .hubMessage($0) },
        byID("queue", from: QueuedRow.all, expires: true, id: \QueuedRow.message.id) {
            .queuedMessage($0.message)
        },
        byID("scheduled sends", from: "scheduled_sends", expires: true, id: \HubMessage.id) { .scheduledSend($0) },
    ]

    private static let notifications = TransferWalk(
        statement: .reading(
            "export notifications",
            """
            SELECT \(SecureNotification.selected) FROM notifications
            WHERE (owner, id) > ($1, $2) AND expires_at > $4 ORDER BY owner, id LIMIT $3
            """),
        start: [.bytes([]), .integer(.min)], expires: true
    ) { (row) throws(CallFailure) in
        let found = try SecureNotification(row)
        return (.notification(found), [.name(found.owner), .integer(Int64(found.id))])
    }

    private static let sent = TransferWalk(
        statement: .reading(
            "export sent",
            """
            SELECT id, owner, message, expires_at FROM sent
            WHERE (owner, id) >= ($1, $2) AND expires_at > $4 ORDER BY owner, id LIMIT $3
            """),
        start: [.bytes([]), .bytes([])], expires: true
    ) { (row) throws(CallFailure) in
        let found = SentNotification(
            id: try row.string(0), owner: try row.string(1), message: try row.optionalString(2),
            expiresAt: try row.time(3))
        return (.sent(found), [.name(found.owner), .behind(found.id)])
    }

    private static let openings = TransferWalk(
        statement: .reading(
            "export openings",
            """
            SELECT \(MessageOpening.columns) FROM openings
            WHERE (message, opener) >= ($1, $2) AND expires_at > $4 ORDER BY message, opener LIMIT $3
            """),
        start: [.bytes([]), .bytes([])], expires: true
    ) { (row) throws(CallFailure) in
        let found = MessageOpening(
            opener: try row.string(1), message: try row.string(0), expiresAt: try row.time(2))
        return (.opening(found), [.name(found.message), .behind(found.opener)])
    }

    private static let idempotentRequests = TransferWalk(
        statement: .reading(
            "export idempotentRequests",
            """
            SELECT \(IdempotentRequest.selected) FROM idempotent_requests
            WHERE (owner, key) >= ($1, $2) AND expires_at > $4 ORDER BY owner, key LIMIT $3
            """),
        start: [.bytes([]), .bytes([])], expires: true
    ) { (row) throws(CallFailure) in
        let found = try IdempotentRequest(row)
        return (.idempotentRequest(found), [.name(found.owner), .behind(found.key)])
    }
}
