// SPDX-License-Identifier: Apache-2.0
import DeviceClient
import Testing

struct CredentialsTests {
    @Test(arguments: [
        // RFC 7617 section 2 and section 2.1.
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("test", "123£", "Basic dGVzdDoxMjPCow=="),
        ("alice", "", "Basic YWxpY2U6"),
        ("alice", ":a:b", "Basic YWxpY2U6OmE6Yg=="),
    ])
    func `credentials become a header field`(user: String, password: String, header: String) throws {
        #expect(try Credentials(user: user, password: password).authorization == header)
    }

    @Test(
        arguments: [
            ("", "x", .emptyUser), ("a:b", "x", .colonInUser), ("a\n", "x", .controlCharacter),
            ("a", "x\r\ny", .controlCharacter), ("a", "\u{7F}", .controlCharacter), ("a", "\u{85}", .controlCharacter),
        ] as [(String, String, Credentials.Malformed)])
    func `what cannot be sent is refused at once`(user: String, password: String, why: Credentials.Malformed) {
        #expect(throws: why) { try Credentials(user: user, password: password) }
    }

    @Test func `credentials print as stars, however they are printed`() throws {
        let credentials = try Credentials(user: "alice", password: "opensesame")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(!text.contains("opensesame") && !text.contains("alice"))
            #expect(text.contains("***"))
        }
    }
}
