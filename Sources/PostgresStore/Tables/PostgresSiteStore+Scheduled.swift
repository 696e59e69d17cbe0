// SPDX-License-Identifier: Apache-2.0
import Store
internal import Text

/// Messages that wait for their time, in a table of their own until they are due.
extension PostgresSiteStore {
    /// As `enqueueHubMessage`, which puts in what is due.
    private static let schedule = Statement.writingOnce(
        "scheduleHubMessage",
        """
        WITH total AS (SELECT coalesce(sum(scheduled_bytes), 0)::bigint AS bytes FROM hub_queue_totals),
        added AS (
            INSERT INTO hub_scheduled (id, document, bytes, created_at, expires_at, not_before, owner)
            SELECT $1, $2, $3, $4, $5, $8, $9 FROM total WHERE total.bytes + $3 <= $6
            ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, scheduled_bytes = scheduled_bytes + $3
            WHERE part = $7 AND EXISTS (SELECT 1 FROM added))
        SELECT total.bytes + $3 <= $6 OR EXISTS (SELECT 1 FROM hub_scheduled WHERE id = $1) FROM total
        """)

    private static let firstScheduled = Statement.reading(
        "firstScheduledHubMessage", "SELECT min(not_before) FROM hub_scheduled")

    /// Moves what is due into the queue, in one transaction, so that a message is in one of the two tables at every moment.
    /// Answers when the next one behind those is due.
    private static let move = Statement.writingOnce(
        "moveDueHubMessages",
        """
        WITH \(fence),
        due AS (
            DELETE FROM hub_scheduled WHERE not_before <= $3 AND \(isFenced) AND id IN (
                SELECT id FROM hub_scheduled WHERE not_before <= $3 ORDER BY not_before, id LIMIT $4)
            RETURNING id, document, bytes, created_at, expires_at, not_before, owner),
        added AS (
            INSERT INTO hub_queue (id, document, bytes, created_at, expires_at, not_before, owner, queued_at)
            SELECT id, document, bytes, created_at, expires_at, not_before, owner, clock_timestamp() FROM due
            ON CONFLICT (id) DO NOTHING RETURNING bytes),
        counted AS (
            UPDATE hub_queue_totals SET messages = messages + (SELECT count(*) FROM added),
                bytes = bytes + (SELECT coalesce(sum(added.bytes), 0)::bigint FROM added),
                scheduled_bytes = scheduled_bytes - (SELECT coalesce(sum(due.bytes), 0)::bigint FROM due)
            WHERE part = $2 AND EXISTS (SELECT 1 FROM due))
        SELECT \(isFenced), (SELECT min(not_before) FROM hub_scheduled WHERE not_before > $3)
        """)

    func schedule(_ message: HubMessage, _ notBefore: Timestamp) throws(StoreError) {
        guard notBefore <= message.createdAt + options.quotas.scheduledSeconds else { throw .quotaExceeded }
        let document = try JSONText.document(message.document)
        let values: [Value] = [
            .name(message.id), .text(document), .count(Self.bytes(of: document)), .time(message.createdAt),
            .time(message.expiresAt), .count(options.quotas.scheduledBytes), Self.anyPart(), .time(notBefore),
            message.ownerValue,
        ]
        try add(Self.schedule, values)
    }

    /// - Parameter limit: so many are moved; what is due besides is moved by the next call.
    /// - Returns: when the first message that is not due yet is; nil when none waits.
    /// - Throws: `conflict`, when this store held the lease and has lost it.
    func moveDueMessages(limit: Int, now: Timestamp) throws(StoreError) -> Timestamp? {
        // A move that finds nothing would still lock the lease's row, which costs a flush.
        let first = try answer(Self.firstScheduled, []) { (row) throws(CallFailure) in
            try row.optionalInteger(0).map { Timestamp(seconds: $0) }
        }
        guard let first, first <= now else { return first }
        return try fenced(Self.move, [.time(now), .count(limit)]) { (row) throws(CallFailure) in
            try row.optionalInteger(1).map { Timestamp(seconds: $0) }
        }
    }
}

/// A row of the queue, or of what is scheduled.
struct QueuedRow: RowRecord {
    static let selected = HubMessage.queue.selected()
    /// Of both tables at one moment: a message that is being moved is in one of them.
    static let all = "(SELECT \(selected) FROM hub_queue UNION ALL SELECT \(selected) FROM hub_scheduled) AS waiting"

    let message: HubMessage

    init(_ row: Row) throws(CallFailure) {
        message = try HubMessage.queue.record(row)
    }
}

extension HubMessage {
    /// Of what is due. `hub_scheduled` has the same columns, but for `queued_at`.
    static let queue = Table<HubMessage>("hub_queue")
    private static let new = queue.columns
    private static let (bytes, part) = (new.parameter(behind: 1), new.parameter(behind: 2))

    private static let queued = Statement.writing(
        "import hub_queue",
        """
        WITH added AS (
            INSERT INTO hub_queue (\(new), bytes, queued_at) VALUES (\(new.parameters), \(bytes), clock_timestamp())
            ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, messages = messages + 1, bytes = bytes + \(bytes)
            WHERE part = \(part) AND EXISTS (SELECT 1 FROM added))
        SELECT 1 FROM added
        """)
    /// One that has become due is in the queue.
    private static let scheduled = Statement.writing(
        "import hub_scheduled",
        """
        WITH added AS (
            INSERT INTO hub_scheduled (\(new), bytes)
            SELECT \(new.parameters), \(bytes) WHERE NOT EXISTS (SELECT 1 FROM hub_queue WHERE id = $1)
            ON CONFLICT (id) DO NOTHING RETURNING 1),
        counted AS (
            UPDATE hub_queue_totals SET puts = puts + 1, scheduled_bytes = scheduled_bytes + \(bytes)
            WHERE part = \(part) AND EXISTS (SELECT 1 FROM added))
        SELECT 1 FROM added
        """)

    @Sendable static func putQueued(_ message: HubMessage, now: Timestamp) throws(StoreError) -> RecordTable.Put {
        let rest: [Value] = [.count(try PostgresSiteStore.bytes(of: message)), PostgresSiteStore.anyPart()]
        return (message.notBefore == nil ? queued : scheduled, try queue.values(message) + rest)
    }
}
