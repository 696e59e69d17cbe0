// SPDX-License-Identifier: Apache-2.0
import Foundation
import NotificationHub
import Testing

@testable import AppBackend

struct UserNameTests {
    @Test(arguments: [
        ("alice", "alice"), ("Alice", "alice"), ("a.b-c_d@e#f", "a.b-c_d@e#f"), ("ZOË", "zoë"), ("用户", "用户"),
        ("Straße", "strasse"), ("ſam", "sam"), ("kıs", "kis"),
    ])
    func `one person has one name however it is spelled`(text: String, name: String) throws {
        let userName = try #require(UserName(text))
        #expect(userName.description == name)
        #expect(throws: Never.self) { try Tag("username:" + userName.description) }
    }

    @Test(arguments: [
        "", "a b", "a:b", "a,b", "a&b", "(a)", "a|b", "!a", "a\"b", "a/b", "a\\b", "a\nb", "a\0b", "e\u{301}", "👤",
        "$UserId", "a*", "a<b", String(repeating: "x", count: 112),
        String(repeating: "\u{1D4CA}", count: 60), "İstanbul", "\u{F900}x", "\u{1112}\u{1161}\u{11AB}",
        "\u{AC00}\u{11A8}", "\u{16D67}\u{16D67}",
    ])
    func `what is not legal inside a tag is no name`(text: String) {
        #expect(UserName(text) == nil)
    }

    @Test(arguments: [".", "..", "-", "-a", "--help"])
    func `what a path cannot have, or a command takes for an option, is no new user's name`(text: String) {
        #expect(UserName(new: text) == nil && UserName(text) != nil)
    }

    @Test(arguments: ["alice", "a-", "...", ".a", "#", "@"])
    func `any other name may be a new user's`(text: String) {
        #expect(UserName(new: text) == UserName(text))
    }

    @Test func `the longest name still fits into a tag`() throws {
        let name = try #require(UserName(String(repeating: "x", count: UserName.maximumLength)))
        #expect(throws: Never.self) { try Tag("username:" + name.description) }
    }

    /// All that a name may be made of, by itself.
    private static let letters = (UInt32(0x80)...0x10_FFFF).compactMap(Unicode.Scalar.init)
        .filter { UserName(String($0)) != nil }

    @Test func `no two names are equal to Swift that are not the same bytes`() throws {
        // One of a letter: Swift hashes and compares what Unicode calls equal.
        var seen: [String: Unicode.Scalar] = [:]
        for letter in Self.letters {
            let folded = try #require(UserName(String(letter))).description
            if let other = seen[folded] {
                let name = try #require(UserName(String(other))).description
                #expect(name.utf8.elementsEqual(folded.utf8), "\(other) \(letter)")
            }
            seen[folded] = letter
        }
        #expect(Self.letters.count > 100_000)
        // What a letter is made of is no name: at least one of its parts is refused.
        for letter in Self.letters {
            let parts = String(letter).decomposedStringWithCanonicalMapping
            guard parts.unicodeScalars.count > 1 else { continue }
            for length in 2...parts.unicodeScalars.count {
                #expect(UserName(String(String.UnicodeScalarView(parts.unicodeScalars.prefix(length)))) == nil)
            }
        }
    }

    @Test func `a letter that joins the one before it is no name's`() {
        // Between its first letter and what follows that at the latest, if the two stay two.
        func staysTwo(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
            let text = String(String.UnicodeScalarView([first, second]))
            return text > String(first) && text < String(String.UnicodeScalarView([first, "\u{10FFFF}"]))
        }
        let firsts: [Unicode.Scalar] = ["a", "\u{1100}", "\u{AC00}", "\u{16D67}", "\u{16D63}", "\u{16D69}"]
        #expect(!staysTwo("\u{1100}", "\u{1161}") && !staysTwo("\u{16D67}", "\u{16D67}"))
        for letter in Self.letters {
            #expect(firsts.allSatisfy { staysTwo($0, letter) }, "\(String(letter.value, radix: 16))")
        }
    }
}
