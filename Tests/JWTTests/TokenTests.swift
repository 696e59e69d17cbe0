// SPDX-License-Identifier: Apache-2.0
import JWT
import Testing
import Text

@Suite struct `Tokens that are verified` {
    private static let rsa = Result { try IssuerKey.rsa("r") }
    private static let p256 = IssuerKey.p256("p")
    private static let ed25519 = IssuerKey.ed25519("e")

    private static func keys() throws -> [IssuerKey] { [try rsa.get(), p256, ed25519] }

    private static func bench(_ parties: [String] = []) throws -> Bench {
        try Bench(ScriptedSource(try keys().map { try $0.jwk() }), parties: parties)
    }

    @Test func `each algorithm verifies with its kind of key`() throws {
        let bench = try Self.bench()
        for key in try Self.keys() {
            #expect(bench.judge(try key.token()) == "test.alice")
        }
    }

    @Test func `a changed byte makes every signature wrong`() throws {
        let bench = try Self.bench()
        for key in try Self.keys() {
            let parts = try key.token().split(separator: ".")
            let other = try key.token(["sub": #""bob""#]).split(separator: ".")
            #expect(bench.judge("\(parts[0]).\(other[1]).\(parts[2])") == TokenError.badSignature.description)
            #expect(bench.judge("\(parts[0]).\(parts[1]).") == TokenError.badSignature.description)
        }
    }

    @Test func `a key cannot be used for another algorithm than its own`() throws {
        let bench = try Self.bench()
        for key in try Self.keys() {
            for other in try Self.keys() where other.algorithm != key.algorithm {
                let token = try key.token(header: ["alg": "\"\(other.algorithm)\""])
                #expect(bench.judge(token) == TokenError.wrongKey.description)
            }
        }
    }

    @Test func `an ECDSA signature of zeros is wrong`() throws {
        let parts = try Self.p256.token().split(separator: ".")
        let zeros = Base64.url.encode([UInt8](repeating: 0, count: 64))
        #expect(try Self.bench().judge("\(parts[0]).\(parts[1]).\(zeros)") == TokenError.badSignature.description)
    }

    static let headers: [(String, KeyValuePairs<String, String>, TokenError?)] = [
        ("no signature", ["alg": #""none""#], .unknownAlgorithm),
        ("a shared key", ["alg": #""HS256""#], .unknownAlgorithm),
        ("another spelling", ["alg": #""rs256""#], .unknownAlgorithm),
        ("another padding", ["alg": #""PS256""#], .unknownAlgorithm),
        ("no algorithm", ["alg": ""], .malformed),
        ("an algorithm that is no text", ["alg": "1"], .malformed),
        ("a critical extension", ["crit": #"["b64"]"#, "b64": "false"], .unknownExtension),
        ("an empty list of extensions", ["crit": "[]"], .unknownExtension),
        ("no type", ["typ": ""], nil),
        ("an access token", ["typ": #""at+jwt""#], nil),
        ("the type as a media type, in capitals", ["typ": #""application/AT+JWT""#], nil),
        ("a log-out token", ["typ": #""logout+jwt""#], .wrongType),
        ("a proof of possession", ["typ": #""dpop+jwt""#], .wrongType),
        ("a type that is no text", ["typ": "[]"], .wrongType),
        ("an unknown key", ["kid": #""x""#], .unknownKey),
        ("an id of a key that is no text", ["kid": "7"], .malformed),
        ("a path as an id", ["kid": #""../../dev/null""#], .unknownKey),
        ("no id, one key of the kind", ["kid": ""], nil),
        ("a key of its own", ["jwk": #"{"kty":"oct","k":"AA"}"#], nil),
        (
            "an address of keys of its own", ["jku": #""https://evil.example/""#, "x5u": #""https://evil.example/""#],
            nil
        ),
    ]

    @Test(arguments: headers.indices) func `what a header may say`(index: Int) throws {
        let (name, members, error) = Self.headers[index]
        let judged = try Self.bench().judge(try Self.p256.token(header: members))
        #expect(judged == error?.description ?? "test.alice", "\(name)")
    }

    static let payloads: [(String, KeyValuePairs<String, String>, TokenError?)] = [
        ("another issuer", ["iss": #""https://issuer.example""#], .unknownIssuer),
        ("an issuer in capitals", ["iss": #""https://ISSUER.example/""#], .unknownIssuer),
        ("no issuer", ["iss": ""], .unknownIssuer),
        ("a list of issuers", ["iss": #"["https://issuer.example/"]"#], .unknownIssuer),
        ("another audience", ["aud": #""other""#], .wrongAudience),
        ("no audience", ["aud": ""], .wrongAudience),
        ("one of several audiences", ["aud": #"["other","backend"]"#], nil),
        ("an audience inside of another", ["aud": #"[["backend"]]"#], .wrongAudience),
        ("an audience with more behind it", ["aud": #""backend2""#], .wrongAudience),
        ("an authorized party", ["aud": #""account""#, "azp": #""app""#], nil),
        ("another party", ["aud": #""account""#, "azp": #""other""#], .wrongAudience),
        ("an audience as the party", ["aud": #""account""#, "azp": #""backend""#], .wrongAudience),
        ("no end", ["exp": ""], .badTime),
        ("an end that is a text", ["exp": #""2000""#], .badTime),
        ("an end that is no number's", ["exp": "1e400"], .badTime),
        ("an end beyond all numbers", ["exp": "99999999999999999999"], .badTime),
        ("an end of null", ["exp": "null"], .badTime),
        ("an end with a fraction", ["exp": "1000.5"], nil),
        ("an end that was long ago", ["exp": "-1"], .expired),
        ("an end within the leeway", ["exp": "941"], nil),
        ("an end at the leeway", ["exp": "940"], .expired),
        ("a beginning within the leeway", ["nbf": "1060"], nil),
        ("a beginning later", ["nbf": "1061"], .notYetValid),
        ("a beginning behind the end", ["exp": "1010", "nbf": "1020"], .badTime),
        ("made in the future", ["iat": "1061"], .notYetValid),
        ("made at no time", ["iat": "true"], .badTime),
        ("not said when it was made", ["iat": ""], nil),
        ("a log-in in the future", ["auth_time": "1100"], .notYetValid),
        ("a log-out", ["events": "{}"], .wrongType),
        ("bound to a key", ["cnf": #"{"jkt":"x"}"#], .boundToKey),
        ("no user", ["sub": ""], .noUser),
        ("an empty user", ["sub": #""""#], .noUser),
        ("a user that is a number", ["sub": "7"], .noUser),
        ("a user that is too long", ["sub": "\"\(String(repeating: "a", count: 256))\""], .noUser),
        ("a user whose name would be too long", ["sub": "\"\(String(repeating: "A", count: 36))\""], .noUser),
    ]

    @Test(arguments: payloads.indices) func `what a payload may say`(index: Int) throws {
        let (name, members, error) = Self.payloads[index]
        let judged = try Self.bench(["app"]).judge(try Self.ed25519.token(members))
        #expect(judged == error?.description ?? "test.alice", "\(name)")
    }

    static let texts: [(String, TokenError)] = [
        ("", .malformed), (".", .malformed), ("..", .malformed), ("a.b", .malformed), ("e30.e30.e30.e30", .malformed),
        ("e30.e30.", .malformed), ("e30=.e30.", .malformed), ("!.e30.", .malformed),
        (String(repeating: ".", count: 8_192), .malformed), (String(repeating: "a", count: 8_193), .tooLong),
    ]

    @Test(arguments: texts) func `a text that is no token is refused before anything is decoded`(
        text: String, error: TokenError
    ) throws {
        #expect(try Self.bench().judge(text) == error.description)
    }

    @Test func `JSON that two readers may read differently is refused`() throws {
        let bench = try Self.bench()
        let header = #"{"alg":"EdDSA","kid":"e"}"#
        let payload = #"{"iss":"https://issuer.example/","aud":"backend","sub":"alice","exp":2000}"#
        #expect(bench.judge(try Self.ed25519.token(header: header, payload: payload)) == "test.alice")
        let depth = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let pairs: [(String, String)] = [
            (#"{"alg":"EdDSA","kid":"e","alg":"none"}"#, payload),
            (header, payload.dropLast() + #","sub":"bob"}"#),
            (header, payload.dropLast() + #","x":\#(depth)}"#),
            (header, payload + " x"),
            (header, #""text""#),
            (header, "{\"sub\":\"\u{0}\"}"),
            ("[]", payload),
        ]
        for (header, payload) in pairs {
            let token = try Self.ed25519.token(header: header, payload: payload)
            #expect(bench.judge(token) == TokenError.malformed.description)
        }
    }

    @Test func `each reason can be sent in a challenge`() {
        for error in TokenError.allCases {
            #expect(error.description.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
        }
    }
}
