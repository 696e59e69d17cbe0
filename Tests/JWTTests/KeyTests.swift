// SPDX-License-Identifier: Apache-2.0
import JWT
import System
import Testing
import Text

@Suite struct `The keys of an issuer` {
    private static let key = IssuerKey.p256("1")
    private static let next = IssuerKey.p256("2")

    /// Good for as long as any test's clock goes.
    private static func token(_ key: IssuerKey = key, _ subject: String = "alice") throws -> String {
        try key.token(["exp": "900000", "sub": "\"\(subject)\""])
    }

    @Test func `are fetched when the first token comes, and kept`() throws {
        let source = ScriptedSource([try Self.key.jwk()])
        let bench = try Bench(source)
        #expect(source.fetches == 0)
        for subject in ["alice", "bob"] {
            #expect(bench.judge(try Self.token(Self.key, subject)) == "test.\(subject)")
        }
        #expect(source.fetches == 1)
    }

    @Test func `an unknown key is looked for once in a while, however many there are`() throws {
        let source = ScriptedSource([try Self.key.jwk()])
        let bench = try Bench(source)
        _ = bench.judge(try Self.token())
        bench.pass(.seconds(11))
        for id in 0..<50 {
            let token = try Self.key.token(header: ["kid": "\"made-up-\(id)\""])
            #expect(bench.judge(token) == TokenError.unknownKey.description)
        }
        #expect(source.fetches == 2)
        bench.pass(.seconds(289))
        // The lifetime is an hour here, so it is the unknown key that counts.
        _ = bench.judge(try Self.key.token(header: ["kid": #""x""#]))
        #expect(source.fetches == 2)
        bench.pass(.seconds(11))
        _ = bench.judge(try Self.key.token(header: ["kid": #""x""#]))
        #expect(source.fetches == 3)
    }

    @Test func `a token that is newer than the keys is asked to come again while an unknown key is not looked for`()
        throws
    {
        let source = ScriptedSource([try Self.key.jwk()])
        let bench = try Bench(source)
        _ = bench.judge(try Self.token())
        bench.pass(.seconds(20))
        // The last look, by a made-up id.
        #expect(bench.judge(try Self.key.token(header: ["kid": #""x""#])) == TokenError.unknownKey.description)
        source.publish([try Self.key.jwk(), try Self.next.jwk()])
        bench.pass(.seconds(100))
        let rotated = try Self.next.token(["exp": "900000", "iat": "1100"])
        #expect(bench.judge(rotated) == "unknown yet 201")
        // The keys are younger than these, or these are not acceptable anyway.
        for claims: KeyValuePairs in [["iat": "1019"], ["iat": ""], ["iat": "1100", "aud": #""x""#], ["iat": "9000"]] {
            #expect(bench.judge(try Self.next.token(claims)) == TokenError.unknownKey.description)
        }
        bench.pass(.seconds(201))
        #expect(bench.judge(rotated) == "test.alice")
        #expect(source.fetches == 3)
    }

    @Test func `a token that was made in the second of the last fetch is newer than the keys`() throws {
        let source = ScriptedSource([try Self.key.jwk()])
        let bench = try Bench(source)
        _ = bench.judge(try Self.token())
        bench.pass(.milliseconds(700))
        #expect(bench.judge(try Self.next.token(["iat": "1000"])) == "unknown yet 10")
        #expect(bench.judge(try Self.next.token(["iat": "998"])) == TokenError.unknownKey.description)
    }

    @Test func `a token that is newer than the keys comes again also while its issuer is away`() throws {
        let source = ScriptedSource([try Self.key.jwk()])
        let bench = try Bench(source)
        _ = bench.judge(try Self.token())
        bench.pass(.seconds(20))
        source.fail(.status(500))
        #expect(bench.judge(try Self.next.token(["iat": "1010"])) == "unknown yet 301")
    }

    @Test func `a withdrawn key ends with the next look when the keys are expired`() throws {
        let source = ScriptedSource([try Self.key.jwk()], maximumAge: "86400")
        let bench = try Bench(source)
        let token = try Self.token()
        #expect(bench.judge(token) == "test.alice")
        source.publish([try Self.next.jwk()])
        bench.pass(.seconds(60))
        #expect(bench.judge(token) == "test.alice")
        bench.verifier.expireKeys()
        #expect(bench.judge(token) == TokenError.unknownKey.description)
        // An issuer that is away locks no user out.
        source.fail(.status(500))
        bench.verifier.expireKeys()
        #expect(bench.judge(try Self.token(Self.next)) == "test.alice")
    }

    @Test func `a new key is found, and the removed one ends with what was verified by it`() throws {
        let source = ScriptedSource([try Self.key.jwk()])
        let bench = try Bench(source)
        let old = try Self.token()
        #expect(bench.judge(old) == "test.alice")
        bench.pass(.seconds(11))
        source.publish([try Self.next.jwk()])
        #expect(bench.judge(old) == "test.alice")
        #expect(bench.judge(try Self.token(Self.next)) == "test.alice")
        #expect(bench.judge(old) == TokenError.unknownKey.description)
        #expect(source.fetches == 2)
    }

    static let lifetimes: [(String?, Int)] = [
        (nil, 3_600), ("0", 300), ("1000", 1_000), ("9999999999999999999999", 86_400),
    ]

    @Test(arguments: lifetimes) func `are fetched again as the issuer says, within bounds`(
        age: String?, seconds: Int
    ) throws {
        let source = ScriptedSource([try Self.key.jwk()], maximumAge: age)
        let bench = try Bench(source)
        let token = try Self.token()
        _ = bench.judge(token)
        bench.pass(.seconds(seconds - 1))
        #expect(bench.judge(token) == "test.alice")
        #expect(source.fetches == 1)
        bench.pass(.seconds(1))
        // A remembered token looks at the age of the keys too.
        #expect(bench.judge(token) == "test.alice")
        #expect(source.fetches == 2)
    }

    @Test func `the last good ones stay when a fetch fails, which is reported`() throws {
        let source = ScriptedSource([try Self.key.jwk()])
        let bench = try Bench(source)
        _ = bench.judge(try Self.token())
        source.fail(.status(500))
        bench.pass(.seconds(90_000))
        for second in 0..<10 {
            #expect(bench.judge(try Self.token(Self.key, "u\(second)")) != TokenError.unknownKey.description)
        }
        #expect(bench.judge(try Self.token(Self.key, "bob")) == "test.bob")
        #expect(source.fetches == 2)
        #expect(bench.reported == ["https://issuer.example/: the issuer answers 500"])
    }

    @Test func `a failure is followed by pauses that grow`() throws {
        let source = ScriptedSource([])
        source.fail(.unanswered(kind: "timeout"))
        let bench = try Bench(source)
        let token = try Self.token()
        #expect(bench.judge(token) == "pending")
        var fetches: [Int] = []
        for _ in 0..<200 {
            _ = bench.judge(token)
            fetches.append(source.fetches)
            bench.pass(.seconds(1))
        }
        // After 1, 2, 4, 8, 16, 32, and then each 60 seconds.
        #expect(source.fetches == 9)
        #expect(bench.judge(token).hasPrefix("unavailable "))
        source.publish([try Self.key.jwk()])
        bench.pass(.seconds(60))
        #expect(bench.judge(token) == "test.alice")
    }

    @Test func `one fetch serves all who wait`() throws {
        let source = ScriptedSource([try Self.key.jwk()], isHeld: true)
        let bench = try Bench(source)
        let resumed = Lock(0)
        for _ in 0..<1_000 {
            guard case .pending(let fetch) = try bench.verifier.verify(try Self.token()[...]) else {
                Issue.record("there are keys already")
                return
            }
            fetch.onEnd { resumed.withLock { $0 += 1 } }
        }
        #expect(bench.judge(try Self.token()) == "unavailable 1")
        #expect(source.fetches == 1)
        source.release()
        #expect(resumed.withLock { $0 } == 1_000)
        #expect(bench.judge(try Self.token()) == "test.alice")
        #expect(source.fetches == 1)
    }

    @Test func `are used while newer ones are fetched, for a day`() throws {
        let source = ScriptedSource([try Self.key.jwk()])
        let bench = try Bench(source)
        _ = bench.judge(try Self.token())
        source.hold()
        bench.pass(.seconds(3_600))
        #expect(bench.judge(try Self.token()) == "test.alice")
        #expect(source.fetches == 2)
        bench.pass(.seconds(82_800))
        #expect(bench.judge(try Self.token()) == "pending")
        source.publish([try Self.next.jwk()])
        source.release()
        #expect(bench.judge(try Self.token()) == TokenError.unknownKey.description)
    }

    static let documents: [(String, KeyError?)] = [
        ("", .notAKeySet), ("[]", .notAKeySet), (#"{"keys":{}}"#, .notAKeySet), (#"{"keys":[]}"#, .noUsableKey([])),
        (
            #"{"keys":[1,{}]}"#,
            .noUsableKey([
                SkippedKey(number: 1, id: nil, fault: .notAKey), SkippedKey(number: 2, id: nil, fault: .unknownKind),
            ])
        ),
        (
            #"{"keys":[{"kty":"oct","k":"AAAA","kid":"1","alg":"HS256"}]}"#,
            .noUsableKey([SkippedKey(number: 1, id: "1", fault: .unknownKind)])
        ),
        (#"{"keys":["# + Array(repeating: "{}", count: 101).joined(separator: ",") + "]}", .tooManyKeys),
        (String(repeating: " ", count: 256 * 1_024 + 1), .tooLarge),
    ]

    @Test(arguments: documents.indices) func `a document that is not good is refused as a whole`(index: Int) throws {
        let (text, error) = Self.documents[index]
        let bench = try Bench(KeyFile { Array(text.utf8) })
        #expect(bench.judge(try Self.token()) == "pending")
        #expect(bench.reported == ["https://issuer.example/: \(try #require(error))"])
    }

    @Test func `a key that is not for verifying is left out`() throws {
        for (more, isGood) in [
            ("", true), (#","use":"sig","alg":"ES256","key_ops":["verify"]"#, true), (#","use":"enc""#, false),
            (#","alg":"ES384""#, false), (#","alg":"HS256""#, false), (#","key_ops":["sign"]"#, false),
            (#","use":1"#, false),
        ] {
            let other = IssuerKey.ed25519("other")
            let bench = try Bench(ScriptedSource([try Self.key.jwk(more), try other.jwk()]))
            #expect(bench.judge(try Self.token()) == (isGood ? "test.alice" : TokenError.unknownKey.description))
        }
    }

    @Test func `a null member is as one that is not there`() throws {
        for more in ["alg", "use", "key_ops"] {
            let bench = try Bench(ScriptedSource([try Self.key.jwk(#","\#(more)":null"#)]))
            #expect(bench.judge(try Self.token()) == "test.alice", "\(more)")
        }
        let unnamed = IssuerKey(id: nil, material: Self.key.material)
        #expect(
            try Bench(ScriptedSource([unnamed.jwk(#","kid":null"#)])).judge(try Self.token(unnamed)) == "test.alice")
    }

    /// What issuers make of the numbers of a key.
    static let spellings: [@Sendable (String) -> String] = [
        { $0 + "=" }, { $0 + "==" }, { $0.replacing("-", with: "+").replacing("_", with: "/") },
        { $0.replacing("-", with: "+").replacing("_", with: "/") + "=" },
    ]

    @Test(arguments: spellings.indices) func `numbers that are padded, or in standard base64, are read`(index: Int)
        throws
    {
        for key in [try IssuerKey.rsa("1"), .p256("1"), .ed25519("1")] {
            let jwk = try key.jwk().replacing(#/"(n|e|x|y)":"([^"]+)"/#) {
                #""\#($0.1)":"\#(Self.spellings[index](String($0.2)))""#
            }
            #expect(try Bench(ScriptedSource([jwk])).judge(try Self.token(key)) == "test.alice", "\(jwk)")
        }
    }

    @Test func `the operator hears once of a document which of its keys are not used, and why`() throws {
        let encryption = IssuerKey.p256("enc")
        let source = ScriptedSource([
            try encryption.jwk(#","use":"enc""#), try Self.key.jwk(), #"{"kty":"RSA","kid":"r","n":"?","e":"AQAB"}"#,
        ])
        let bench = try Bench(source)
        let token = try Self.token()
        for _ in 0..<3 {
            #expect(bench.judge(token) == "test.alice")
            bench.pass(.seconds(3_600))
        }
        let said =
            #"https://issuer.example/: key 1 (kid "enc") is not for verifying signatures (use, key_ops); "#
            + #"key 3 (kid "r") has numbers that are missing, malformed, or too short or too long for its kind"#
        #expect(bench.reported == [said] && source.fetches > 1)
        source.publish([try Self.key.jwk()])
        bench.pass(.seconds(3_600))
        #expect(bench.judge(token) == "test.alice" && bench.reported.count == 1)
    }

    /// The points of order 1, 2, 4 and 8, without the sign, in hexadecimal digits: as they are, and as p and p + 1.
    static let smallOrder = [
        String(repeating: "00", count: 32), "01" + String(repeating: "00", count: 31),
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + String(repeating: "ff", count: 30) + "7f", "ed" + String(repeating: "ff", count: 30) + "7f",
        "ee" + String(repeating: "ff", count: 30) + "7f",
    ]

    @Test(arguments: smallOrder, [0, 0x80] as [UInt8])
    func `a signature of zeros is refused, also where an issuer publishes a key of small order`(
        point: String, sign: UInt8
    ) throws {
        let digits = Array(point)
        var bytes = try stride(from: 0, to: 64, by: 2).map { index in
            try #require(UInt8(String(digits[index...(index + 1)]), radix: 16))
        }
        bytes[31] |= sign
        let jwk = #"{"kty":"OKP","crv":"Ed25519","kid":"weak","x":"\#(Base64.url.encode(bytes))"}"#
        let bench = try Bench(ScriptedSource([jwk, try Self.key.jwk()]))
        for number in 0..<16 {
            let made = try Self.key.token(
                ["exp": "900000", "jti": "\(number)"], header: ["alg": #""EdDSA""#, "kid": #""weak""#])
            let end = try #require(made.lastIndex(of: "."))
            let forged = made[...end] + Base64.url.encode([UInt8](repeating: 0, count: 64))
            #expect(bench.judge(String(forged)) == TokenError.unknownKey.description)
        }
    }

    @Test func `short, huge and impossible keys are left out`() throws {
        let good = try IssuerKey.ed25519("other").jwk()
        let huge = String(repeating: "A", count: 1_368)
        for jwk in [
            #"{"kty":"RSA","kid":"1","n":"\#(String(repeating: "x", count: 172))","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"1","n":"_\#(huge)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"1","n":"AQAB"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"1","x":"AA","y":"AA"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"1","x":"\#(String(repeating: "A", count: 43))","y":"\#(String(repeating: "A", count: 43))"}"#,
            #"{"kty":"EC","crv":"secp256k1","kid":"1","x":"AA","y":"AA"}"#,
            #"{"kty":"OKP","crv":"Ed25519","kid":"1","x":"AA"}"#,
        ] {
            let bench = try Bench(ScriptedSource([jwk, good]))
            #expect(bench.judge(try Self.token()) == TokenError.unknownKey.description)
        }
    }

    @Test func `two keys of one id are both tried`() throws {
        let (one, other) = (IssuerKey.p256("1"), IssuerKey.p256("1"))
        let rsa = try IssuerKey.rsa("1")
        let bench = try Bench(ScriptedSource([try one.jwk(), try other.jwk(), try rsa.jwk()]))
        for key in [one, other, rsa] {
            #expect(bench.judge(try Self.token(key)) == "test.alice")
        }
        #expect(bench.judge(try Self.token(Self.key)) == TokenError.badSignature.description)
    }

    @Test func `a token without an id needs an issuer with one key of its kind`() throws {
        let (one, other) = (IssuerKey.p256(nil), IssuerKey.p256(nil))
        let single = try Bench(ScriptedSource([try one.jwk(), try IssuerKey.ed25519(nil).jwk()]))
        #expect(single.judge(try Self.token(one)) == "test.alice")
        let several = try Bench(ScriptedSource([try one.jwk(), try other.jwk()]))
        #expect(several.judge(try Self.token(one)) == TokenError.noKeyID.description)
    }

    @Test func `of a file are read again, for a key that is not in it as well`() throws {
        let content = Lock<String?>(ScriptedSource.set([try Self.key.jwk()]))
        let bench = try Bench(KeyFile { content.withLock { $0.map { Array($0.utf8) } } })
        #expect(bench.judge(try Self.token()) == "test.alice")
        let changed = ScriptedSource.set([try Self.next.jwk()])
        content.withLock { $0 = changed }
        bench.pass(.seconds(11))
        #expect(bench.judge(try Self.token(Self.next)) == "test.alice")
        content.withLock { $0 = nil }
        bench.pass(.seconds(300))
        #expect(bench.judge(try Self.token(Self.next, "bob")) == "test.bob")
        #expect(bench.reported == ["https://issuer.example/: the file cannot be read"])
    }
}
