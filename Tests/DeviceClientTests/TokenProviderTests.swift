// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import Synchronization
import Testing

/// Tokens that come from elsewhere and end while an app runs.
struct TokenProviderTests {
    /// An identity provider's SDK, which is asked for tokens and whether to make a new one.
    private final class Tokens: Sendable {
        private let state = Mutex<(made: Int, asked: [Bool])>((1, []))

        var asked: [Bool] { state.withLock(\.asked) }

        func next(_ isRefused: Bool) -> String {
            state.withLock { state in
                if isRefused { state.made += 1 }
                state.asked.append(isRefused)
                return "token-\(state.made)"
            }
        }
    }

    private struct LeakyError: Error {
        let token = "SECRET"
    }

    private static func client(
        _ transport: ScriptedTransport, _ provider: @escaping Credentials.TokenProvider
    ) throws -> NotificationClient {
        NotificationClient(
            endpoint: try Endpoint("https://push.example.com"), credentials: Credentials(provider: provider),
            transport: transport)
    }

    private static func fields(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.fields[.authorization] }
    }

    @Test func `each call shows the token of its time`() async throws {
        let (transport, tokens) = (ScriptedTransport(.body("[]"), .body("[]")), Tokens())
        let client = try Self.client(transport) { tokens.next($0) }
        for _ in 0..<2 { _ = try await client.secureMessages() }
        #expect(Self.fields(transport) == ["Bearer token-1", "Bearer token-1"])
        #expect(tokens.asked == [false, false])
    }

    @Test func `a token that was refused is replaced once, and the same request made again`() async throws {
        let outcome = Response.body(#"{"Outcomes":[]}"#)
        let (transport, tokens) = (ScriptedTransport(.problem(.wrongCredentials), outcome), Tokens())
        let client = try Self.client(transport) { tokens.next($0) }
        _ = try await client.send("a", to: "bob", on: .apns, key: IdempotencyKey("k"))
        #expect(Self.fields(transport) == ["Bearer token-1", "Bearer token-2"])
        #expect(transport.requests.map(\.body) == [[UInt8](#""a""#.utf8), [UInt8](#""a""#.utf8)])
        #expect(transport.requests.map { $0.fields[.idempotencyKey] } == [#""k""#, #""k""#])
        #expect(tokens.asked == [false, true])
    }

    @Test func `a fresh token that is refused, too, is an error`() async throws {
        let (transport, tokens) = (
            ScriptedTransport(.problem(.wrongCredentials), .problem(.wrongCredentials)), Tokens()
        )
        let client = try Self.client(transport) { tokens.next($0) }
        await #expect(throws: DeviceClientError.unauthorized(Problem(.wrongCredentials, "No."))) {
            try await client.send("a", to: "bob", on: DevicePlatform.allCases)
        }
        #expect(tokens.asked == [false, true])
    }

    @Test(arguments: [ProblemCode.scopeMissing, .storeBusy, .noSuchMessage])
    func `no other refusal asks for a fresh token`(code: ProblemCode) async throws {
        let (transport, tokens) = (ScriptedTransport(.problem(code)), Tokens())
        let client = try Self.client(transport) { tokens.next($0) }
        await #expect(throws: DeviceClientError.self) { try await client.inbox() }
        #expect(tokens.asked == [false])
    }

    @Test func `a token that stays the same is not shown twice`() async throws {
        let transport = ScriptedTransport(.problem(.wrongCredentials))
        let client = NotificationClient(
            endpoint: try Endpoint("https://push.example.com"), credentials: try Credentials(token: "abt_1"),
            transport: transport)
        await #expect(throws: DeviceClientError.unauthorized(Problem(.wrongCredentials, "No."))) {
            try await client.inbox()
        }
        #expect(transport.requests.count == 1)
    }

    @Test func `an error of the provider tells its type and not its text, and ends a send to all platforms`()
        async throws
    {
        let transport = ScriptedTransport()
        let client = try Self.client(transport) { _ in throw LeakyError() }
        await #expect(throws: DeviceClientError.noToken(reason: "LeakyError")) {
            try await client.send("a", to: "bob", on: DevicePlatform.allCases)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func `a text that is no token is not sent, and a cancelled provider is a cancelled call`() async throws {
        let transport = ScriptedTransport()
        let malformed = try Self.client(transport) { _ in "a\r\nX-Other: b" }
        let reason = "What the provider gave is not a token."
        await #expect(throws: DeviceClientError.noToken(reason: reason)) { try await malformed.inbox() }
        let cancelled = try Self.client(transport) { _ in throw CancellationError() }
        await #expect(throws: DeviceClientError.cancelled) { try await cancelled.inbox() }
        #expect(transport.requests.isEmpty)
    }
}
