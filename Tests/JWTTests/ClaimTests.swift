// SPDX-License-Identifier: Apache-2.0
import JWT
import Testing

@Suite struct `What is taken from a token` {
    private static let key = IssuerKey.ed25519("e")

    private static func bench(_ userClaim: String) throws -> Bench {
        try Bench(ScriptedSource([try key.jwk()]), userClaim: userClaim)
    }

    @Test func `the user comes from the claim of the configured name, also inside an object`() throws {
        let token = try Self.key.token(["preferred_username": #""bob""#, "realm_access": #"{"user":"carol"}"#])
        #expect(try Self.bench("preferred_username").judge(token) == "test.bob")
        #expect(try Self.bench("realm_access.user").judge(token) == "test.carol")
        for missing in ["nosuch", "a.b.c", "preferred_username.x", "realm_access"] {
            #expect(try Self.bench(missing).judge(token) == TokenError.noUser.description)
        }
    }

    @Test func `a name with dots in it comes before the way into an object`() throws {
        let token = try Self.key.token(["https://example.com/user": #""dave""#])
        #expect(try Self.bench("https://example.com/user").judge(token) == "test.dave")
    }

    @Test func `an e-mail address makes a user only when it is verified`() throws {
        let bench = try Self.bench("email")
        let address = #""alice@example.com""#
        for (verified, expected) in [
            ("true", "test.alice@example.com"), (#""true""#, "test.alice@example.com"),
            ("false", TokenError.unverifiedEmail.description), ("", TokenError.unverifiedEmail.description),
        ] {
            let token = try Self.key.token(["email": address, "email_verified": verified])
            #expect(bench.judge(token) == expected)
        }
    }

    static let names = [
        ("7f3a-1", "p.7f3a-1"), ("auth0|5F7c", "p.auth0#7c5#467c"), ("a#7c", "p.a#237c"), ("ä", "p.#c3#a4"),
        ("a\u{308}", "p.a#cc#88"), ("a b", "p.a#20b"), ("a:b", "p.a#3ab"), ("a.b@c_d", "p.a.b@c_d"),
    ]

    @Test(arguments: names) func `no two values make one name`(value: String, name: String) throws {
        #expect(try #require(UserPrefix("p")).userName(of: value) == name)
    }

    @Test func `a prefix is short, in small letters, and without a dot`() {
        #expect(UserPrefix("my-idp-2") != nil)
        for text in ["", "a.b", "A", "ä", "a b", "a#", String(repeating: "a", count: 17)] {
            #expect(UserPrefix(text) == nil)
        }
    }

    static let roleClaims = [
        (#"["editor", "helper", "gone"]"#, "editor helper"), (#"["helper", "editor"]"#, "editor helper"),
        (#""editor""#, "editor"), (#"["Editor", 1, null, {}, ["editor"]]"#, ""), ("1", ""), ("{}", ""), ("null", ""),
        (#"["editor", "editor"]"#, "editor"), ("", ""),
        // Keycloak's groups are paths, and only a whole one is a role.
        (#"["/editor", "/helper"]"#, "editor helper"), (#""/editor""#, "editor"),
        (#"["/staff/editor", "staff/editor", "//editor", "/editor/", "/", ""]"#, ""),
    ]

    @Test(arguments: roleClaims) func `roles are those of the claim that the configuration has, by their names`(
        value: String, roles: String
    ) throws {
        let source = ScriptedSource([try Self.key.jwk()])
        let expected = (["test.alice"] + roles.split(separator: " ")).joined(separator: " ")
        let issuer = try Bench.issuer(rolesClaim: "realm_access.roles", roles: ["editor", "helper"])
        let bench = Bench([(issuer, source)])
        let token = try Self.key.token(["realm_access": value.isEmpty ? "" : #"{"roles":\#(value)}"#])
        // The second time from memory.
        for _ in 0..<2 { #expect(bench.judge(token) == expected) }
        #expect(try Bench(source).judge(token) == "test.alice")
    }

    @Test func `an issuer without audience and party is not accepted`() throws {
        let prefix = try #require(UserPrefix("p"))
        #expect(TrustedIssuer(issuer: "https://a", prefix: prefix, audiences: []) == nil)
        #expect(TrustedIssuer(issuer: "https://a", prefix: prefix, audiences: [], authorizedParties: ["a"]) != nil)
    }

    @Test func `two issuers with one subject have two users, and neither signs for the other`() throws {
        let other = IssuerKey.ed25519("e")
        let bench = Bench([
            (try Bench.issuer("https://a", prefix: "a"), ScriptedSource([try Self.key.jwk()])),
            (try Bench.issuer("https://b", prefix: "b"), ScriptedSource([try other.jwk()])),
        ])
        #expect(bench.judge(try Self.key.token(["iss": #""https://a""#])) == "a.alice")
        #expect(bench.judge(try other.token(["iss": #""https://b""#])) == "b.alice")
        #expect(bench.judge(try other.token(["iss": #""https://a""#])) == TokenError.badSignature.description)
    }
}
