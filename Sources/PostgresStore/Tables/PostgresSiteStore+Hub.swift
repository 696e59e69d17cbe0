// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// Registrations that are read at once.
    private static let pageSize = 500
    /// Bytes of a channel that are indexed, because an index takes no more than 2,700. Those of one push service differ
    /// long before.
    private static let indexedChannelBytes = 1_000

    private static let hubRegistration = Statement.reading(
        "hubRegistration",
        "SELECT \(HubRegistration.selected) FROM hub_registrations WHERE id = $1 AND removed_at IS NULL")
    private static let hubRegistrationsByChannel = Statement.reading(
        "hubRegistrationsByChannel",
        """
        SELECT \(HubRegistration.selected) FROM hub_registrations
        WHERE channel_start = $1 AND channel = $2 AND removed_at IS NULL ORDER BY id
        """)
    private static let hubRegistrationsByTag = Statement.reading(
        "hubRegistrationsByTag",
        """
        SELECT \(HubRegistration.selected)
        FROM hub_registration_tags AS t JOIN hub_registrations AS r ON r.id = t.registration_id
        WHERE t.tag = $1 AND t.registration_id >= $2 AND r.removed_at IS NULL ORDER BY t.registration_id LIMIT $3
        """)
    private static let hubRegistrationCount = Statement.reading(
        "hubRegistrationCount",
        "SELECT count(*) FROM (SELECT 1 FROM hub_registration_tags WHERE tag = $1 LIMIT $2) AS first")
    private static let hubRegistrationsInOrder = Statement.reading(
        "hubRegistrations",
        """
        SELECT \(HubRegistration.selected) FROM hub_registrations
        WHERE id >= $1 AND id >= $2 AND id < $3 AND removed_at IS NULL ORDER BY id LIMIT $4
        """)

    /// The registration and the index of its tags change together. A caller that replaces it has read what is replaced, so
    /// this statement sees the tags of that version.
    private static func withTags(_ put: String) -> String {
        let tags = HubRegistration.columns.parameter(behind: 1)
        return """
            WITH put AS (\(put)),
            dropped AS (
                DELETE FROM hub_registration_tags
                WHERE registration_id = $1 AND NOT tag = ANY (\(tags)) AND EXISTS (SELECT 1 FROM put)),
            added AS (
                INSERT INTO hub_registration_tags (tag, registration_id) SELECT tag, $1 FROM unnest(\(tags)) AS new (tag)
                WHERE EXISTS (SELECT 1 FROM put) ON CONFLICT DO NOTHING)
            SELECT version FROM put
            """
    }

    private static let createHubRegistration = Statement.writing(
        "createHubRegistration",
        withTags(
            """
            INSERT INTO hub_registrations (\(HubRegistration.columns), version)
            SELECT \(HubRegistration.columns.parameters), 1
            ON CONFLICT (id) DO UPDATE SET \(HubRegistration.columns.assignments()),
                version = hub_registrations.version + 1, removed_at = NULL
            WHERE hub_registrations.removed_at IS NOT NULL RETURNING version
            """))
    private static let replaceHubRegistration = Statement.writing(
        "replaceHubRegistration",
        withTags(
            """
            UPDATE hub_registrations SET \(HubRegistration.columns.assignments()), version = version + 1
            WHERE id = $1 AND version = \(HubRegistration.columns.parameter(behind: 2)) AND removed_at IS NULL RETURNING version
            """))
    /// The device's address goes at once; what stays counts on. If a process of an older version makes it again, that has no
    /// namespace.
    static let removedRegistration = HubRegistration.table.wiped
    private static let removeHubRegistration = Statement.writing(
        "removeHubRegistration",
        """
        WITH gone AS (
            UPDATE hub_registrations SET \(removedRegistration)
            WHERE id = $1 AND ($2::bigint IS NULL OR version = $2) AND removed_at IS NULL RETURNING id)
        SELECT EXISTS (SELECT 1 FROM gone), $2 IS NOT NULL
            AND EXISTS (SELECT 1 FROM hub_registrations WHERE id = $1 AND removed_at IS NULL)
        """)
    private static let dropTags = Statement.writing(
        "removeHubRegistration.drop", "DELETE FROM hub_registration_tags WHERE registration_id = $1")

    package func hubRegistration(_ id: String) throws(StoreError) -> HubRegistration? {
        try first(Self.hubRegistration, [.name(id)])
    }

    package func putHubRegistration(_ registration: HubRegistration) throws(StoreError) -> HubRegistration {
        guard registration.version >= 0, registration.version < .max - 1 else { throw .conflict }
        var values = try registration.values() + [.names(registration.tags)]
        if registration.version > 0 { values.append(.count(registration.version)) }
        let put = registration.version == 0 ? Self.createHubRegistration : Self.replaceHubRegistration
        var stored = registration
        stored.version = try database.call(put, values) { (rows) throws(CallFailure) in
            guard let row = rows.first else { throw .told(.conflict) }
            return try row.integer(0)
        }
        return stored
    }

    /// A put may have been under way when the removal began, which has waited for it then, and does not see its tags. The
    /// second statement begins after that.
    package func removeHubRegistration(_ id: String, version: Int?) throws(StoreError) -> Bool {
        let values: [Value] = [.name(id), .integer(version.map(Int64.init))]
        return try database.transaction("removeHubRegistration") { (transaction) throws(CallFailure) in
            guard let row = try transaction.call(Self.removeHubRegistration, values).first else { throw .malformed }
            guard try row.bool(0) else {
                if try row.bool(1) { throw .told(.conflict) }
                return false
            }
            _ = try transaction.call(Self.dropTags, [.name(id)])
            return true
        }
    }

    package func hubRegistrations(channel: String) throws(StoreError) -> [HubRegistration] {
        try all(Self.hubRegistrationsByChannel, [Self.channelStart(channel), .name(channel)])
    }

    package func hubRegistrations(
        tag: String, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        try page(limit) { (limit) throws(StoreError) in
            try all(Self.hubRegistrationsByTag, [.name(tag), .behind(after), .count(limit)])
        } naming: {
            $0
        }
    }

    package func hubRegistrationCount(tag: String, limit: Int) throws(StoreError) -> Int {
        try database.call(Self.hubRegistrationCount, [.name(tag), .count(limit)]) { (rows) throws(CallFailure) in
            try rows.first?.integer(0) ?? 0
        }
    }

    package func forEachHubRegistration(
        tag: String, _ body: (HubRegistration) -> Void
    ) throws(StoreError) {
        var last: String?
        repeat {
            let page = try hubRegistrations(tag: tag, after: last, limit: Self.pageSize)
            page.elements.forEach(body)
            last = page.next
        } while last != nil
    }

    package func hubRegistrations(
        in namespace: HubNamespace?, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        var last: String?
        if let after { last = try PageName.id(after) }
        let (first, end) = Self.ids(of: namespace)
        return try page(limit) { (limit) throws(StoreError) in
            try all(Self.hubRegistrationsInOrder, [.behind(last), .bytes(first), .bytes(end), .count(limit)])
        } naming: {
            PageName.after($0)
        }
    }

    /// The range of the ids of a namespace, as bytes: none comes before `first`, and all come before `end`.
    private static func ids(of namespace: HubNamespace?) -> (first: [UInt8], end: [UInt8]) {
        let served = Array(HubNamespace.served.stored("").utf8)
        return switch namespace {
        case .backend: ([], served)
        // UTF-8 has no such byte.
        case .served: (served, [0xFF])
        case nil: ([], [0xFF])
        }
    }

    /// One more is read than is wanted, which tells whether there is another page.
    private func page(
        _ limit: Int, _ read: (Int) throws(StoreError) -> [HubRegistration], naming: (String) -> String
    ) throws(StoreError) -> Page<HubRegistration> {
        let limit = max(1, min(limit, .max - 1))
        let found = try read(limit + 1)
        let page = Array(found.prefix(limit))
        return Page(elements: page, next: found.count > limit ? page.last.map { naming($0.id) } : nil)
    }

    static func channelStart(_ channel: String) -> Value { .bytes(Array(channel.utf8.prefix(indexedChannelBytes))) }
}

extension Value {
    /// The first of all bytes that come behind those; nil: the first of all.
    static func behind(_ text: String?) -> Value { .bytes(text.map { Array($0.utf8) + [0] } ?? []) }
}

/// The name of a page of all registrations: `p`, and the id before it in hexadecimal.
private enum PageName {
    private static let prefix = UInt8(ascii: "p")

    static func after(_ id: String) -> String {
        "p" + id.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func id(_ name: String) throws(StoreError) -> String {
        let digits = Array(name.utf8.dropFirst())
        guard name.utf8.first == prefix, digits.count % 2 == 0 else { throw .invalidContinuationToken }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[start..<start + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { throw .invalidContinuationToken }
            bytes.append(byte)
        }
        guard let id = String(validating: bytes, as: UTF8.self), after(id) == name else {
            throw .invalidContinuationToken
        }
        return id
    }
}

extension HubRegistration: TableRecord {
    static let table = Table<HubRegistration>(
        "hub_registrations", .counts,
        derived: [.init(name: "channel_start") { PostgresSiteStore.channelStart($0.channel) }])

    /// The tags' index is as in `PostgresSiteStore.putHubRegistration(_:)`; a removed registration has none.
    private static let importRegistration = Statement.writing(
        "import hub_registrations",
        """
        WITH put AS (\(table.importSQL)),
        added AS (
            INSERT INTO hub_registration_tags (tag, registration_id)
            SELECT tag, $1 FROM unnest(\(columns.parameter(behind: 2))) AS new (tag)
            WHERE EXISTS (SELECT 1 FROM put) ON CONFLICT DO NOTHING)
        SELECT 1 FROM put
        """)

    @Sendable static func put(_ one: HubRegistration, now: Timestamp) throws(StoreError) -> RecordTable.Put {
        (importRegistration, try one.values() + [one.versionValue, .names(one.tags)])
    }
}

extension PostgresSiteStore {
    private static let putHubMessage = Statement.writingOnce(
        "putHubMessage",
        """
        INSERT INTO hub_messages (\(HubMessage.columns)) VALUES (\(HubMessage.columns.parameters))
        ON CONFLICT (id) DO UPDATE SET \(HubMessage.columns.assignments())
        """)
    private static let hubMessage = Statement.reading(
        "hubMessage",
        "SELECT \(HubMessage.selected) FROM hub_messages WHERE id = $1 AND expires_at > $2")

    package func putHubMessage(_ message: HubMessage) throws(StoreError) {
        try database.call(Self.putHubMessage, try message.values())
    }

    package func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage? {
        try first(Self.hubMessage, [.name(id), .time(now)])
    }
}

extension HubMessage: TableRecord {
    static let table = Table<HubMessage>("hub_messages", without: ["not_before"])
    static let sends = Table<HubMessage>("scheduled_sends", without: ["not_before"])

    /// Empty: no user's.
    var ownerValue: Value { .name(owner ?? "") }
}
