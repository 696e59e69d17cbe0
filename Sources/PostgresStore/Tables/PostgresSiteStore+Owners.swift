// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    private static let sessionSpan = Statement.reading(
        "sessionSpan",
        "SELECT count(*), min(created_at), max(created_at) FROM sessions WHERE owner = $1 AND expires_at > $2")
    private static let notificationSpan = Statement.reading(
        "notificationSpan",
        """
        SELECT count(*), min(created_at), max(created_at) FROM notifications
        WHERE owner = $1 AND expires_at > $2 AND is_read = $3
        """)
    private static let removeAllNotifications = Statement.writing(
        "removeAllNotifications", "DELETE FROM notifications WHERE owner = $1")
    private static let forgetAllSent = Statement.writing(
        "forgetAllSent",
        """
        WITH messages_too AS (DELETE FROM messages WHERE owner = $1)
        DELETE FROM sent WHERE owner = $1
        """)
    private static let removeIdempotencyKeys = Statement.writing(
        "removeIdempotencyKeys", "DELETE FROM idempotent_requests WHERE owner = $1")

    package func holdings(of owner: String, now: Timestamp) throws(StoreError) -> Holdings {
        Holdings(
            sessions: try span(Self.sessionSpan, [.name(owner), .time(now)]),
            waiting: try span(Self.notificationSpan, [.name(owner), .time(now), .bool(false)]),
            read: try span(Self.notificationSpan, [.name(owner), .time(now), .bool(true)]))
    }

    private func span(_ statement: Statement, _ values: [Value]) throws(StoreError) -> Holdings.Span {
        try answer(statement, values) { (row) throws(CallFailure) in
            Holdings.Span(
                count: try row.integer(0), oldest: try row.optionalTime(1), newest: try row.optionalTime(2))
        }
    }

    package func removeNotifications(owner: String) throws(StoreError) -> Int {
        try database.call(Self.removeAllNotifications, [.name(owner)])
    }

    package func forgetSent(owner: String) throws(StoreError) -> Int {
        try database.call(Self.forgetAllSent, [.name(owner)])
    }

    package func removeIdempotencyKeys(owner: String) throws(StoreError) -> Int {
        try database.call(Self.removeIdempotencyKeys, [.name(owner)])
    }
}
