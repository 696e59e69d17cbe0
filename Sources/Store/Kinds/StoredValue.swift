// SPDX-License-Identifier: Apache-2.0
package import JSON
package import Text

/// A value of a field: its form in a line and in a column of a table.
package protocol StoredValue: Sendable {
    /// Nil if the member is of another kind.
    init?(_ json: JSONValue)
    func write(to json: inout JSONWriter)
    /// The kind of column, and what it holds if there is no value.
    static var null: ColumnValue { get }
    /// Nil if the value could not be read back.
    var columnValue: ColumnValue? { get }
    /// Nil if the column holds nothing that `columnValue` writes.
    init?(column: ColumnValue)
    /// Whether `null` in a line says the same as no member.
    static var readsNull: Bool { get }
}

extension StoredValue {
    package static var readsNull: Bool { false }
}

/// The content of a column; nil is NULL.
package enum ColumnValue: Hashable, Sendable {
    /// Any text, compared byte by byte.
    case name(String?)
    /// JSON.
    case json(String?)
    case integer(Int64?)
    case bool(Bool?)

    package var text: String? {
        if case .name(let text) = self { text } else { nil }
    }

    package var isNull: Bool {
        switch self {
        case .name(let text), .json(let text): text == nil
        case .integer(let number): number == nil
        case .bool(let value): value == nil
        }
    }
}

extension String: StoredValue {
    package init?(_ json: JSONValue) {
        guard case .string(let text) = json else { return nil }
        self = text
    }

    package func write(to json: inout JSONWriter) { json.string(self) }

    package static var null: ColumnValue { .name(nil) }
    package var columnValue: ColumnValue? { .name(self) }

    package init?(column: ColumnValue) {
        guard case .name(let text?) = column else { return nil }
        self = text
    }
}

extension Bool: StoredValue {
    package init?(_ json: JSONValue) {
        guard case .bool(let value) = json else { return nil }
        self = value
    }

    package func write(to json: inout JSONWriter) { json.bool(self) }

    package static var null: ColumnValue { .bool(nil) }
    package var columnValue: ColumnValue? { .bool(self) }

    package init?(column: ColumnValue) {
        guard case .bool(let value?) = column else { return nil }
        self = value
    }
}

extension StoredValue where Self: FixedWidthInteger {
    package init?(_ json: JSONValue) {
        guard let number = json.integer, let exact = Self(exactly: number) else { return nil }
        self = exact
    }

    package func write(to json: inout JSONWriter) { json.integer(self) }

    package static var null: ColumnValue { .integer(nil) }
    package var columnValue: ColumnValue? { .integer(Int64(clamping: self)) }

    package init?(column: ColumnValue) {
        guard case .integer(let number?) = column, let exact = Self(exactly: number) else { return nil }
        self = exact
    }
}

extension Int: StoredValue {}
extension Int32: StoredValue {}
extension Int64: StoredValue {}

extension Timestamp: StoredValue {
    package init?(_ json: JSONValue) {
        guard case .string(let text) = json else { return nil }
        self.init(text: text)
    }

    package func write(to json: inout JSONWriter) { json.string(text) }

    package static var null: ColumnValue { .integer(nil) }
    package var columnValue: ColumnValue? { .integer(seconds) }

    package init?(column: ColumnValue) {
        guard case .integer(let seconds?) = column else { return nil }
        self.init(seconds: seconds)
    }
}

/// A value that both a line and a column hold as JSON.
package protocol StoredDocument: StoredValue {}

extension StoredDocument {
    package static var null: ColumnValue { .json(nil) }

    package var columnValue: ColumnValue? {
        var json = JSONWriter()
        write(to: &json)
        return .json(json.text)
    }

    package init?(column: ColumnValue) {
        guard case .json(let text?) = column, let value = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
        self.init(value)
    }
}

extension Array: StoredValue where Element: StoredValue {}
extension Array: StoredDocument where Element: StoredValue {
    package init?(_ json: JSONValue) {
        guard case .array(let elements) = json else { return nil }
        var values: [Element] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            guard let value = Element(element) else { return nil }
            values.append(value)
        }
        self = values
    }

    package func write(to json: inout JSONWriter) {
        json.array { json in for element in self { element.write(to: &json) } }
    }

    package static var readsNull: Bool { true }
}

extension JSONValue: StoredDocument {
    package init?(_ json: JSONValue) { self = json }

    package func write(to json: inout JSONWriter) { json.value(self) }

    /// It is a member of its line.
    package var columnValue: ColumnValue? { isParsable(atDepth: 1) ? .json(JSONWriter(self).text) : nil }
}

extension Upkeep: StoredDocument {
    package func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }
}

extension Timestamp {
    /// The time of a blank record.
    static let zero = Timestamp(seconds: 0)
}
