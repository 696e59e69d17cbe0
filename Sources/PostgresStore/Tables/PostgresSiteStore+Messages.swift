// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    private static let putHubMessage = Statement.writingOnce(
        "putHubMessage",
        """
        INSERT INTO hub_messages (id, document, created_at, expires_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (id) DO UPDATE SET document = $2, created_at = $3, expires_at = $4
        """)
    private static let hubMessage = Statement.reading(
        "hubMessage",
        "SELECT id, document, created_at, expires_at FROM hub_messages WHERE id = $1 AND expires_at > $2")

    package func putHubMessage(_ message: HubMessage) throws(StoreError) {
        try database.call(
            Self.putHubMessage,
            [
                .name(message.id), .text(try JSONText.document(message.document)), .time(message.createdAt),
                .time(message.expiresAt),
            ])
    }

    package func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage? {
        try first(Self.hubMessage, [.name(id), .time(now)])
    }
}

extension HubMessage: RowRecord {
    init(_ row: Row) throws(CallFailure) {
        self.init(
            id: try row.string(0), document: try row.document(1), createdAt: try row.time(2),
            expiresAt: try row.time(3))
    }
}
