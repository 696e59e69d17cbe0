// SPDX-License-Identifier: Apache-2.0
import Crypto
import JSON
import Support
import Testing
import Text

import class System.Lock

@testable import WebPush

/// A clock that the test sets.
final class TestClock: Sendable {
    private let seconds: Lock<Int64>

    init(_ seconds: Int64) { self.seconds = Lock(seconds) }

    var now: Int64 {
        get { seconds.withLock { $0 } }
        set { seconds.withLock { $0 = newValue } }
    }
}

/// What a push service reads out of `Authorization`.
private struct Credentials {
    let token: String
    let publicKey: String
    let header: JSONValue
    let claims: JSONValue
    let isSigned: Bool

    init(_ field: String) throws {
        let scheme = "vapid "
        try #require(field.hasPrefix(scheme))
        var parameters: [String: String] = [:]
        for parameter in field.dropFirst(scheme.count).split(separator: ",") {
            let halves = parameter.split(separator: "=", maxSplits: 1)
            try #require(halves.count == 2)
            let name = halves[0].trimmingPrefix(" ")
            parameters[String(name)] = String(halves[1])
        }
        token = try #require(parameters["t"])
        publicKey = try #require(parameters["k"])
        let parts = token.split(separator: ".")
        try #require(parts.count == 3)
        let headerBytes = try #require(Base64.url.decode(parts[0]))
        let claimBytes = try #require(Base64.url.decode(parts[1]))
        let signatureBytes = try #require(Base64.url.decode(parts[2]))
        let point = try #require(Base64.url.decode(publicKey))
        header = try JSONValue(parsing: headerBytes)
        claims = try JSONValue(parsing: claimBytes)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: signatureBytes)
        isSigned = try P256.Signing.PublicKey(x963Representation: point)
            .isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
    }
}

private func authorization(_ clock: TestClock, key: VAPIDKey = VAPIDKey()) throws -> VAPIDAuthorization {
    VAPIDAuthorization(key: key, subject: try VAPIDSubject("mailto:push@example.com"), now: { clock.now })
}

@Suite struct `The sender, as a push service sees it` {
    @Test func `these tests read the example of RFC 8292`() throws {
        let example = try Credentials(
            "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
        )
        #expect(example.isSigned)
        #expect(example.claims["exp"]?.integer == 1_453_523_768)
    }

    @Test func `has the form of that example, all but the signature`() throws {
        let clock = TestClock(1_453_523_768 - VAPIDAuthorization.lifetime)
        let field = try authorization(clock).field(for: "https://push.example.net").reveal()
        #expect(
            field.hasPrefix(
                "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0."
            ))
    }

    @Test func `is signed, made out to one origin for twelve hours, and has one blank`() throws {
        let clock = TestClock(1_800_000_000)
        let key = VAPIDKey()
        let field = try authorization(clock, key: key).field(for: "https://localhost:9446").reveal()
        let credentials = try Credentials(field)
        #expect(credentials.isSigned)
        #expect(credentials.publicKey == key.publicKey && key.publicKey.count == 87)
        #expect(credentials.header["typ"]?.string == "JWT" && credentials.header["alg"]?.string == "ES256")
        #expect(credentials.claims["aud"]?.string == "https://localhost:9446")
        #expect(credentials.claims["exp"]?.integer == 1_800_000_000 + 12 * 3600)
        #expect(credentials.claims["sub"]?.string == "mailto:push@example.com")
        #expect(field.count { $0 == " " } == 1)
    }

    @Test func `is kept per origin until an hour before its end`() throws {
        let clock = TestClock(1_800_000_000)
        let authorization = try authorization(clock)
        let first = try authorization.field(for: "https://a.example")
        let other = try authorization.field(for: "https://b.example")
        #expect(first != other)
        clock.now += VAPIDAuthorization.lifetime - VAPIDAuthorization.renewal - 1
        #expect(try authorization.field(for: "https://a.example") == first)
        clock.now += 1
        let second = try authorization.field(for: "https://a.example")
        #expect(second != first)
        #expect(try Credentials(second.reveal()).claims["exp"]?.integer == Int(clock.now) + 12 * 3600)
    }

    @Test func `is made again when the clock was set back`() throws {
        let clock = TestClock(1_800_000_000)
        let authorization = try authorization(clock)
        _ = try authorization.field(for: "https://a.example")
        clock.now -= 3 * 86_400
        let field = try authorization.field(for: "https://a.example")
        #expect(try Credentials(field.reveal()).claims["exp"]?.integer == Int(clock.now) + 12 * 3600)
    }

    @Test func `is no trap at the end of time`() throws {
        for now in [Int64.max, Int64.min] {
            let field = try authorization(TestClock(now)).field(for: "https://a.example")
            #expect(try Credentials(field.reveal()).isSigned)
        }
    }

    @Test func `is forgotten, the oldest first, when there are too many`() throws {
        let clock = TestClock(1_800_000_000)
        let authorization = try authorization(clock)
        let oldest = try authorization.field(for: "https://oldest.example")
        clock.now += 1
        var fields: [String: Secret] = [:]
        for number in 1..<VAPIDAuthorization.capacity {
            fields["https://\(number).example"] = try authorization.field(for: "https://\(number).example")
        }
        #expect(try authorization.field(for: "https://oldest.example") == oldest)
        _ = try authorization.field(for: "https://one-too-many.example")
        for (origin, field) in fields {
            #expect(try authorization.field(for: origin) == field)
        }
        // ECDSA signs with a random number: a new token is another text.
        #expect(try authorization.field(for: "https://oldest.example") != oldest)
    }

    @Test func `is one and the same for all who ask at once`() async throws {
        let authorization = try authorization(TestClock(1_800_000_000))
        let fields = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<64 { group.addTask { try authorization.field(for: "https://a.example").reveal() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(fields.count == 1)
    }
}

@Suite struct `An application server's key` {
    @Test func `is the same after it was written down`() throws {
        let key = VAPIDKey()
        let again = try VAPIDKey(key.secret)
        #expect(again.publicKey == key.publicKey && again.secret == key.secret)
        #expect(VAPIDKey().publicKey != key.publicKey)
    }

    @Test func `has the public key that other tools compute`() throws {
        let key = try VAPIDKey(Secret("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
        #expect(
            key.publicKey == "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
    }

    @Test(arguments: [
        "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw=", "yfWPiYE+n46HLnH0KqZOF1fJJU3MYrct3AELtAQ+oRw",
        "yfWPiYE+n46HLnH0KqZOF1fJJU3MYrct3AELtAQ+oRw=",
    ])
    func `is taken in either alphabet and padded, as other tools write it`(text: String) throws {
        #expect(try VAPIDKey(Secret(text)).secret.reveal() == "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    }

    @Test func `has a public key that is taken in either alphabet, and shown to pages in one`() {
        let key = VAPIDKey()
        let bytes = Base64.url.decode(key.publicKey) ?? []
        for text in [key.publicKey, key.publicKey + "=", Base64.standard.encode(bytes)] {
            #expect(VAPIDKey.publicKey(text) == key.publicKey)
        }
        #expect(VAPIDKey.publicKey("BAAA") == nil && VAPIDKey.publicKey("") == nil)
    }

    @Test(arguments: [
        "", "secret", "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oR", "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw==",
        " yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
        // Zero, and the order of the curve.
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE",
    ])
    func `is not made of anything else, and the complaint does not repeat it`(text: String) {
        #expect {
            try VAPIDKey(Secret(text))
        } throws: { error in
            error is VAPIDKey.Malformed && (text.isEmpty || !"\(error)".contains(text))
        }
    }

    @Test func `prints as stars`() throws {
        let key = VAPIDKey()
        var dumped = ""
        dump([key], to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\([key])", dumped] {
            #expect(text.contains("***") && !text.contains(key.secret.reveal()) && !text.contains("P256"))
        }
    }
}

@Suite struct `A subject` {
    @Test(arguments: [
        "mailto:push@example.com", "MAILTO:a.b+c@mail.example.com", "https://example.com",
        "https://example.com/contact",
        "https://example.com:8443/?a=b", "mailto:push@example.com?subject=Push",
    ])
    func `is an address or a page`(text: String) throws {
        #expect(try VAPIDSubject(text).description == text)
    }

    @Test(arguments: [
        "", "push@example.com", "mailto:", "mailto:push", "mailto:@example.com", "mailto:push@",
        "mailto:push@local host",
        "mailto:<push@example.com>", "http://example.com", "https://", "https:///x", "tel:123", "mailto:push@localhost",
        "https://localhost/", "https://127.0.0.1/", "https://[::1]/", "mailto:push@a.localhost", "mailto:a@b@",
        "mailto:push@example.com\n", "mailto:\(String(repeating: "a", count: 256))@example.com",
    ])
    func `is nothing else, and no push service's 403 later`(text: String) {
        #expect(throws: VAPIDSubject.Malformed.self) { try VAPIDSubject(text) }
    }

    /// What is refused, and a word of the reason.
    private static let unreachable: [(hosts: [String], word: String)] = [
        (
            [
                "host.local", "a.invalid", "a.test", "a.example", "example", "a.localhost", "router.lan", "a.internal",
                "a.home.arpa", "a.onion", "a.alt", "localhost.localdomain", "A.LOCAL", "a.intranet", "a.corp",
                "a.private", "a.home",
            ], "private network"
        ),
        (["host", "example.com.", "a..example.com", ".example.com"], "domain"),
        (["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.1.1", "203.0.113.7", "[fd00::1]", "2130706433"], "address"),
    ]

    @Test(arguments: unreachable)
    func `is at a host of the public DNS`(row: (hosts: [String], word: String)) {
        for text in row.hosts.flatMap({ ["mailto:push@\($0)", "https://\($0)/contact"] }) {
            #expect(throws: VAPIDSubject.Malformed.self) { try VAPIDSubject(text) }
            #expect { try VAPIDSubject(text) } throws: { "\($0)".contains(row.word) }
        }
    }

    @Test(arguments: [
        ("mailto:mailto:push@example.com", "twice"), ("mailto:a@@example.com", "one @"),
        ("mailto:a@b@example.com", "one @"), ("mailto:a@example.com,b@example.com", "one mail address"),
        ("mailto:a@example.com;b@example.com", "one mail address"), ("mailto:a..b@example.com", "a dot too many"),
        ("mailto:a@example.com:25", "must be mailto:"), ("https://https://example.com", "must be mailto:"),
    ])
    func `is one address, written once`(text: String, word: String) {
        #expect { try VAPIDSubject(text) } throws: { "\($0)".contains(word) }
    }
}
