// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Push
import Testing

import class System.Lock

/// A source with one request, as a client's credentials have it.
private struct PlainSource: TokenSource {
    func fetch(
        by sender: any RequestSender, _ completion: @escaping @Sendable (Result<AccessToken, CredentialError>) -> Void
    ) {
        guard let url = ServiceURL("https://tokens.example/token") else { return completion(.failure(.unavailable)) }
        let endpoint = TokenEndpoint(url)
        sender.send(endpoint.request(["grant_type": "client_credentials"])) { completion(endpoint.token(in: $0)) }
    }
}

private final class Bench: Sendable {
    let tokens = ScriptedSender()
    let pushes = ScriptedSender()
    let clock = Lock(ContinuousClock.now)
    let results = Lock<[Result<Int, CredentialError>]>([])
    let sender: BearerSender

    init(jitter: Duration = .zero) {
        sender = BearerSender(
            source: PlainSource(), tokens: tokens, pushes: pushes, now: { [clock] in clock.withLock(\.self) },
            jitter: { jitter })
    }

    var now: ContinuousClock.Instant { clock.withLock(\.self) }
    var errors: [CredentialError] {
        results.withLock { $0 }.compactMap { if case .failure(let e) = $0 { e } else { nil } }
    }

    func pass(_ seconds: Int, milliseconds: Int = 0) {
        clock.withLock { $0 += .seconds(seconds) + .milliseconds(milliseconds) }
    }

    func push(_ path: String = "/") {
        sender.send(Request(method: .post, path: path)) { [results] result in
            let result = result.map(\.status.code).mapError { $0 as? CredentialError ?? .refused(reason: "foreign") }
            results.withLock { $0.append(result) }
        }
    }

    func giveToken(_ text: String, seconds: Int = 3600) {
        #expect(tokens.answer(200, #"{"access_token":"\#(text)","expires_in":\#(seconds),"token_type":"Bearer"}"#))
    }
}

@Suite struct `A sender with access tokens` {
    @Test func `fetches one token for all pushes that wait for it, and sends each once`() {
        let bench = Bench()
        for number in 0..<5 { bench.push("/\(number)") }
        #expect(bench.tokens.requests.count == 1 && bench.pushes.requests.isEmpty)
        #expect(bench.sender.unsent == 5)
        bench.giveToken("first")
        #expect(bench.sender.unsent == 0)
        #expect(bench.pushes.requests.map(\.path) == ["/0", "/1", "/2", "/3", "/4"])
        #expect(bench.pushes.authorizations == Array(repeating: "Bearer first", count: 5))
        bench.push("/5")
        #expect(bench.tokens.requests.count == 1 && bench.pushes.requests.count == 6)
        while bench.pushes.answer(201) {}
        #expect(bench.results.withLock { $0.count } == 6 && bench.errors.isEmpty)
    }

    @Test func `refuses more pushes than may wait, and loses none of the others`() {
        let bench = Bench()
        for _ in 0..<BearerSender.maximumWaiting { bench.push() }
        #expect(bench.errors.isEmpty)
        bench.push()
        #expect(bench.errors == [.unavailable])
        bench.giveToken("first")
        #expect(bench.pushes.requests.count == BearerSender.maximumWaiting)
    }

    @Test func `renews five minutes before the end while the old token still serves`() {
        let bench = Bench()
        bench.push()
        bench.giveToken("old")
        bench.pass(3299)
        bench.push()
        #expect(bench.tokens.requests.count == 1)
        bench.pass(1)
        bench.push()
        bench.push()
        #expect(bench.tokens.requests.count == 2)
        #expect(bench.pushes.authorizations == Array(repeating: "Bearer old", count: 4))
        bench.giveToken("new")
        bench.push()
        #expect(bench.pushes.authorizations.last == "Bearer new")
        #expect(bench.tokens.requests.count == 2)
    }

    @Test func `renews earlier by its jitter, so that processes do not ask at once`() {
        let bench = Bench(jitter: .seconds(40))
        bench.push()
        bench.giveToken("old")
        bench.pass(3259)
        bench.push()
        #expect(bench.tokens.requests.count == 1)
        bench.pass(1)
        bench.push()
        #expect(bench.tokens.requests.count == 2)
    }

    @Test func `keeps a short-lived token for half of its life`() {
        let bench = Bench()
        bench.push()
        bench.giveToken("short", seconds: 100)
        bench.pass(49)
        bench.push()
        #expect(bench.tokens.requests.count == 1)
        bench.pass(1)
        bench.push()
        #expect(bench.tokens.requests.count == 2)
    }

    @Test func `does not send a token that is about to end`() {
        let bench = Bench()
        bench.push()
        bench.giveToken("old")
        bench.pass(3570)
        bench.push()
        #expect(bench.pushes.requests.count == 1)
        bench.giveToken("new")
        #expect(bench.pushes.authorizations == ["Bearer old", "Bearer new"])
    }

    @Test func `goes on with the old token when its renewal fails`() {
        let bench = Bench()
        bench.push()
        bench.giveToken("old")
        bench.pass(3400)
        bench.push()
        bench.tokens.answer(503)
        bench.push()
        #expect(bench.pushes.authorizations.count == 3 && bench.errors.isEmpty)
    }

    @Test func `asks again after 1, 2, 4 and so on to 60 seconds, and not in between`() {
        let bench = Bench()
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            let asked = bench.tokens.requests.count
            bench.push()
            bench.push()
            #expect(bench.tokens.requests.count == asked + 1)
            bench.tokens.answer(.failure(Unreachable()))
            bench.pass(pause - 1, milliseconds: 999)
            bench.push()
            #expect(bench.tokens.requests.count == asked + 1)
            bench.pass(0, milliseconds: 1)
        }
        let error = CredentialError.unanswered(reason: "the token service does not answer (failed)")
        #expect(bench.errors == Array(repeating: error, count: 24))
        bench.push()
        bench.giveToken("first")
        #expect(bench.pushes.requests.count == 1)
    }

    @Test func `tells every push of a pause why the credential is refused`() {
        let bench = Bench()
        bench.push()
        bench.tokens.answer(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#)
        bench.push()
        let reason = "the token service refuses the credential: invalid_grant: Invalid JWT Signature."
        #expect(bench.errors == [.refused(reason: reason), .refused(reason: reason)])
        #expect(bench.tokens.requests.count == 1)
    }

    @Test func `fetches one new token however many pushes were refused`() {
        let bench = Bench()
        bench.push()
        bench.giveToken("old")
        bench.pass(10)
        let sent = bench.now
        bench.pass(1)
        for _ in 0..<3 { bench.sender.renewCredential(refused: sent) }
        bench.push()
        bench.push()
        #expect(bench.tokens.requests.count == 2)
        bench.giveToken("new")
        // A refusal of the old one that comes late.
        bench.sender.renewCredential(refused: sent)
        bench.push()
        #expect(bench.pushes.authorizations == ["Bearer old", "Bearer new", "Bearer new", "Bearer new"])
        #expect(bench.tokens.requests.count == 2)
    }

    @Test func `renews a token that is refused at its first use, by a push that waited for it`() {
        let bench = Bench()
        let sent = bench.now
        bench.pass(0, milliseconds: 1)
        bench.push()
        bench.giveToken("bad")
        bench.pushes.answer(401)
        bench.sender.renewCredential(refused: sent)
        bench.push()
        bench.giveToken("good")
        #expect(bench.pushes.authorizations == ["Bearer bad", "Bearer good"])
        // A late refusal of the first one.
        bench.sender.renewCredential(refused: sent)
        bench.push()
        #expect(bench.tokens.requests.count == 2)
    }

    @Test func `does not fetch one token after the other for a service that refuses each of them`() {
        let bench = Bench()
        func refuse(_ token: String) {
            bench.push()
            bench.giveToken(token)
            bench.sender.renewCredential(refused: bench.now)
        }
        refuse("one")
        refuse("two")
        bench.push()
        #expect(bench.tokens.requests.count == 2 && bench.errors == [.unavailable])
        bench.pass(1)
        refuse("three")
        bench.pass(1)
        bench.push()
        #expect(bench.tokens.requests.count == 3)
        bench.pass(1)
        bench.push()
        #expect(bench.tokens.requests.count == 4)
    }
}
