// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// In the order in which they are forgotten: by the database's clock, then by their place in the call. The message goes
    /// with the last.
    private static let insertSent = """
        INSERT INTO sent (owner, id, remembered_at, place, message, expires_at)
        SELECT $1, new.id, clock_timestamp(), new.place, CASE new.place WHEN cardinality($2) THEN $4::bytea END, $3
        FROM unnest($2) WITH ORDINALITY AS new (id, place)
        ON CONFLICT (owner, id) DO UPDATE SET remembered_at = excluded.remembered_at, place = excluded.place,
            message = excluded.message, expires_at = excluded.expires_at
        """
    private static let rememberSent = Statement.writingOnce("rememberSent", insertSent)
    /// One statement, so that it is one transaction, whose end alone is flushed.
    private static let rememberMessage = Statement.writingOnce(
        "rememberMessage",
        """
        WITH message AS (
            INSERT INTO messages (\(SentMessage.columns)) VALUES (\(SentMessage.columns.parameters(from: 5)))
            ON CONFLICT (id) DO NOTHING)
        \(insertSent)
        """)
    /// No user may ask the hub about a send that is not remembered any more, so the hub forgets it as well. Earlier versions
    /// remembered each message by its own id.
    private static let forgetSent = Statement.writingOnce(
        "forgetSent",
        """
        WITH forgotten AS (
            DELETE FROM sent WHERE owner = $1 AND id IN (
                SELECT id FROM sent WHERE owner = $1 ORDER BY remembered_at DESC, place DESC OFFSET $2)
            RETURNING id, message),
        messages_too AS (
            DELETE FROM messages WHERE id IN (SELECT coalesce(message, id) FROM forgotten))
        DELETE FROM hub_messages WHERE id IN (SELECT id FROM forgotten)
        """)
    /// Of one sender's too many are forgotten by one call of so many, which reads all of theirs; so each costs about the
    /// same whatever its sender has sent before. Until then `hasSent` passes them over.
    private static let callsPerForgetting = 64
    private static let hasSent = Statement.reading(
        "hasSent",
        """
        SELECT 1 FROM sent AS own WHERE owner = $1 AND id = $2 AND expires_at > $3 AND (
            SELECT count(*) FROM (
                SELECT 1 FROM sent AS newer WHERE newer.owner = $1
                AND (newer.remembered_at, newer.place) > (own.remembered_at, own.place) LIMIT $4) AS others) < $4
        """)

    package func rememberSent(
        _ ids: [String], message: SentMessage?, owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        let names = ids.isEmpty ? message.map { [$0.id] } ?? [] : ids
        guard !names.isEmpty else { return }
        // No row may be written twice by one statement.
        var known: Set<[UInt8]> = []
        let new = names.map { Array($0.utf8) }.filter { known.insert($0).inserted }
        let values: [Value] = [
            .name(owner), .byteArrays(new), .time(expiresAt), .name(ids.isEmpty ? nil : message?.id),
        ]
        if let message {
            try database.call(Self.rememberMessage, values + message.values())
        } else {
            try database.call(Self.rememberSent, values)
        }
        guard Int.random(in: 0..<Self.callsPerForgetting) == 0 else { return }
        try database.call(Self.forgetSent, [.name(owner), .count(options.quotas.sentPerOwner)])
    }

    package func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        let values: [Value] = [.name(owner), .name(id), .time(now), .count(options.quotas.sentPerOwner)]
        return try database.call(Self.hasSent, values) { (rows) throws(CallFailure) in !rows.isEmpty }
    }

    private static let sentMessage = Statement.reading(
        "sentMessage", "SELECT \(SentMessage.selected) FROM messages WHERE id = $1 AND expires_at > $2")
    private static let allSentMessages = Statement.reading(
        "sentMessages",
        """
        SELECT \(SentMessage.selected) FROM messages WHERE expires_at > $1 AND (sent_at, sequence, id) < ($3, $5, $4)
        ORDER BY sent_at DESC, sequence DESC, id DESC LIMIT $2
        """)
    private static let sentMessagesOfOwner = Statement.reading(
        "sentMessagesOfOwner",
        """
        SELECT \(SentMessage.selected) FROM messages
        WHERE expires_at > $1 AND (sent_at, sequence, id) < ($3, $5, $4) AND owner = $6
        ORDER BY sent_at DESC, sequence DESC, id DESC LIMIT $2
        """)
    /// So many messages are read in one go.
    private static let messagesAtOnce = 500

    package func sentMessage(_ id: String, now: Timestamp) throws(StoreError) -> SentMessage? {
        try first(Self.sentMessage, [.name(id), .time(now)])
    }

    package func sentMessages(
        owner: String?, behind place: SentMessage.Place?, limit: Int, now: Timestamp,
        where isWanted: (SentMessage) -> Bool
    ) throws(StoreError) -> [SentMessage] {
        var found: [SentMessage] = []
        var place = place ?? SentMessage.Place(sentAt: Timestamp(seconds: .max))
        while found.count < limit {
            let values: [Value] = [
                .time(now), .count(Self.messagesAtOnce), .time(place.sentAt), .name(place.id), .integer(place.sequence),
            ]
            let page: [SentMessage] =
                if let owner { try all(Self.sentMessagesOfOwner, values + [.name(owner)]) } else {
                    try all(Self.allSentMessages, values)
                }
            found += page.filter(isWanted)
            guard let last = page.last, page.count == Self.messagesAtOnce else { break }
            place = last.place
        }
        return Array(found.prefix(max(0, limit)))
    }

    private static let opened = MessageOpening.columns
    private static let noteOpening = Statement.writingOnce(
        "noteOpening",
        """
        INSERT INTO openings (\(opened)) SELECT \(opened.parameters)
        WHERE (
            SELECT count(*) FROM (
                SELECT 1 FROM openings WHERE message = \(opened["message"]) LIMIT \(opened.parameter(behind: 1))) AS known)
            < \(opened.parameter(behind: 1))
        ON CONFLICT (message, opener) DO NOTHING
        """)
    private static let openings = Statement.reading(
        "openings", "SELECT count(*) FROM openings WHERE message = $1 AND expires_at > $2")

    @discardableResult
    package func noteOpening(_ opening: MessageOpening, now: Timestamp) throws(StoreError) -> Bool {
        try database.call(Self.noteOpening, try opening.values() + [.count(options.quotas.openersPerMessage)]) > 0
    }

    package func openings(ofMessage id: String, now: Timestamp) throws(StoreError) -> Int {
        try answer(Self.openings, [.name(id), .time(now)]) { (row) throws(CallFailure) in try row.integer(0) }
    }
}

extension SentMessage: TableRecord {
    static let table = Table<SentMessage>(
        "messages", document: "document", columns: ["id", "owner", "sent_at", "sequence", "expires_at"])
}

extension MessageOpening: TableRecord {
    static let table = Table<MessageOpening>("openings", key: ["message", "opener"])
}

extension SentNotification: TableRecord {
    static let table = Table<SentNotification>("sent", key: ["owner", "id"])

    /// In the order in which they come.
    private static let importSent = Statement.writing(
        "import sent",
        """
        INSERT INTO sent AS t (\(columns), remembered_at, place) VALUES (\(columns.parameters), clock_timestamp(), 0)
        ON CONFLICT (owner, id) DO UPDATE SET \(columns.assignments(key: ["owner", "id"])),
            remembered_at = excluded.remembered_at
        WHERE t.expires_at <= \(columns.parameter(behind: 1)) RETURNING 1
        """)

    @Sendable static func put(_ sent: SentNotification, now: Timestamp) throws(StoreError) -> RecordTable.Put {
        (importSent, try sent.values() + [.time(now)])
    }
}
