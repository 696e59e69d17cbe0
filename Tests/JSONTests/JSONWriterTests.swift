// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON
import Support
import Testing

@Suite struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        body(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test func `members keep their order and commas fall where they must`() {
        let written = text { json in
            json.object {
                $0.member("z", 1)
                $0.member("a", "x")
                $0.name("list")
                $0.array {
                    $0.integer(-1)
                    $0.array { _ in }
                    $0.object { _ in }
                    $0.bool(false)
                    $0.null()
                    $0.string("")
                }
                $0.member("b", true)
            }
        }
        #expect(written == #"{"z":1,"a":"x","list":[-1,[],{},false,null,""],"b":true}"#)
    }

    @Test func `one call writes an object, a list of objects, or the members of either`() {
        let written = JSONWriter.object { json in
            json.member("inner") { $0.member("a", 1) }
            json.member("texts", ["x", "y"])
            json.member("value", .array([.null]))
            json.member("none", [Int]()) { $1.member("n", $0) }
            json.member("list", [1, 2]) { number, json in json.member("n", number) }
            json.member("sorted") { $0.members(["b": 2, "a": 1]) }
        }
        #expect(
            written.text
                == #"{"inner":{"a":1},"texts":["x","y"],"value":[null],"none":[],"list":[{"n":1},{"n":2}],"#
                + #""sorted":{"a":1,"b":2}}"#)
        #expect(JSONWriter.array([1, 2]) { $1.member("n", $0) }.text == #"[{"n":1},{"n":2}]"#)
        #expect(JSONWriter(.string("x")).text == #""x""#)
    }

    @Test func `strings that end like brackets do not confuse the commas`() {
        let written = text { json in
            json.array { json in
                for text in ["{", "[", ":", ",", "\\", "\""] { json.string(text) }
            }
        }
        #expect(written == #"["{","[",":",",","\\","\""]"#)
    }

    @Test(arguments: [
        ("", #""""#), ("a\"b", #""a\"b""#), ("\\", #""\\""#), ("\n\r\t", #""\n\r\t""#),
        ("\u{0}\u{1F}", #""\u0000\u001f""#),
        ("/", #""/""#), ("é😀", #""é😀""#), ("\u{7F}", "\"\u{7F}\""),
    ])
    func `strings are escaped no more than they must`(string: String, expected: String) {
        #expect(text { $0.string(string) } == expected)
    }

    @Test func `what is written is read, by us and by Foundation`() throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<1_000 {
            let value = random.value(depth: 4)
            var json = JSONWriter()
            json.value(value)
            #expect(try JSONValue(parsing: json.bytes) == value)
            let theirs = try JSONSerialization.jsonObject(with: Data(json.bytes), options: .fragmentsAllowed)
            #expect(agrees(value, theirs))
        }
    }

    @Test func `it is known of a value, before it is written, whether it can be read`() {
        func nested(_ depth: Int) -> JSONValue { (0..<depth).reduce(.null) { value, _ in .array([value]) } }
        let deepest = JSONValue.maximumDepth
        let values: [JSONValue] = [
            .number("1"), .number("-0.5e3"), .number(""), .number("01"), .number("1 "), .number("NaN"), .number("[]"),
            .array([.number("x")]), .object([.init("a", .number("x"))]),
            .object([.init("a", .null), .init("b", .null)]),
            .object([.init("a", .null), .init("b", .null), .init("a", .null)]), nested(deepest), nested(deepest + 1),
            .object([.init("a", nested(deepest - 1))]), .object([.init("a", nested(deepest))]),
        ]
        for value in values {
            var json = JSONWriter()
            json.value(value)
            #expect(value.isParsable() == ((try? JSONValue(parsing: json.bytes)) == value))
        }
        #expect(nested(deepest - 1).isParsable(atDepth: 1) && !nested(deepest).isParsable(atDepth: 1))
    }

    private func agrees(_ value: JSONValue, _ theirs: Any) -> Bool {
        switch value {
        case .null: theirs is NSNull
        case .bool(let flag): theirs as? Bool == flag
        case .number(let text): (theirs as? NSNumber)?.doubleValue == Double(text)
        case .string(let text): (theirs as? String).map { Array($0.utf8) } == Array(text.utf8)
        case .array(let elements):
            (theirs as? [Any]).map { $0.count == elements.count && zip(elements, $0).allSatisfy { agrees($0, $1) } }
                ?? false
        case .object(let members):
            (theirs as? [String: Any]).map { theirs in
                theirs.count == members.count
                    && members.allSatisfy { member in
                        theirs[member.name].map { agrees(member.value, $0) } ?? false
                    }
            } ?? false
        }
    }

    @Test func `mutated texts are accepted by us only where Foundation accepts them`() throws {
        var random = SeededRandom(seed: 4)
        for _ in 0..<3_000 {
            var json = JSONWriter()
            json.value(random.value(depth: 3))
            var bytes = json.bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: index)
                default: bytes.insert(Array(#"{}[]",:\0e-"#.utf8).randomElement(using: &random) ?? 0, at: index)
                }
            }
            guard let value = try? JSONValue(parsing: bytes), !random.isBeyondFoundation(bytes) else { continue }
            let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            #expect(theirs.map { agrees(value, $0) } ?? false)
        }
    }
}

extension SeededRandom {
    mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &self) {
        case 0: .null
        case 1: .bool(Bool.random(using: &self))
        case 2: .number(String(Int.random(in: -1_000_000...1_000_000, using: &self)))
        case 3: .number("\(Int.random(in: -99...99, using: &self)).\(Int.random(in: 0...999, using: &self))e1")
        case 4: .string(string())
        case 5: .array((0..<Int.random(in: 0...4, using: &self)).map { _ in value(depth: depth - 1) })
        default:
            .object(
                (0..<Int.random(in: 0...4, using: &self)).map { .init("\($0)" + string(), value(depth: depth - 1)) })
        }
    }

    private mutating func string() -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "\"", "\\", "\u{0}", "\n", "é", "\u{301}", "😀", "{", "/", "\u{FFFF}", ":",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 0...6, using: &self) {
            text.unicodeScalars.append(scalars.randomElement(using: &self) ?? "x")
        }
        return text
    }

    /// Numbers that Foundation refuses because no `Double` holds them.
    func isBeyondFoundation(_ bytes: [UInt8]) -> Bool {
        let digits = bytes.split { !"0123456789".utf8.contains($0) }
        return digits.contains { $0.count > 15 }
            || bytes.split(separator: UInt8(ascii: "e")).dropFirst().contains {
                $0.prefix { "+-0123456789".utf8.contains($0) }.count > 2
            }
    }
}
