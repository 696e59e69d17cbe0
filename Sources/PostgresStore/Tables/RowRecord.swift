// SPDX-License-Identifier: Apache-2.0
import Store
internal import Text

/// A record that is kept as a row.
protocol RowRecord: Sendable {
    /// What a statement selects that finds it, in the order in which `init(_:)` reads it.
    static var selected: String { get }
    /// - Throws: `malformed`, when a column is not what this store writes.
    init(_ row: Row) throws(CallFailure)
}

extension PostgresSiteStore {
    /// The record that a statement finds; nil when there is none.
    func first<Record: RowRecord>(_ statement: Statement, _ values: [Value]) throws(StoreError) -> Record? {
        try database.call(statement, values) { (rows) throws(CallFailure) in
            guard let row = rows.first else { return nil }
            return try Record(row)
        }
    }

    /// The records that a statement finds, in its order.
    func all<Record: RowRecord>(_ statement: Statement, _ values: [Value]) throws(StoreError) -> [Record] {
        try database.call(statement, values) { (rows) throws(CallFailure) in
            try rows.map { (row) throws(CallFailure) in try Record(row) }
        }
    }

    /// The one row that a statement answers, whatever happened.
    func answer<Result>(
        _ statement: Statement, _ values: [Value], _ read: (Row) throws(CallFailure) -> Result
    ) throws(StoreError) -> Result {
        try database.call(statement, values) { (rows) throws(CallFailure) in
            guard let row = rows.first else { throw .malformed }
            return try read(row)
        }
    }

    /// Adds what the statement adds only where there is room, and answers in its first column.
    /// - Throws: `StoreError`; `quotaExceeded`, when there is none.
    func add(_ statement: Statement, _ values: [Value]) throws(StoreError) {
        try answer(statement, values) { (row) throws(CallFailure) in
            if try !row.bool(0) { throw .told(.quotaExceeded) }
        }
    }

    /// As above, of a statement that says with a number of `RoomRefusal` why it has not (`SharedRoom`).
    func addWithinRoom(_ statement: Statement, _ values: [Value]) throws(StoreError) {
        try answer(statement, values) { (row) throws(CallFailure) in
            switch RoomRefusal(rawValue: try row.integer(0)) {
            case .full: throw .told(.quotaExceeded)
            case .share: throw .told(.shareExceeded(retryAfterSeconds: SharedRoom.retryAfterSeconds))
            case nil: break
            }
        }
    }
}

/// Why there is no room for what a statement was to add.
enum RoomRefusal: Int {
    case full = 1
    case share = 2

    /// There is room.
    static let none = 0

    /// `SharedRoom.check` in SQL: the branches of a `CASE`, of expressions.
    static func branches(
        adding size: String, toAll all: String, own: String, of owner: String, total: String, free: String,
        share: String
    ) -> String {
        """
        WHEN \(all) > \(total) - \(size) THEN \(full.rawValue)
        WHEN \(owner) = ''::bytea OR \(all) <= \(free) - \(size) OR \(own) <= \(share) - \(size) THEN \(none)
        ELSE \(RoomRefusal.share.rawValue)
        """
    }
}

extension Value {
    static func time(_ time: Timestamp) -> Value { .integer(time.seconds) }
    static func time(_ time: Timestamp?) -> Value { .integer(time?.seconds) }
}
