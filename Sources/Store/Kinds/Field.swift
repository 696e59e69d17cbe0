// SPDX-License-Identifier: Apache-2.0
package import JSON

/// One member of a record: its name in a line, its column in a table, and how it is read and written there. Closures, because a
/// key path costs twice as much.
package struct Field<Record: Sendable>: Sendable {
    /// Of the member in a line.
    package let name: String
    package let column: Column<Record>
    /// Reads the member, or that there is none.
    /// - Returns: whether a line may have that.
    package let read: @Sendable (JSONValue?, inout Record) -> Bool
    /// Writes the member, if the record has one.
    package let write: @Sendable (borrowing Record, inout JSONWriter) -> Void

    package init(
        name: String, column: Column<Record>, read: @escaping @Sendable (JSONValue?, inout Record) -> Bool,
        write: @escaping @Sendable (borrowing Record, inout JSONWriter) -> Void
    ) {
        (self.name, self.column, self.read, self.write) = (name, column, read, write)
    }
}

/// How a field is kept in a table.
package struct Column<Record: Sendable>: Sendable {
    package let name: String
    /// The content of a row that was written without this column.
    package let absent: ColumnValue
    /// Nil if the value could not be read back.
    package let value: @Sendable (borrowing Record) -> ColumnValue?
    /// - Returns: whether a row may have that.
    package let load: @Sendable (ColumnValue, inout Record) -> Bool

    package init(
        _ name: String, absent: ColumnValue, value: @escaping @Sendable (borrowing Record) -> ColumnValue?,
        load: @escaping @Sendable (ColumnValue, inout Record) -> Bool
    ) {
        (self.name, self.absent, self.value, self.load) = (name, absent, value, load)
    }
}

extension Field {
    package typealias Get<Value> = @Sendable (borrowing Record) -> Value
    package typealias Set<Value> = @Sendable (inout Record, Value) -> Void
    package typealias Check<Value> = @Sendable (Value) -> Bool

    /// A member that each line has.
    package static func required<Value: StoredValue>(
        _ name: String, column: String? = nil, if isValid: Check<Value>? = nil, _ get: @escaping Get<Value>,
        _ set: @escaping Set<Value>
    ) -> Field {
        Field(name, column, nil, isValid, { get($0) }, set)
    }

    /// A member that is written if the record has a value.
    /// - Parameter nilAs: the content of the column if there is none; nil: NULL.
    package static func optional<Value: StoredValue>(
        _ name: String, column: String? = nil, nilAs absent: ColumnValue? = nil, if isValid: Check<Value>? = nil,
        _ get: @escaping Get<Value?>, _ set: @escaping Set<Value?>
    ) -> Field {
        Field(name, column, absent ?? Value.null, isValid, get, { set(&$0, $1) })
    }

    /// A member that a line may leave out: the kind's blank record has its value then.
    /// - Parameter isWritten: nil: always.
    package static func defaulting<Value: StoredValue>(
        _ name: String, column: String? = nil, to value: Value, written isWritten: Check<Value>? = nil,
        if isValid: Check<Value>? = nil, _ get: @escaping Get<Value>, _ set: @escaping Set<Value>
    ) -> Field {
        let isNull = isWritten != nil && Value.self is any StoredDocument.Type
        let absent = isNull ? Value.null : value.columnValue ?? Value.null
        guard let isWritten else { return Field(name, column, absent, isValid, { get($0) }, set) }
        return Field(
            name, column, absent, isValid,
            { record in
                let value = get(record)
                return isWritten(value) ? value : nil
            }, set)
    }

    /// A member that is written if it is true.
    package static func flag(
        _ name: String, column: String? = nil, _ get: @escaping Get<Bool>, _ set: @escaping Set<Bool>
    ) -> Field {
        defaulting(name, column: column, to: false, written: { $0 }, get, set)
    }

    /// The count of writes: 1 if it is absent, as in a line made by hand.
    package static func version(_ get: @escaping Get<Int>, _ set: @escaping Set<Int>) -> Field {
        defaulting("version", to: 1, if: { $0 > 0 && $0 < .max }, get, set)
    }

    /// The place among the records of one second, which earlier versions have not written.
    package static func sequence(_ get: @escaping Get<Int64>, _ set: @escaping Set<Int64>) -> Field {
        defaulting("sequence", to: 0, written: { $0 > 0 }, if: { $0 > 0 }, get, set)
    }

    /// - Parameters:
    ///   - absent: the content of the column if there is no value; nil: there always is one.
    ///   - get: nil if there is no value, or none that is written.
    private init<Value: StoredValue>(
        _ name: String, _ column: String?, _ absent: ColumnValue?, _ isValid: Check<Value>?,
        _ get: @escaping Get<Value?>, _ set: @escaping Set<Value>
    ) {
        let (isRequired, none, member) = (absent == nil, absent ?? Value.null, JSONName(name))
        self.init(
            name: name,
            column: Column(column ?? Self.columnName(name), absent: none) { record in
                guard let value = get(record) else { return none }
                return value.columnValue
            } load: { content, record in
                if !isRequired, content == none || content.isNull { return true }
                guard let value = Value(column: content), isValid?(value) != false else { return false }
                set(&record, value)
                return true
            },
            read: { json, record in
                guard let json else { return !isRequired }
                guard let value = Value(json), isValid?(value) != false else {
                    return !isRequired && Value.readsNull && json.isNull
                }
                set(&record, value)
                return true
            },
            write: { record, json in
                guard let value = get(record) else { return }
                json.name(member)
                value.write(to: &json)
            })
    }

    /// `createdAt` is kept in `created_at`.
    private static func columnName(_ name: String) -> String {
        name.reduce(into: "") { column, letter in
            if letter.isUppercase { column += "_" }
            column += letter.lowercased()
        }
    }
}
