// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

@Suite struct JSONParserTests {
    private func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test(
        arguments: [
            ("null", .null), (" true ", .bool(true)), ("\n\tfalse\r", .bool(false)), ("0", .number("0")),
            ("-0", .number("-0")),
            ("12.50e+3", .number("12.50e+3")), ("1E-2", .number("1E-2")), (#""""#, .string("")),
            ("123456789012345678901234567890", .number("123456789012345678901234567890")),
            (#""\"\\\/\b\f\n\r\t\u00e9""#, .string("\"\\/\u{8}\u{C}\n\r\té")), (#""\ud83d\ude00""#, .string("😀")),
            (#""\u0000""#, .string("\u{0}")), ("\"é😀\"", .string("é😀")), (#""a\u0062c""#, .string("abc")),
            ("[]", .array([])), ("[ 1 , [ ] ]", .array([.number("1"), .array([])])), ("{ }", .object([])),
            (#"{"b":1,"a":{}}"#, .object([.init("b", .number("1")), .init("a", .object([]))])),
            (#"{"a":1,"A":2}"#, .object([.init("a", .number("1")), .init("A", .number("2"))])),
        ] as [(String, JSONValue)])
    func `a JSON text has its value`(text: String, value: JSONValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(arguments: [
        ("", 0), ("  ", 2), ("nul", 3), ("nulll", 4), ("True", 0), ("01", 1), ("1.", 2), (".5", 0), ("+1", 0), ("-", 1),
        ("1e", 2), ("1e+", 3), ("NaN", 0), ("\"", 1), ("\"a\nb\"", 2), (#""\x""#, 2), (#""\u12g4""#, 5), (#""\u12"#, 5),
        ("[1,]", 3), ("[1 2]", 3), ("[", 1), ("{", 1), (#"{"a"}"#, 4), (#"{"a":}"#, 5), (#"{"a":1,}"#, 7), ("{a:1}", 1),
        (#"{"a":1,"b":2,"a":3}"#, 13), (#"{"a":1,"\u0061":3}"#, 7), ("1 2", 2), ("{}}", 2), ("'a'", 0), ("//", 0),
        ("\u{FEFF}1", 0), ("\u{0}", 0), ("1\u{0}", 1),
    ])
    func `a text that is not JSON is refused where it goes wrong`(text: String, offset: Int) {
        #expect { try parse(text) } throws: { ($0 as? JSONSyntaxError)?.offset == offset }
    }

    @Test(arguments: [
        ("\"a\nb\"", "a\nb"), ("\"\t\r\n\"", "\t\r\n"), ("\"a\\\\\nb\"", "a\\\nb"), ("\"\\n\n\"", "\n\n"),
    ])
    func `a text as it was typed may hold tabs and line breaks where that is asked for`(
        text: String, value: String
    ) throws {
        #expect(try JSONValue(parsingTyped: Array(text.utf8)) == .string(value))
        #expect(throws: JSONSyntaxError.self) { try parse(text) }
        let others = ["\"\u{0}\"", "\"\u{8}\"", "\"\u{1B}\"", "\"a\"b\"", "\"\\\""]
        for other in others {
            #expect(throws: JSONSyntaxError.self) { try JSONValue(parsingTyped: Array(other.utf8)) }
        }
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800\ud800""#, #""\ud83dx""#, #""\ud83d\n""#, #""\udbff"#,
    ])
    func `a lone surrogate is refused`(text: String) {
        #expect(throws: JSONSyntaxError.self) { try parse(text) }
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0x5C, 0x6E, 0x80, 0x22], [0xEF, 0xBB, 0xBF, 0x31],
        ] as [[UInt8]])
    func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes) }
    }

    @Test(arguments: ["[", #"{"a":"#])
    func `nesting has a limit`(opening: String) throws {
        func nested(_ depth: Int) -> String {
            let closing = opening == "[" ? "]" : "}"
            return String(repeating: opening, count: depth) + (opening == "[" ? "" : "1")
                + String(repeating: closing, count: depth)
        }
        _ = try parse(nested(JSONValue.maximumDepth))
        #expect(throws: JSONSyntaxError.self) { try parse(nested(JSONValue.maximumDepth + 1)) }
        #expect(throws: JSONSyntaxError.self) { try parse(String(repeating: opening, count: 100_000)) }
    }

    @Test func `a member twice is found among many`() throws {
        let names = (0..<40).map { "\"m\($0)\":\($0)" }
        #expect(try parse("{" + names.joined(separator: ",") + "}").members?.count == 40)
        for name in [0, 15, 16, 17, 39] {
            let text = "{" + (names + ["\"m\(name)\":0"]).joined(separator: ",") + "}"
            #expect(throws: JSONSyntaxError.self) { try parse(text) }
        }
    }

    @Test func `values answer only for their kind`() throws {
        let value = try parse(
            #"{"s":"x","i":-7,"f":1.0,"e":1e3,"b":true,"n":null,"a":[1],"o":{},"huge":9223372036854775808}"#)
        #expect(value["s"]?.string == "x" && value["s"]?.integer == nil)
        #expect(value["i"]?.integer == -7 && value["i"]?.string == nil)
        #expect(value["f"]?.integer == nil && value["e"]?.integer == nil && value["huge"]?.integer == nil)
        #expect(value["b"]?.bool == true && value["n"]?.isNull == true)
        #expect(value["a"]?.array == [.number("1")] && value["o"]?.members?.isEmpty == true)
        #expect(value["S"] == nil && JSONValue.null["s"] == nil)
        #expect(
            value.members?.map(\.value.kind) == [
                "a string", "a number", "a number", "a number", "a boolean", "null", "an array", "an object",
                "a number",
            ])
    }
}
