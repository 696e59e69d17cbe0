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
    func `name and password become a header field`(user: String, password: String, header: String) async throws {
        let credentials = try Credentials(user: user, password: password)
        #expect(try await credentials.authorization() == header)
        #expect(credentials.user == user)
    }

    @Test(arguments: ["abt_27c5b1f08e6d4a93_PtS8x-Z3m0", "eyJ.eyJ.x_-", "a+/b~==", "0"])
    func `a token becomes a header field, and names no user`(token: String) async throws {
        let credentials = try Credentials(token: token)
        #expect(try await credentials.authorization() == "Bearer " + token)
        #expect(credentials.user == nil)
    }

    @Test(arguments: ["", "=", "a b", "a\r\nX: y", "ä", "a=b", "\"a\""])
    func `what is no token is refused at once`(token: String) {
        #expect(throws: Credentials.Malformed.notAToken) { try Credentials(token: token) }
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
        for credentials in [
            try Credentials(user: "alice", password: "opensesame"), try Credentials(token: "opensesame"),
            Credentials { _ in "opensesame" },
        ] {
            var dumped = ""
            dump(credentials, to: &dumped)
            for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
                #expect(!text.contains("opensesame") && !text.contains("alice"))
                #expect(text.contains("***"))
            }
        }
    }
}
