// SPDX-License-Identifier: Apache-2.0
import Store

extension PostgresSiteStore {
    private static let putWebhookEvents = Statement.writingOnce(
        "putWebhookEvents",
        """
        WITH room AS (
            SELECT coalesce(sum(octet_length(document)), 0)::bigint <= $5
                OR count(*) FILTER (WHERE id = ANY ($1)) = cardinality($1) AS is_there
            FROM webhook_events),
        put AS (
            INSERT INTO webhook_events (id, document, created_at, expires_at)
            SELECT new.* FROM unnest($1, $2, $3, $4) AS new (id, document, created_at, expires_at), room
            WHERE room.is_there
            ON CONFLICT (id) DO UPDATE SET document = excluded.document)
        SELECT is_there FROM room
        """)
    private static let webhookEvents = Statement.reading(
        "webhookEvents",
        """
        SELECT id, document, created_at, expires_at FROM webhook_events WHERE NOT id = ANY ($1)
        ORDER BY created_at, id
        """)
    private static let removeWebhookEvents = Statement.writingOnce(
        "removeWebhookEvents", "DELETE FROM webhook_events WHERE id = ANY ($1)")

    package func putWebhookEvents(_ events: [HubMessage]) throws(StoreError) {
        guard !events.isEmpty else { return }
        let values: [Value] = [
            .names(events.map(\.id)), .texts(try Self.documents(of: events)),
            .integers(events.map(\.createdAt.seconds)), .integers(events.map(\.expiresAt.seconds)),
            .count(options.quotas.webhookBytes),
        ]
        try answer(Self.putWebhookEvents, values) { (row) throws(CallFailure) in
            if try !row.bool(0) { throw .told(.quotaExceeded) }
        }
    }

    package func webhookEvents(except ids: Set<String>) throws(StoreError) -> [HubMessage] {
        try all(Self.webhookEvents, [.names(ids)])
    }

    package func removeWebhookEvents(_ ids: [String]) throws(StoreError) {
        guard !ids.isEmpty else { return }
        try database.call(Self.removeWebhookEvents, [.names(ids)])
    }
}
