// SPDX-License-Identifier: Apache-2.0
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
        String(repeating: "\u{1D4CA}", count: 60), "İstanbul",
    ])
    func `what is not legal inside a tag is no name`(text: String) {
        #expect(UserName(text) == nil)
    }

    @Test func `the longest name still fits into a tag`() throws {
        let name = try #require(UserName(String(repeating: "x", count: UserName.maximumLength)))
        #expect(throws: Never.self) { try Tag("username:" + name.description) }
    }
}
