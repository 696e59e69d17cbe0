// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Support
import Testing

@testable import AppBackend

struct SessionCookieTests {
    private static let value = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    private static let pair = "__Host-app_backend=" + value

    private func token(_ cookies: String...) -> String? {
        let fields = HTTPFields(cookies.map { HTTPField(name: .cookie, value: $0) })
        return SessionCookie.token(in: fields)?.text.reveal()
    }

    @Test(arguments: [
        pair, "a=1; \(pair)", "\(pair); a=1", "a=1;\(pair);b=2", "  \(pair)\t", "a; =b; ; \(pair);", "a=\"; \(pair)",
        "__Host-app_backend2=x; \(pair)", "x__Host-app_backend=y; \(pair)", "__host-app_backend=z; \(pair)",
        "a=\(pair); \(pair)", "__Host-app_backend; \(pair)",
    ])
    func `ours is found among others`(field: String) {
        #expect(token(field) == Self.value)
    }

    private static let start = "__Host-app_backend=" + value.dropLast()

    static let others: [String] = [
        "", ";", "a=1", value, "\(pair)x", String(pair.dropLast()), "__Host-app_backend=",
        "__Host-app_backend = \(value)",
        "__Host-app_backend=\"\(value)\"", "__HOST-APP_BACKEND=\(value)", "\(pair)=", "\(pair), \(pair)",
        // Twice, whether the same or not, whether a token or not.
        "\(pair); \(pair)", "\(pair); __Host-app_backend=", "__Host-app_backend=x;\(pair)",
        // The alphabet, and bits that are left over.
        "\(start)9", "\(start)=", "\(start)+", "\(start)é",
        "\(pair); a=" + String(repeating: "x", count: SessionCookie.maximumFieldBytes),
    ]

    @Test(arguments: others)
    func `anything else is no token`(field: String) {
        #expect(token(field) == nil)
    }

    @Test func `cookies may come in several fields, and ours in one of them`() {
        #expect(token("a=1", Self.pair, "b=2") == Self.value)
        #expect(token(Self.pair, Self.pair) == nil)
        #expect(token() == nil)
    }

    @Test func `its attributes keep it in the browser and on this host`() throws {
        let token = try #require(SessionToken(Self.value))
        #expect(
            SessionCookie.set(token, maximumAge: 60)
                == Self.pair + "; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Strict")
        #expect(
            SessionCookie.clear == "__Host-app_backend=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict")
    }

    @Test func `no mutation of a field ends the process or yields another token`() {
        var random = SeededRandom(seed: 11)
        let good = Array("a=1; \(Self.pair); b=\"2\"".utf8)
        var found = 0
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.insert(contentsOf: good.dropFirst(index).prefix(40), at: index)
                default: bytes.remove(at: index)
                }
            }
            let field = String(decoding: bytes, as: UTF8.self)
            guard let token = token(field) else { continue }
            found += 1
            #expect(token.utf8.count == 43 && field.contains("__Host-app_backend=" + token))
        }
        #expect(found > 1_000)
    }
}

struct SessionTokenTests {
    @Test func `tokens differ, and are their own canonical text`() {
        let texts = (0..<100).map { _ in SessionToken.random().text.reveal() }
        #expect(Set(texts).count == 100)
        for text in texts { #expect(SessionToken(text)?.text.reveal() == text) }
    }

    @Test func `the store's name of a session is the SHA-256 of the cookie's value`() throws {
        // sha256sum of these 43 characters.
        let token = try #require(SessionToken("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"))
        #expect(token.id == "ea866a757e4c38babfa8127cbe9a409d3e1f93a00ff1488ff735fcf917afffd0")
    }

    @Test func `a binding fits one token, one owner and one version of the credentials`() throws {
        let (token, other) = (SessionToken.random(), SessionToken.random())
        func account(_ owner: String, _ credentialVersion: String) -> Account {
            Account(Principal(name: "alice", owner: owner), credentialVersion: credentialVersion)
        }
        let binding = token.binding(account("alice", "$y$1"))
        #expect(token.binding(account("alice", "$y$1")) == binding)
        for stranger in [
            other.binding(account("alice", "$y$1")), token.binding(account("alice:1", "$y$1")),
            token.binding(account("alice", "$y$2")), token.binding(account("alice", "")),
        ] { #expect(stranger != binding) }
    }

    @Test func `a token never prints itself`() {
        let token = SessionToken.random()
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains(token.text.reveal())) }
    }
}
