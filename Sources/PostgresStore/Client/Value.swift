// SPDX-License-Identifier: Apache-2.0

/// A parameter of a statement, sent in the protocol's binary form beside the statement's text.
///
/// Names, ids and payloads are `bytea`: they may hold any character, NUL included, which no `text` can, and they are
/// compared byte by byte whatever the database's collation. JSON is `text`: it escapes NUL.
enum Value: Equatable {
    case bytes([UInt8]?)
    case text(String?)
    case integer(Int64?)
    case bool(Bool?)
    case byteArrays([[UInt8]])
    case texts([String])
    case integers([Int64])

    /// Whatever the caller calls a text.
    static func name(_ text: String) -> Value { .bytes(Array(text.utf8)) }
    static func name(_ text: String?) -> Value { .bytes(text.map { Array($0.utf8) }) }
    static func names(_ texts: some Sequence<String>) -> Value { .byteArrays(texts.map { Array($0.utf8) }) }
    static func count(_ number: Int) -> Value { .integer(Int64(number)) }

    /// The type's number in `pg_type`, which the protocol fixes.
    var type: UInt32 {
        switch self {
        case .bool: 16
        case .bytes: 17
        case .integer: 20
        case .text: 25
        case .byteArrays: 1001
        case .texts: 1009
        case .integers: 1016
        }
    }

    /// Nil for NULL.
    var encoded: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .text(let text): text.map { Array($0.utf8) }
        case .integer(let number): number.map(Self.encode)
        case .bool(let value): value.map { [$0 ? 1 : 0] }
        case .byteArrays(let elements): Self.encode(elements, type: 17)
        case .texts(let elements): Self.encode(elements.map { Array($0.utf8) }, type: 25)
        case .integers(let elements): Self.encode(elements.map(Self.encode), type: 20)
        }
    }

    private static func encode<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// One dimension, no NULL, counted from 1 (`array_send` in the server's sources).
    private static func encode(_ elements: [[UInt8]], type: Int32) -> [UInt8] {
        var bytes = encode(Int32(elements.isEmpty ? 0 : 1)) + encode(Int32(0)) + encode(type)
        guard !elements.isEmpty else { return bytes }
        bytes += encode(Int32(clamping: elements.count)) + encode(Int32(1))
        for element in elements { bytes += encode(Int32(clamping: element.count)) + element }
        return bytes
    }
}

/// A statement that is prepared once on each connection.
struct Statement: Sendable {
    /// Under which a connection knows it, and an error names it: that of the function that needs it.
    let name: String
    let sql: String
    /// Whether it may be sent again when its outcome is unknown: it reads, or doing it twice does no more than
    /// doing it once, its answer included.
    let isRepeatable: Bool

    static func reading(_ name: String, _ sql: String) -> Statement {
        Statement(name: name, sql: sql, isRepeatable: true)
    }

    static func writing(_ name: String, _ sql: String) -> Statement {
        Statement(name: name, sql: sql, isRepeatable: false)
    }

    /// Writes the same however often it is done.
    static func writingOnce(_ name: String, _ sql: String) -> Statement {
        Statement(name: name, sql: sql, isRepeatable: true)
    }
}
