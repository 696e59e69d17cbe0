// SPDX-License-Identifier: Apache-2.0
import Store
internal import Text

/// The table of a kind of record as an export, an import, the sweep and the migration see it.
struct RecordTable: Sendable {
    /// A statement that answers a row if it has written one, and none if the key is taken. What has expired or was removed here takes
    /// no key; what was removed counts on.
    typealias Put = (statement: Statement, values: [Value])

    /// The tables of the file store for the same records.
    let kinds: [String]
    let name: String
    let key: [String]
    let expires: Bool
    let walk: TransferWalk
    let columns: [AddedColumn]
    /// Nil if the record is of another kind. The time is that by which a row has expired.
    let put: @Sendable (any KindRecord, Timestamp) throws(StoreError) -> Put?

    /// - Parameters:
    ///   - source: what an export reads; nil: the table.
    ///   - put: nil: as all tables.
    init<Record>(
        _ table: Table<Record>, of kinds: [String] = [Record.kind.name], from source: String? = nil,
        _ record: @escaping @Sendable (Record) -> StoredRecord = { StoredRecord($0) },
        put: (@Sendable (Record, Timestamp) throws(StoreError) -> Put)? = nil
    ) {
        self.kinds = kinds
        (name, key, expires, columns) = (table.name, table.key, table.lifetime == .expires, table.described())
        walk = TransferWalk(table, from: source ?? table.name, record)
        let statement = table.importStatement
        self.put = { (record, now) throws(StoreError) in
            guard let record = record as? Record else { return nil }
            if let put { return try put(record, now) }
            let last: Value = table.lifetime == .expires ? .time(now) : record.versionValue
            return (statement, try table.values(record) + [last])
        }
    }
}

extension KindRecord {
    /// The version of a record whose changes are counted.
    var versionValue: Value { Value(Self.kind.content("version", of: self) ?? .integer(nil)) }
}

extension Table {
    /// The columns' values are $1, $2 and so on; behind them comes the time, or the version.
    var importSQL: String {
        let behind = columns.parameter(behind: 1)
        let names = key.joined(separator: ", ")
        return switch lifetime {
        case .expires:
            """
            INSERT INTO \(name) AS t (\(columns)) VALUES (\(columns.parameters))
            ON CONFLICT (\(names)) DO UPDATE SET \(columns.assignments(key: key))
            WHERE t.expires_at <= \(behind) RETURNING 1
            """
        case .counts:
            """
            INSERT INTO \(name) AS t (\(columns), version) VALUES (\(columns.parameters), \(behind))
            ON CONFLICT (\(names)) DO UPDATE SET \(columns.assignments(key: key)),
                version = greatest(excluded.version, t.version + 1), removed_at = NULL
            WHERE t.removed_at IS NOT NULL RETURNING 1
            """
        }
    }

    var importStatement: Statement { .writing("import \(name)", importSQL) }
}

/// All records of one kind, page by page in the order of their keys.
struct TransferWalk: Sendable {
    /// A record, and where those behind it begin.
    typealias Entry = (record: StoredRecord, place: [Value])

    let statement: Statement
    let start: [Value]
    let expires: Bool
    let read: @Sendable (Row) throws(CallFailure) -> Entry

    /// $1 and so on: the key that comes next; then how many, and the time, of what expires.
    fileprivate init<Record>(
        _ table: Table<Record>, from source: String, _ record: @escaping @Sendable (Record) -> StoredRecord
    ) {
        let names = table.key.joined(separator: ", ")
        let places = table.key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let count = table.key.count
        expires = table.lifetime == .expires
        let only = expires ? "(expires_at IS NULL OR expires_at > $\(count + 2))" : "removed_at IS NULL"
        statement = .reading(
            "export \(table.name)",
            """
            SELECT \(table.selected()) FROM \(source) WHERE (\(names)) >= (\(places)) AND \(only)
            ORDER BY \(names) LIMIT $\(count + 1)
            """)
        let keys = Record.kind.fields.map(\.column).filter { table.key.contains($0.name) }
        let ordered = table.key.compactMap { name in keys.first { $0.name == name } }
        start = ordered.map { column in
            if case .integer = column.absent { .integer(.min) } else { .bytes([]) }
        }
        read = { (row) throws(CallFailure) in
            let found = try table.record(row)
            let contents = ordered.compactMap { $0.value(found) }
            guard let last = contents.last, contents.count == count else { throw .malformed }
            return (record(found), contents.dropLast().map { Value($0) } + [.behind(last)])
        }
    }
}

extension Value {
    /// The first of all keys that come behind that one.
    fileprivate static func behind(_ content: ColumnValue) -> Value {
        if case .integer(let number?) = content { return .integer(number == .max ? .max : number + 1) }
        return behind(content.text)
    }
}
