// SPDX-License-Identifier: Apache-2.0
import JWT
import Testing

@Suite struct `Tokens that were verified` {
    private static let key = IssuerKey.p256("1")

    @Test func `are remembered until their end`() throws {
        let bench = try Bench(ScriptedSource([try Self.key.jwk()]))
        let token = try Self.key.token(["exp": "1100"])
        #expect(bench.judge(token) == "test.alice")
        bench.setTime(1_159)
        #expect(bench.judge(token) == "test.alice")
        bench.setTime(1_160)
        #expect(bench.judge(token) == TokenError.expired.description)
    }

    @Test func `a clock that is set back makes no token live longer`() throws {
        let bench = try Bench(ScriptedSource([try Self.key.jwk()]))
        let token = try Self.key.token(["iat": "1000"])
        #expect(bench.judge(token) == "test.alice")
        bench.setTime(500)
        #expect(bench.judge(token) == TokenError.notYetValid.description)
    }

    @Test func `a remembered token is no longer good when one letter of it differs`() throws {
        let bench = try Bench(ScriptedSource([try Self.key.jwk()]))
        let token = try Self.key.token()
        #expect(bench.judge(token) == "test.alice")
        let last = token.last == "A" ? "B" : "A"
        #expect(bench.judge(token.dropLast() + last) != "test.alice")
    }
}
