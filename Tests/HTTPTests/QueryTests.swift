// SPDX-License-Identifier: Apache-2.0
import HTTP
import Testing
import Text

@Suite struct QueryTests {
    @Test(
        arguments: [
            ("", "a", nil), ("a=1", "a", "1"), ("A=1", "a", "1"), ("a=1&a=2", "a", "1"), ("b=2&a=1", "A", "1"),
            ("a", "a", ""),
            ("a=", "a", ""), ("a=b=c", "a", "b=c"), ("a=x+y", "a", "x y"), ("a=x%2By", "a", "x+y"), ("%61=1", "a", "1"),
            ("a=%C3%A9", "a", "é"), ("&&a=1&", "a", "1"), ("=1", "a", nil), ("=1", "", "1"), ("a=%26%3D", "a", "&="),
            ("a=%00", "a", "\u{0}"), ("ab=1", "a", nil),
        ] as [(String, String, String?)])
    func `an item is found by its name`(query: String, name: String, value: String?) throws {
        #expect(try Query(query)[name] == value)
    }

    @Test(arguments: [
        ("a=%", "a"), ("a=%1", "a"), ("a=%zz", "a"), ("a=%FF", "a"), ("%G0=1", ""), ("ok=1&b=%C3", "b"),
        ("a=%C0%80", "a"),
    ])
    func `bad encoding names its item`(query: String, name: String) {
        #expect(throws: Query.Malformed.badEncoding(name: name)) { try Query(query) }
    }

    @Test(arguments: [
        ("b=2&a=1", "a=1&b=2"), ("A=1", "a=1"), ("a=%31", "a=1"), ("a=x+y", "a=x%20y"), ("&a=1&", "a=1"), ("a", "a="),
        ("b=1&a=2&a=1", "a=2&b=1&a=1"),
    ])
    func `queries that mean the same have the same items`(one: String, other: String) throws {
        let items = try [one, other].map { try Query($0).canonical.map { "\($0.name)=\($0.value)" } }
        #expect(items[0] == items[1])
    }

    @Test func `the order of one name's items is kept, for the first one counts`() throws {
        #expect(try Query("a=2&a=1").canonical.map(\.value) == ["2", "1"])
        #expect(try Query("a=X").canonical.map(\.value) == ["X"])
    }

    @Test func `the number of items is limited`() throws {
        let items = { (count: Int) in (0..<count).map { "a\($0)=1" }.joined(separator: "&") }
        #expect(try Query(items(Query.maximumItems))["a31"] == "1")
        #expect(throws: Query.Malformed.tooManyItems) { try Query(items(Query.maximumItems + 1)) }
    }
}

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("", ""), ("aZ09-._~", "aZ09-._~"), (" ", "%20"), ("+", "%2B"), ("/?#%", "%2F%3F%23%25"), ("é", "%C3%A9"),
        ("😀", "%F0%9F%98%80"), ("\u{0}\n", "%00%0A"), ("a&b=c", "a%26b%3Dc"),
    ])
    func `texts and codes correspond`(text: String, code: String) {
        #expect(PercentEncoding.encode(text) == code)
        #expect(PercentEncoding.encode(text, uppercase: false).lowercased() == code.lowercased())
        #expect(PercentEncoding.decode(code.utf8) == text)
        #expect(PercentEncoding.decode(PercentEncoding.encode(text, uppercase: false).utf8) == text)
    }

    @Test(arguments: ["%", "%4", "%4g", "%g4", "a%", "%%41", "%FF", "%C3", "%ED%A0%80"])
    func `codes of nothing are refused`(code: String) {
        #expect(PercentEncoding.decode(code.utf8) == nil)
    }

    @Test func `a plus is a blank in forms only`() {
        #expect(PercentEncoding.decode("a+b".utf8) == "a+b")
        #expect(PercentEncoding.decode("a+b".utf8, plusIsSpace: true) == "a b")
    }
}

@Suite struct ASCIITests {
    @Test func `only ASCII letters have two cases`() {
        for byte in UInt8.min...UInt8.max {
            let character = Character(Unicode.Scalar(byte))
            let isUpper = byte < 0x80 && character.isUppercase
            #expect(ASCII.lowercased(byte) == (isUpper ? byte + 32 : byte))
            #expect(ASCII.isAlphanumeric(byte) == (byte < 0x80 && (character.isLetter || character.isNumber)))
            #expect(ASCII.hexValue(byte).map(Int.init) == (byte < 0x80 ? character.hexDigitValue : nil))
        }
        #expect(ASCII.equalIgnoringCase("Content-Type", "content-tYPE"))
        #expect(!ASCII.equalIgnoringCase("é", "É"))
        #expect(!ASCII.equalIgnoringCase("a", "ab"))
    }
}
