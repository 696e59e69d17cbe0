// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Support
import Testing

@Suite struct TagTests {
    @Test(arguments: [
        "a", "username:alice", "from:bob@example.org", "-_@#.:", "Größe", "日本語", "9", "a\u{0301}",
        String(repeating: "x", count: 120),
    ])
    func `a legal tag is printed as it was written`(_ text: String) throws {
        #expect(try Tag(text).description == text)
        #expect(try !Tag(text).isSystem)
    }

    static let refused: [(String, TagError)] = [
        ("", .empty), (String(repeating: "x", count: 121), .tooLong), (String(repeating: "😀", count: 61), .tooLong),
        ("a b", .illegalCharacter), ("a&b", .illegalCharacter), ("a|b", .illegalCharacter), ("!a", .illegalCharacter),
        ("(a)", .illegalCharacter), ("a,b", .illegalCharacter), ("a'b", .illegalCharacter), ("a\"b", .illegalCharacter),
        ("a\n", .illegalCharacter), ("a\u{0}", .illegalCharacter), ("a\u{a0}b", .illegalCharacter),
        ("a\u{200B}", .illegalCharacter), ("a\u{202E}", .illegalCharacter), ("😀", .illegalCharacter),
        ("$InstallationId:{a}", .illegalCharacter), ("a=b", .illegalCharacter), ("a/b", .illegalCharacter),
        ("<a>", .illegalCharacter),
    ]

    static let apps: [(tag: String, app: String?)] = [
        ("app:com.example.Chat", "com.example.chat"), ("APP:x", "x"), ("app:a:b", "a:b"), ("app:", nil), ("app", nil),
        ("news", nil), ("application:x", nil), ("xapp:x", nil),
    ]

    @Test(arguments: apps) func `a registration names its app by the first such tag`(row: (tag: String, app: String?))
        throws
    {
        let handle = try DeviceHandle.fcm("token-1")
        #expect(try Tag(row.tag).app == row.app)
        let tags = try [Tag("news"), Tag(row.tag), Tag("app:other")]
        #expect(RegistrationDescription(tags: tags, handle: handle).app == row.app ?? "other")
    }

    @Test func `a registration has a tag of its own, in which its id is as it was written`() throws {
        let id = try #require(RegistrationID("Ab-1"))
        let tag = try #require(Tag(registration: id))
        #expect(tag.description == "device:Ab-1" && tag.registrationID == id)
        #expect(try Tag("DEVICE:aB-1") == tag && tag.names(registration: "ab-1") && tag.names(registration: "Ab-1"))
        #expect(!tag.names(registration: "b-1") && !tag.names(registration: "") && !tag.names(registration: "Ab-11"))
        for other in ["device:", "device", "device:a.b", "news", "xdevice:a", "username:device:a"] {
            #expect(try Tag(other).registrationID == nil)
            #expect(try !Tag(other).names(registration: "a"))
        }
        let length = Tag.maximumLength - Tag.registrationPrefix.count
        for count in [length, length + 1] {
            let id = try #require(RegistrationID(String(repeating: "a", count: count)))
            #expect((Tag(registration: id) != nil) == (count == length))
        }
    }

    @Test(arguments: refused.indices)
    func `what could change an expression is no tag`(_ row: Int) {
        #expect(throws: Self.refused[row].1) { try Tag(Self.refused[row].0) }
    }

    @Test func `tags are compared without case in all scripts`() throws {
        #expect(try Tag("UserName:ÄLICE") == Tag("username:älice"))
        #expect(try Set([Tag("a"), Tag("A"), Tag("Σ"), Tag("σ")]).count == 2)
        #expect(try Tag("a") != Tag("b"))
    }

    @Test func `system tags have their own door`() throws {
        let tag = try Tag(system: "$installationid:{0f2d-a=}")
        #expect(tag.isSystem)
        #expect(tag == (try Tag(system: "$InstallationId:{0F2D-A=}")))
        #expect(throws: TagError.notASystemTag) { try Tag(system: "a") }
        #expect(throws: TagError.notASystemTag) { try Tag(system: "$Other:{a}") }
        #expect(throws: TagError.notASystemTag) { try Tag(system: "$UserId:{a") }
        #expect(throws: TagError.empty) { try Tag(system: "$UserId:{}") }
        #expect(throws: TagError.illegalCharacter) { try Tag(system: "$UserId:{a} || {b}") }
    }
}

@Suite struct TagExpressionTests {
    /// What is written, how it is understood, and who is addressed.
    static let rows: [(text: String, description: String, matching: [String], other: [String])] = [
        ("a", "a", ["a", "A b"], ["", "b"]),
        ("a||b", "a || b", ["a", "b"], ["c", ""]),
        ("a || b && c", "a || (b && c)", ["a", "b c"], ["b", "c"]),
        ("(a||b)&&!c", "(a || b) && (!c)", ["a", "b d"], ["a c", "c", ""]),
        ("!a", "!a", ["", "b"], ["a", "a b"]),
        ("!!a", "!!a", ["a"], ["b"]),
        ("! ( a && b )", "!(a && b)", ["a", ""], ["a b"]),
        ("a&&b&&c", "a && b && c", ["a b c"], ["a b"]),
        ("((a))", "a", ["a"], ["b"]),
        ("#x.y:z-1@q", "#x.y:z-1@q", ["#X.Y:Z-1@Q"], ["#x"]),
        ("$InstallationId:{ab=}||\tb", "$InstallationId:{ab=} || b", ["b"], ["ab"]),
        ("  größe ", "größe", ["GRÖSSE größe"], ["grösse"]),
    ]

    @Test(arguments: rows.indices)
    func `an expression is understood, printed so that it cannot be misunderstood, and matched`(_ row: Int) throws {
        let (text, description, matching, other) = Self.rows[row]
        let expression = try TagExpression(parsing: text)
        #expect(expression.description == description)
        #expect(try TagExpression(parsing: description) == expression)
        for tags in matching { #expect(expression.matches(try Self.set(tags)), "\(tags)") }
        for tags in other { #expect(!expression.matches(try Self.set(tags)), "\(tags)") }
    }

    private static func set(_ text: String) throws -> Set<Tag> {
        Set(try text.split(separator: " ").map { try Tag(String($0)) })
    }

    static let refused: [(text: String, offset: Int, reason: TagExpressionError.Reason)] = [
        ("", 0, .tagExpected), ("  ", 2, .tagExpected), ("a b", 2, .operatorExpected), ("a &", 3, .operatorExpected),
        ("a & b", 3, .operatorExpected), ("a | b", 3, .operatorExpected), ("a ||", 4, .tagExpected),
        ("|| a", 0, .tagExpected), ("(a", 2, .unclosedParenthesis), ("a)", 1, .operatorExpected),
        ("(a b)", 3, .operatorExpected), ("()", 1, .tagExpected), ("a,b", 1, .unexpectedCharacter),
        ("é ^", 3, .unexpectedCharacter), ("$a", 0, .badTag), ("$UserId:{a", 0, .badTag),
        ("a || {", 5, .unexpectedCharacter),
        ("x || " + String(repeating: "y", count: 121), 5, .badTag),
        (String(repeating: "!", count: 17) + "a", 16, .tooDeep),
        (String(repeating: "(", count: 100_000), 0, .tooLong),
        (String(repeating: "(", count: 10_000), 16, .tooDeep),
    ]

    @Test(arguments: refused.indices)
    func `a wrong expression is refused at its first wrong byte`(_ row: Int) {
        let (text, offset, reason) = Self.refused[row]
        #expect(throws: TagExpressionError(offset: offset, reason: reason)) { try TagExpression(parsing: text) }
    }

    @Test func `twenty tags may be joined by or alone, six by anything`() throws {
        let names = (1...21).map { "t\($0)" }
        #expect(try TagExpression(parsing: names.prefix(20).joined(separator: "||")).tags.count == 20)
        #expect(throws: TagExpressionError.self) { try TagExpression(parsing: names.joined(separator: "||")) }
        #expect(try TagExpression(parsing: names.prefix(6).joined(separator: "&&")).tags.count == 6)
        #expect(throws: TagExpressionError.self) { try TagExpression(parsing: names.prefix(7).joined(separator: "&&")) }
        #expect(throws: TagExpressionError.self) {
            try TagExpression(parsing: "!" + names.prefix(7).joined(separator: "||"))
        }
    }

    @Test func `a list of tags is joined by or, and an empty one never means everybody`() throws {
        let tags = try (1...21).map { try Tag("t\($0)") }
        #expect(try TagExpression.any(of: Array(tags.prefix(3))).description == "t1 || t2 || t3")
        #expect(try TagExpression.any(of: Array(tags.prefix(20))).isWithinLimits)
        #expect(throws: TagExpressionError(offset: 0, reason: .tagExpected)) { try TagExpression.any(of: []) }
        #expect(throws: TagExpressionError(offset: 0, reason: .tooManyTags)) { try TagExpression.any(of: tags) }
    }

    @Test func `random expressions never trap, and what is taken reads the same when printed`() {
        var random = SeededRandom(seed: 0x7A6)
        let pieces = ["a", "b:1", "&&", "||", "!", "(", ")", " ", "&", "$UserId:{x}", "é", "{", ","]
        var taken = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...9, using: &random)
            let text = (0..<count).map { _ in pieces[Int.random(in: pieces.indices, using: &random)] }.joined()
            guard let expression = try? TagExpression(parsing: text) else { continue }
            taken += 1
            #expect((try? TagExpression(parsing: expression.description))?.description == expression.description)
        }
        #expect(taken > 100)
    }
}
