// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// What a message takes beside its document, in bytes.
    private static let queuedOverhead = 128
    /// Into how many parts the totals are divided; as the schema has them.
    private static let parts: Int64 = 64

    /// What the owner of the message has in the queue. It is counted only where it matters.
    private static let own = "(SELECT coalesce(sum(bytes), 0)::bigint FROM hub_queue WHERE owner = $8)"
    private static let room = RoomRefusal.branches(
        adding: "$3", toAll: "total.bytes", own: own, of: "$8", total: "$6", free: "$9", share: "$10")
    /// Writers at the same moment may exceed the limit by a message each. Sending it twice puts it in once: where there is
    /// room for what was not added, it has been put in since this sending began, and is not seen here.
    private static let enqueueHubMessage = Statement.writingOnce(
        "enqueueHubMessage",
        """
        WITH total AS (SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM hub_queue_totals),
        room AS (
            SELECT CASE \(room) END::bigint AS refusal FROM total),
        added AS (
            INSERT INTO hub_queue (id, document, bytes, created_at, expires_at, owner, queued_at)
            SELECT $1, $2, $3, $4, $5, $8, clock_timestamp() FROM room WHERE refusal = \(RoomRefusal.none)
            ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, messages = messages + 1, bytes = bytes + $3
            WHERE part = $7 AND EXISTS (SELECT 1 FROM added))
        SELECT CASE WHEN EXISTS (SELECT 1 FROM hub_queue WHERE id = $1) THEN \(RoomRefusal.none)::bigint ELSE refusal END
        FROM room
        """)
    private static let queuedHubMessage = Statement.reading(
        "queuedHubMessage", "SELECT \(QueuedRow.selected) FROM \(QueuedRow.all) WHERE id = $1")
    private static let dueHubMessages = Statement.reading(
        "dueHubMessages",
        """
        SELECT \(QueuedRow.selected) FROM hub_queue WHERE NOT id = ANY ($1)
        ORDER BY coalesce(not_before, created_at), queued_at, id LIMIT $2
        """)
    private static let hubQueueRevision = Statement.reading(
        "hubQueueRevision", "SELECT coalesce(sum(puts), 0)::bigint FROM hub_queue_totals")
    private static let hubQueueBacklog = Statement.reading(
        "hubQueueBacklog",
        """
        WITH due AS (SELECT not_before, bytes FROM hub_scheduled WHERE not_before <= $1)
        SELECT coalesce(sum(messages), 0)::bigint + (SELECT count(*) FROM due),
            least((SELECT min(coalesce(not_before, created_at)) FROM hub_queue), (SELECT min(not_before) FROM due)),
            coalesce(sum(bytes), 0)::bigint + (SELECT coalesce(sum(bytes), 0)::bigint FROM due)
        FROM hub_queue_totals
        """)

    /// A holder whose lease was lost writes nothing: the row of the lease is locked until this is done, so no process can
    /// acquire it meanwhile, and one that acquired it before has another token. NULL: no lease is asked for.
    static let fence = "lease AS (SELECT 1 FROM hub_turns WHERE name = 'delivery' AND token = $1 FOR UPDATE)"
    static let isFenced = "($1::bigint IS NULL OR EXISTS (SELECT 1 FROM lease))"
    private static let updateQueuedHubMessages = Statement.writingOnce(
        "updateQueuedHubMessages",
        """
        WITH \(fence),
        old AS (SELECT id, bytes FROM hub_queue WHERE id = ANY ($3)),
        changed AS (
            UPDATE hub_queue AS q SET document = new.document, bytes = new.bytes, created_at = new.created_at,
                expires_at = new.expires_at
            FROM unnest($3, $4, $5, $6, $7) AS new (id, document, bytes, created_at, expires_at)
            WHERE q.id = new.id AND \(isFenced) RETURNING q.id, q.bytes),
        counted AS (
            UPDATE hub_queue_totals SET bytes = bytes + (
                SELECT coalesce(sum(changed.bytes - old.bytes), 0)::bigint FROM changed JOIN old ON old.id = changed.id)
            WHERE part = $2 AND EXISTS (SELECT 1 FROM changed))
        SELECT \(isFenced)
        """)
    private static let removeQueuedHubMessages = Statement.writingOnce(
        "removeQueuedHubMessages",
        """
        WITH \(fence),
        unscheduled AS (DELETE FROM hub_scheduled WHERE id = ANY ($3) AND \(isFenced) RETURNING bytes),
        removed AS (DELETE FROM hub_queue WHERE id = ANY ($3) AND \(isFenced) RETURNING bytes),
        counted AS (
            UPDATE hub_queue_totals SET messages = messages - (SELECT count(*) FROM removed),
                bytes = bytes - (SELECT coalesce(sum(removed.bytes), 0)::bigint FROM removed),
                scheduled_bytes = scheduled_bytes
                    - (SELECT coalesce(sum(unscheduled.bytes), 0)::bigint FROM unscheduled)
            WHERE part = $2 AND (EXISTS (SELECT 1 FROM removed) OR EXISTS (SELECT 1 FROM unscheduled)))
        SELECT \(isFenced)
        """)

    /// The columns of messages that come as lists, one of each column.
    static let listed = "id, document, created_at, expires_at, owner"
    private static let finishQueuedHubMessages = Statement.writingOnce(
        "finishQueuedHubMessages",
        """
        WITH \(fence),
        put AS (
            INSERT INTO hub_messages (\(listed))
            SELECT new.* FROM unnest($3, $4, $5, $6, $7) AS new (\(listed)) WHERE \(isFenced)
            ON CONFLICT (id) DO UPDATE SET document = excluded.document, created_at = excluded.created_at,
                expires_at = excluded.expires_at, owner = excluded.owner),
        removed AS (DELETE FROM hub_queue WHERE id = ANY ($3) AND \(isFenced) RETURNING bytes),
        counted AS (
            UPDATE hub_queue_totals SET messages = messages - (SELECT count(*) FROM removed),
                bytes = bytes - (SELECT coalesce(sum(removed.bytes), 0)::bigint FROM removed)
            WHERE part = $2 AND EXISTS (SELECT 1 FROM removed))
        SELECT \(isFenced)
        """)

    package func enqueueHubMessage(_ message: HubMessage) throws(StoreError) {
        if let notBefore = message.notBefore { return try schedule(message, notBefore) }
        let document = try JSONText.document(message.document)
        let room = options.quotas.queueRoom
        let values: [Value] = [
            .name(message.id), .text(document), .count(Self.bytes(of: document)), .time(message.createdAt),
            .time(message.expiresAt), .count(room.total), Self.anyPart(), message.ownerValue, .count(room.free),
            .count(room.share),
        ]
        try addWithinRoom(Self.enqueueHubMessage, values)
    }

    package func queuedHubMessage(_ id: String, notBefore: Timestamp?) throws(StoreError) -> HubMessage? {
        let found: QueuedRow? = try first(Self.queuedHubMessage, [.name(id)])
        return found?.message
    }

    package func dueHubMessages(
        except ids: Set<String>, limit: Int, now: Timestamp
    ) throws(StoreError) -> DueHubMessages {
        let limit = max(0, limit)
        let next = try moveDueMessages(limit: limit, now: now)
        let found: [QueuedRow] = try all(Self.dueHubMessages, [.names(ids), .count(limit)])
        return DueHubMessages(found.map(\.message), next: next)
    }

    package func updateQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        guard !messages.isEmpty else { return }
        let documents = try Self.documents(of: messages)
        try fenced(
            Self.updateQueuedHubMessages,
            [
                .names(messages.map(\.id)), .texts(documents), .integers(documents.map { Int64(Self.bytes(of: $0)) }),
                .integers(messages.map(\.createdAt.seconds)), .integers(messages.map(\.expiresAt.seconds)),
            ])
    }

    package func removeQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        guard !messages.isEmpty else { return }
        try fenced(Self.removeQueuedHubMessages, [.names(messages.map(\.id))])
    }

    package func finishQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        guard !messages.isEmpty else { return }
        try fenced(
            Self.finishQueuedHubMessages,
            [
                .names(messages.map(\.id)), .texts(try Self.documents(of: messages)),
                .integers(messages.map(\.createdAt.seconds)), .integers(messages.map(\.expiresAt.seconds)),
                .names(messages.map { $0.owner ?? "" }),
            ])
    }

    static func documents(of messages: [HubMessage]) throws(StoreError) -> [String] {
        var documents: [String] = []
        for message in messages { documents.append(try JSONText.document(message.document)) }
        return documents
    }

    /// - Throws: `conflict`, when this store held the lease and has lost it.
    private func fenced(_ statement: Statement, _ values: [Value]) throws(StoreError) {
        try fenced(statement, values) { _ in }
    }

    /// - Parameter read: reads the columns behind the first, which says whether the lease is held.
    func fenced<Result>(
        _ statement: Statement, _ values: [Value], _ read: (Row) throws(CallFailure) -> Result
    ) throws(StoreError) -> Result {
        try answer(statement, [.integer(lease.token), Self.anyPart()] + values) { (row) throws(CallFailure) in
            if try !row.bool(0) { throw .told(.conflict) }
            return try read(row)
        }
    }

    /// Where the database cannot be asked it is empty, which is unlike all others: who wants to know looks, and hears why.
    package func hubQueueRevision(now: Timestamp) -> QueueRevision {
        do throws(StoreError) {
            let puts = try answer(Self.hubQueueRevision, []) { (row) throws(CallFailure) in try row.integer(0) }
            return QueueRevision([puts])
        } catch {
            return QueueRevision([])
        }
    }

    package func hubQueueBacklog(now: Timestamp) throws(StoreError) -> QueueBacklog {
        try answer(Self.hubQueueBacklog, [.time(now)]) { (row) throws(CallFailure) in
            QueueBacklog(
                messages: try row.integer(0), oldest: try row.optionalInteger(1).map { Timestamp(seconds: $0) },
                bytes: try row.integer(2))
        }
    }

    static func bytes(of document: String) -> Int { document.utf8.count + queuedOverhead }
    static func bytes(of message: HubMessage) throws(StoreError) -> Int {
        bytes(of: try JSONText.document(message.document))
    }
    static func anyPart() -> Value { .integer(.random(in: 0..<parts)) }
}
