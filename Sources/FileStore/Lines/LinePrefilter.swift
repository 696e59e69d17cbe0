// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store

/// Tells, mostly without parsing, which lines of a bucket cannot belong to a record that is looked for.
///
/// Our own lines begin `{"id":…,` and, where the key is another member, `"op":"…",` if there is one and `"owner":"…"`.
/// A line of that form is decided by comparing bytes. Any other form (blanks, another order, an escape) was written
/// by hand; such a line always passes and is parsed. So editing costs speed, never truth.
struct LinePrefilter {
    typealias Token = Slice<UnsafeBufferPointer<UInt8>>

    /// The id as JSON; nil: any.
    private let id: [UInt8]?
    /// `"owner":`; nil where the key is the id itself.
    private let keyName: [UInt8]?
    /// As JSON; nil: any, or the key is the id itself.
    private let key: [UInt8]?

    static let start = [UInt8]("{\"id\":".utf8)
    static let opName = [UInt8]("\"op\":".utf8)

    /// - Parameters:
    ///   - key: nil looks for the records of all keys.
    ///   - id: nil looks for all records of the key.
    init(_ schema: TableSchema, key: String?, id: JSONValue?) {
        let keyText = key.map { Self.bytes(.string($0)) }
        if schema.keyIsID {
            (self.id, keyName, self.key) = (keyText, nil, nil)
        } else {
            self.id = id.map(Self.bytes)
            keyName = Self.bytes(.string(schema.key)) + [UInt8(ascii: ":")]
            self.key = keyText
        }
    }

    static func bytes(_ value: JSONValue) -> [UInt8] {
        JSONWriter(value, reservingCapacity: 64).bytes
    }

    /// What the beginning of a line tells.
    enum Finding {
        /// It belongs to another record.
        case other
        /// It is the line of a record that is looked for, and no op; its id and its key as JSON.
        case record(id: Token, key: Token)
        /// It must be parsed.
        case unclear
    }

    func examine(_ line: UnsafeBufferPointer<UInt8>) -> Finding {
        var rest = Reader(line: line)
        guard rest.take(Self.start), let foundID = rest.token() else { return .unclear }
        if let id, !Self.isEqual(foundID, id) { return .other }
        let isOp = rest.take(Self.opName)
        if isOp, rest.token() == nil { return .unclear }
        var foundKey = foundID
        if let keyName {
            guard rest.take(keyName), let token = rest.token() else { return .unclear }
            if let key, !Self.isEqual(token, key) { return .other }
            foundKey = token
        }
        // A key is a text; anything else is a fault, which parsing tells.
        guard !isOp, foundKey.first == UInt8(ascii: "\"") else { return .unclear }
        return .record(id: foundID, key: foundKey)
    }

    /// The id and the key of a line of our own form as JSON, also of an op; nil for any other line. The key is nil where it is
    /// the id.
    func names(of line: UnsafeBufferPointer<UInt8>) -> (id: Token, key: Token?)? {
        var rest = Reader(line: line)
        guard rest.take(Self.start), let id = rest.token() else { return nil }
        if rest.take(Self.opName), rest.token() == nil { return nil }
        guard let keyName else { return (id, nil) }
        guard rest.take(keyName), let key = rest.token() else { return nil }
        return (id, key)
    }

    /// The id of a line of our own form in a table whose ids are numbers, and whether it is an op; nil for any other line.
    static func numbered(_ line: UnsafeBufferPointer<UInt8>) -> (id: Int32, isOp: Bool)? {
        var rest = Reader(line: line)
        guard rest.take(start), let token = rest.token() else { return nil }
        var id: Int32 = 0
        for digit in token {
            let (tens, isTooLarge) = id.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = tens.addingReportingOverflow(Int32(digit &- UInt8(ascii: "0")))
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9"), !isTooLarge, !overflow else { return nil }
            id = sum
        }
        return (id, rest.take(opName))
    }

    /// - Parameter token: a number, or a string without escapes.
    static func text(_ token: Token) -> String {
        let quotes = token.first == UInt8(ascii: "\"") ? 1 : 0
        return String(decoding: token.dropFirst(quotes).dropLast(quotes), as: UTF8.self)
    }

    private static func isEqual(_ token: Token, _ text: [UInt8]) -> Bool {
        guard token.count == text.count, let start = UnsafeBufferPointer(rebasing: token).baseAddress else {
            return false
        }
        return memcmp(start, text, text.count) == 0
    }

    struct Reader {
        let line: UnsafeBufferPointer<UInt8>
        var offset = 0

        mutating func take(_ text: [UInt8]) -> Bool {
            guard line.count - offset >= text.count, let start = line.baseAddress,
                memcmp(start + offset, text, text.count) == 0
            else { return false }
            offset += text.count
            return true
        }

        /// A whole number or a string without escapes, and the comma behind it; nil for anything else.
        mutating func token() -> Token? {
            let start = offset
            var end = offset
            if end < line.count, line[end] == UInt8(ascii: "\"") {
                end += 1
                while end < line.count, line[end] != UInt8(ascii: "\"") {
                    if line[end] == UInt8(ascii: "\\") { return nil }
                    end += 1
                }
                end += 1
            } else {
                while end < line.count, line[end] >= UInt8(ascii: "0"), line[end] <= UInt8(ascii: "9") { end += 1 }
            }
            guard end > start, end < line.count, line[end] == UInt8(ascii: ",") else { return nil }
            offset = end + 1
            return line[start..<end]
        }
    }
}
