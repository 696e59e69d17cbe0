// SPDX-License-Identifier: Apache-2.0
import Text

/// What is wrong with a text that should be JSON, and where.
public struct JSONSyntaxError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Offset of the first byte that is wrong; the length of the text when it ends too early.
    public let offset: Int
    /// A sentence without a full stop. It never repeats the text, which may be secret.
    public let reason: String

    /// A fault at that byte; `reason` must not repeat the text.
    public init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    /// Reason and place: `expected ',' or '}' at byte 17`.
    public var description: String { "\(reason) at byte \(offset)" }
}

extension JSONValue {
    /// A value nested deeper than this is refused: parsing recurses, and the stack belongs to all requests.
    public static let maximumDepth = 32

    /// Parses one JSON text (RFC 8259), strictly: UTF-8, no trailing comma, no lone surrogate, nothing behind it, and
    /// no member name twice in one object (two readers could take different ones).
    /// - Throws: `JSONSyntaxError`.
    public init(parsing bytes: [UInt8]) throws(JSONSyntaxError) {
        let result = bytes.withUnsafeBufferPointer { Self.parse($0) }
        self = try result.get()
    }

    /// As `init(parsing:)`, but tab, line feed and carriage return may be in a string as they are. RFC 8259 wants them
    /// escaped; ASP.NET's reader never did, and there are clients that put quotation marks around what a person typed.
    public init(parsingTyped bytes: [UInt8]) throws(JSONSyntaxError) {
        let result = bytes.withUnsafeBufferPointer { Self.parse($0, allowsTyped: true) }
        self = try result.get()
    }

    /// As `init(parsing:)`, for bytes that lie somewhere already.
    public init(parsing bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) {
        self = try Self.parse(bytes).get()
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, allowsTyped: Bool = false
    ) -> Result<JSONValue, JSONSyntaxError> {
        var parser = JSONParser(bytes: bytes, allowsTyped: allowsTyped)
        do throws(JSONSyntaxError) {
            return .success(try parser.document())
        } catch {
            return .failure(error)
        }
    }
}

private struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    /// Whether a string may hold tab, line feed and carriage return as they are.
    let allowsTyped: Bool
    var offset = 0
    var depth = 0

    init(bytes: UnsafeBufferPointer<UInt8>, allowsTyped: Bool) {
        self.bytes = bytes
        self.allowsTyped = allowsTyped
    }

    private func fail(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(offset: offset, reason: reason) }

    /// The byte at the offset; 0, which no JSON text holds outside a string, at the end.
    private var current: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    private mutating func skipBlanks() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { offset += 1 }
    }

    mutating func document() throws(JSONSyntaxError) -> JSONValue {
        let value = try value()
        skipBlanks()
        guard offset == bytes.count else { throw fail("unexpected text behind the value") }
        return value
    }

    private mutating func value() throws(JSONSyntaxError) -> JSONValue {
        skipBlanks()
        switch current {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONSyntaxError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONSyntaxError) in try parser.array() }
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw fail(offset < bytes.count ? "expected a value" : "unexpected end")
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(JSONSyntaxError) -> JSONValue
    ) throws(JSONSyntaxError) -> JSONValue {
        guard depth < JSONValue.maximumDepth else { throw fail("nested deeper than \(JSONValue.maximumDepth)") }
        depth += 1
        defer { depth -= 1 }
        offset += 1
        return try body(&self)
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONValue {
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard current == UInt8(ascii: "\"") else { throw fail("expected a member's name") }
            let start = offset
            let name = try string()
            guard isNew(name, in: members, &names) else {
                throw JSONSyntaxError(offset: start, reason: "the same member twice")
            }
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw fail("expected ':'") }
            members.append(JSONValue.Member(name, try value()))
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw fail("expected ',' or '}'") }
        }
    }

    /// A set only where an object is large: most have a handful of members, and a scan beats hashing.
    private func isNew(_ name: String, in members: [JSONValue.Member], _ names: inout Set<String>) -> Bool {
        guard members.count >= 16 else { return !members.contains { $0.name == name } }
        if names.isEmpty { names = Set(members.map(\.name)) }
        return names.insert(name).inserted
    }

    private mutating func array() throws(JSONSyntaxError) -> JSONValue {
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value())
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw fail("expected ',' or ']'") }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for index in 0..<text.utf8CodeUnitCount {
            guard take(text.utf8Start[index]) else { throw fail("expected a value") }
        }
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> String {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            try digits()
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = offset
        while current >= UInt8(ascii: "0"), current <= UInt8(ascii: "9") { offset += 1 }
        guard offset > start else { throw fail("expected a digit") }
    }

    private func isTyped(_ byte: UInt8) -> Bool {
        allowsTyped && (byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r"))
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        offset += 1
        let start = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                guard let text = String(validUTF8: UnsafeBufferPointer(rebasing: bytes[start..<offset])) else {
                    throw JSONSyntaxError(offset: start, reason: "a string that is not UTF-8")
                }
                offset += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case 0..<0x20 where !isTyped(bytes[offset]): throw fail("a control character in a string")
            default: offset += 1
            }
        }
        throw fail("a string without its end")
    }

    /// The slow path, from the first backslash on.
    private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
        var text = Array(bytes[start..<offset])
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validUTF8: text) else {
                    throw JSONSyntaxError(offset: start, reason: "a string that is not UTF-8")
                }
                offset += 1
                return string
            case UInt8(ascii: "\\"):
                offset += 1
                try escape(into: &text)
            case 0..<0x20 where !isTyped(byte): throw fail("a control character in a string")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw fail("a string without its end")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONSyntaxError) {
        let byte = current
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: Array(String(Character(try unicodeEscape())).utf8))
        default:
            offset -= 1
            throw fail("an unknown escape")
        }
    }

    private mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw fail("a lone surrogate") }
        let second = try fourHexDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw fail("a lone surrogate") }
        return scalar
    }

    private mutating func fourHexDigits() throws(JSONSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            switch current {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(current - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(current - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(current - UInt8(ascii: "A") + 10)
            default: throw fail("expected four hexadecimal digits")
            }
            offset += 1
        }
        return value
    }
}
