// SPDX-License-Identifier: Apache-2.0
import Store

extension PostgresSiteStore {
    package func putWaiting(_ entries: [HubMessage], in list: WaitingList) throws(StoreError) {
        guard !entries.isEmpty else { return }
        let room = options.quotas.room(of: list)
        let values: [Value] = [
            .names(entries.map(\.id)), .texts(try Self.documents(of: entries)),
            .integers(entries.map(\.createdAt.seconds)), .integers(entries.map(\.expiresAt.seconds)),
            .names(entries.map { $0.owner ?? "" }), entries[0].ownerValue, .count(room.total), .count(room.free),
            .count(room.share),
        ]
        try addWithinRoom(list.statements.put, values)
    }

    package func waiting(in list: WaitingList, except ids: Set<String>) throws(StoreError) -> [HubMessage] {
        try all(list.statements.all, [.names(ids)])
    }

    package func waiting(in list: WaitingList, of owner: String) throws(StoreError) -> [HubMessage] {
        try all(list.statements.ofOwner, [.name(owner)])
    }

    package func waitingEntry(_ id: String, in list: WaitingList) throws(StoreError) -> HubMessage? {
        try first(list.statements.one, [.name(id)])
    }

    package func removeWaiting(_ ids: [String], from list: WaitingList) throws(StoreError) {
        guard !ids.isEmpty else { return }
        try database.call(list.statements.remove, [.names(ids)])
    }

    /// Values are compared, and the change depends on the row's own text: another version, or a person, may have written the
    /// same value in another way.
    package func changeWaiting(
        _ entry: HubMessage, to new: HubMessage?, in list: WaitingList
    ) throws(StoreError) -> Bool {
        let text = try database.call(list.statements.text, [.name(entry.id)]) { (rows) throws(CallFailure) -> String? in
            guard let row = rows.first, try row.document(0) == entry.document else { return nil }
            return try row.string(0)
        }
        guard let text else { return false }
        var values: [Value] = [.name(entry.id), .text(text)]
        guard let new else { return try database.call(list.statements.take, values) > 0 }
        values.append(.text(try JSONText.document(new.document)))
        return try database.call(list.statements.replace, values) > 0
    }

    /// Its writes are not fenced: of an event that two processes deliver the receiver knows the id already, and of a message that two
    /// processes begin one finds it changed.
    package func acquireLease(of list: WaitingList) throws(StoreError) -> DeliveryLease? {
        switch list {
        case .webhookEvents: try acquireLease("webhooks", held: LeaseHolder())
        case .sends: try acquireLease("scheduled sends", held: LeaseHolder())
        }
    }
}

extension WaitingList {
    fileprivate var statements: WaitingStatements {
        switch self {
        case .webhookEvents: .webhookEvents
        case .sends: .sends
        }
    }
}

/// What is done with the table of a list.
private struct WaitingStatements {
    static let webhookEvents = WaitingStatements("webhook_events")
    static let sends = WaitingStatements("scheduled_sends")

    let put: Statement
    let all: Statement
    let ofOwner: Statement
    let one: Statement
    let text: Statement
    let remove: Statement
    let replace: Statement
    let take: Statement

    private static let room = RoomRefusal.branches(
        adding: "added.bytes", toAll: "held.bytes", own: "held.own", of: "$6", total: "$7", free: "$8", share: "$9")

    private init(_ table: String) {
        put = .writingOnce(
            "put \(table)",
            """
            WITH held AS (
                SELECT coalesce(sum(octet_length(document)), 0)::bigint AS bytes,
                    coalesce(sum(octet_length(document)) FILTER (WHERE owner = $6), 0)::bigint AS own,
                    count(*) FILTER (WHERE id = ANY ($1)) = cardinality($1) AS is_known
                FROM \(table)),
            added AS (SELECT sum(octet_length(document))::bigint AS bytes FROM unnest($2) AS new (document)),
            room AS (
                SELECT CASE WHEN held.is_known THEN \(RoomRefusal.none) \(Self.room) END::bigint AS refusal
                FROM held, added),
            put AS (
                INSERT INTO \(table) (\(PostgresSiteStore.listed))
                SELECT new.* FROM unnest($1, $2, $3, $4, $5) AS new (\(PostgresSiteStore.listed)), room
                WHERE room.refusal = \(RoomRefusal.none)
                ON CONFLICT (id) DO UPDATE SET document = excluded.document)
            SELECT refusal FROM room
            """)
        all = .reading(
            "all \(table)",
            """
            SELECT \(HubMessage.selected) FROM \(table) WHERE NOT id = ANY ($1)
            ORDER BY created_at, id
            """)
        ofOwner = .reading(
            "own \(table)",
            """
            SELECT \(HubMessage.selected) FROM \(table) WHERE owner IN ($1, '')
            ORDER BY created_at, id
            """)
        one = .reading("one \(table)", "SELECT \(HubMessage.selected) FROM \(table) WHERE id = $1")
        text = .reading("text of \(table)", "SELECT document FROM \(table) WHERE id = $1")
        remove = .writingOnce("remove \(table)", "DELETE FROM \(table) WHERE id = ANY ($1)")
        replace = .writing("replace \(table)", "UPDATE \(table) SET document = $3 WHERE id = $1 AND document = $2")
        take = .writing("take \(table)", "DELETE FROM \(table) WHERE id = $1 AND document = $2")
    }
}
