// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store

/// The table that keeps the records of a kind. Its columns, and the statements that are alike for all kinds, follow from the kind.
struct Table<Record: KindRecord>: Sendable {
    /// A column that this store finds records by, beside those of the fields.
    struct Derived: Sendable {
        let name: String
        let value: @Sendable (Record) -> Value
    }

    /// How long a record stays.
    enum Lifetime {
        /// Until the time in its column `expires_at`, NULL: without end.
        case expires
        /// Until it is removed. The row counts on for a day.
        case counts
    }

    let name: String
    /// The columns that name a record, in the order of its key.
    let key: [String]
    let lifetime: Lifetime
    /// Of the fields, without the version.
    let fields: [Column<Record>]
    /// The columns that are read: those of the fields, and the version.
    private let stored: [Column<Record>]
    let derived: [Derived]
    private let blank: Record
    /// The column that holds the whole record as its line; nil: each field has a column.
    private let document: String?

    /// - Parameter left: columns that the table does not have.
    init(
        _ name: String, key: [String] = ["id"], _ lifetime: Lifetime = .expires, without left: [String] = [],
        derived: [Derived] = []
    ) {
        (self.name, self.key, self.lifetime, self.derived) = (name, key, lifetime, derived)
        let kind = Record.kind
        (blank, document) = (kind.blank, nil)
        let columns = kind.fields.map(\.column)
        fields = columns.filter { $0.name != "version" && !left.contains($0.name) }
        stored = fields + (lifetime == .counts ? columns.filter { $0.name == "version" } : [])
    }

    /// A table that has the record in one column, and columns of their own for those fields by which it is found.
    init(_ name: String, document: String, columns: [String]) {
        (self.name, key, lifetime, self.document, blank) = (name, ["id"], .expires, document, Record.kind.blank)
        fields = Record.kind.fields.map(\.column).filter { columns.contains($0.name) }
        stored = []
        derived = [
            Derived(name: document) { record in .text(JSONWriter.object { record.write(to: &$0) }.text) }
        ]
    }

    /// In the order of `values(_:)`.
    var columns: Columns { Columns(fields.map(\.name) + derived.map(\.name)) }

    /// What `record(_:)` reads.
    /// - Parameter replaced: expressions in the place of columns.
    func selected(_ replaced: [String: String] = [:]) -> String {
        document ?? stored.map { replaced[$0.name] ?? $0.name }.joined(separator: ", ")
    }

    /// - Throws: `unavailable`, for a record that could not be read back.
    func values(_ record: Record) throws(StoreError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(fields.count + derived.count)
        for field in fields {
            guard let value = field.value(record) else { throw .unreadable }
            values.append(Value(value))
        }
        return values + derived.map { $0.value(record) }
    }

    /// - Throws: `malformed`, if a column is not what this store writes.
    func record(_ row: Row) throws(CallFailure) -> Record {
        if document != nil {
            guard let record = Record(line: try row.document(0)) else { throw .malformed }
            return record
        }
        var record = blank
        for (index, column) in stored.enumerated() {
            let content = try row.content(Int32(clamping: index), as: column.absent)
            guard column.load(content, &record) else { throw .malformed }
        }
        return record
    }

    /// The assignments that leave of a row only its key and its version.
    var wiped: String {
        let blanks =
            fields.map { ($0.name, $0.value(blank).map { Value($0) }) }
            + derived.map { ($0.name, Optional($0.value(blank))) }
        let assignments = blanks.compactMap { name, value in
            key.contains(name) ? nil : "\(name) = \(value?.literal ?? "NULL")"
        }
        return "removed_at = now(), " + assignments.joined(separator: ", ")
    }

    /// The columns of the fields, as they are added to a table that lacks them.
    /// - Parameter name: nil: this table's.
    func described(in name: String? = nil) -> [AddedColumn] {
        fields.map { column in
            let absent = Value(column.absent)
            let constraint = column.absent.isNull ? "" : " NOT NULL DEFAULT \(absent.literal)"
            return AddedColumn(table: name ?? self.name, name: column.name, definition: absent.sqlType + constraint)
        }
    }
}

/// A record that is kept as a row of its own table.
protocol TableRecord: KindRecord, RowRecord {
    static var table: Table<Self> { get }
}

extension TableRecord {
    static var columns: Columns { table.columns }
    static var selected: String { table.selected() }

    func values() throws(StoreError) -> [Value] { try Self.table.values(self) }

    init(_ row: Row) throws(CallFailure) { self = try Self.table.record(row) }
}

extension Value {
    init(_ content: ColumnValue) {
        self =
            switch content {
            case .name(let text): .name(text)
            case .json(let text): .text(text)
            case .integer(let number): .integer(number)
            case .bool(let value): .bool(value)
            }
    }

    /// The name of its type in SQL.
    fileprivate var sqlType: String {
        switch self {
        case .bytes: "bytea"
        case .text: "text"
        case .integer: "bigint"
        case .bool: "boolean"
        case .byteArrays: "bytea[]"
        case .texts: "text[]"
        case .integers: "bigint[]"
        }
    }

    /// As a part of a statement.
    fileprivate var literal: String {
        switch self {
        case .bytes(let bytes?):
            "'\\x" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'::bytea"
        case .text(let text?): "'" + text.replacing("'", with: "''") + "'"
        case .integer(let number?): String(number)
        case .bool(let value?): String(value)
        default: "NULL"
        }
    }
}

extension Row {
    /// - Parameter type: a content of the column's type.
    fileprivate func content(_ column: Int32, as type: ColumnValue) throws(CallFailure) -> ColumnValue {
        switch type {
        case .name: .name(try optionalString(column))
        case .json: .json(try optionalString(column))
        case .integer: .integer(try optionalInteger(column))
        case .bool: .bool(optionalBytes(column) == nil ? nil : try bool(column))
        }
    }
}
