// SPDX-License-Identifier: Apache-2.0
import Store

/// Why a call failed, or why its outcome is unknown. It repeats nothing that the server or libpq said, because that
/// may hold values, names and addresses.
enum CallFailure: Error, Equatable {
    /// The server has refused the statement, and has done nothing.
    case refused(SQLState)
    /// The connection broke. `isUndone`: the server cannot have carried the statement out.
    case lost(isUndone: Bool)
    /// The deadline has passed.
    case late(isUndone: Bool)
    /// The server said nothing for longer than it works on any statement, so it hangs, or the way to it is broken.
    case silent(isUndone: Bool)
    /// All connections were taken until the deadline.
    case exhausted
    /// There is no connection available.
    case unreachable(reason: String)
    /// The server has answered what this store cannot have written.
    case malformed
    /// The error that the caller gets; the transaction is rolled back.
    case told(StoreError)
}

/// The five characters by which a server names what is wrong (PostgreSQL's manual, appendix A).
struct SQLState: Equatable, Sendable, CustomStringConvertible {
    let description: String

    init(_ text: String) { description = text }

    static let uniqueViolation = SQLState("23505")
    static let readOnlyTransaction = SQLState("25006")
    static let unknownStatement = SQLState("26000")
    static let unknownSchema = SQLState("3F000")
    static let serializationFailure = SQLState("40001")
    static let deadlock = SQLState("40P01")
    static let insufficientPrivilege = SQLState("42501")
    static let unknownTable = SQLState("42P01")
    static let diskFull = SQLState("53100")
    static let lockNotAvailable = SQLState("55P03")

    /// Whether what was to be made is there already, or is being made by another process: a schema, a table, the type
    /// of its rows, or the catalogue's row of one of these.
    var isDuplicate: Bool { ["42P06", "42P07", "42710", "23505"].contains(description) }

    /// Whether the server gave up so that others could go on: the same may well succeed a moment later.
    var isTransient: Bool { self == .serializationFailure || self == .deadlock }

    /// Whether the server ends the connection with it: shutdown, crash, recovery.
    var endsConnection: Bool { description.hasPrefix("57P0") || description.hasPrefix("08") }
}

extension CallFailure {
    /// The same, where it is certain that the server has done nothing that lasts.
    var undone: CallFailure {
        switch self {
        case .lost: .lost(isUndone: true)
        case .late: .late(isUndone: true)
        case .silent: .silent(isUndone: true)
        default: self
        }
    }

    /// - Parameter name: of the function that was called.
    func storeError(_ name: String) -> StoreError {
        switch self {
        case .refused(.readOnlyTransaction): .readOnly
        case .refused(.diskFull): .full
        case .refused(.lockNotAvailable), .exhausted: .busy(retryAfterSeconds: 1)
        case .refused(let state): .unavailable(detail: "PostgreSQL, \(name): SQLSTATE \(state)")
        case .lost: .unavailable(detail: "PostgreSQL, \(name): the connection was lost")
        case .late, .silent: .unavailable(detail: "PostgreSQL, \(name): no answer in time")
        case .unreachable(let reason): .unavailable(detail: "PostgreSQL: \(reason)")
        case .malformed: .damaged(detail: "PostgreSQL, \(name): a row that this store cannot have written")
        case .told(let error): error
        }
    }

    /// Whether nothing was done, so that the same may be tried on another connection.
    var isUndone: Bool {
        switch self {
        case .lost(let isUndone), .late(let isUndone), .silent(let isUndone): isUndone
        case .refused(.unknownStatement): true
        default: false
        }
    }
}
