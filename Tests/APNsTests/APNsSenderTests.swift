// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import Push
import Support
import Testing
import Text

@testable import APNs

private let expired = #"{"reason":"ExpiredProviderToken"}"#

private func issuedAt(_ sent: ScriptedTransports.Sent) throws -> Int? {
    let claims = try #require(sent.token?.split(separator: ".").dropFirst().first)
    return try JSONValue(parsing: #require(Base64.url.decode(claims)))["iat"]?.integer
}

@Suite struct `A sender of APNs` {
    let transports = ScriptedTransports()
    let told = Told()

    private func tokens(_ range: Range<Int>? = nil) -> Set<String?> {
        let sent = transports.sent
        return Set((range.map { Array(sent[$0]) } ?? sent).map(\.token))
    }

    /// A sender whose first connection APNs trusts.
    private func trusted() throws -> APNsSender {
        let sender = transports.sender(key: try TestKey().key())
        told.push(sender, 0..<1)
        transports.sent[0].answer(200)
        return sender
    }

    @Test func `sends the first push alone, and the others when APNs has accepted its token`() throws {
        let sender = transports.sender(key: try TestKey().key())
        told.push(sender, 0..<10)
        #expect(transports.sent.map(\.request.path) == ["/3/device/0"] && transports.made == 1)
        // A refusal of the device is an acceptance of the token.
        transports.sent[0].answer(400, #"{"reason":"BadDeviceToken"}"#)
        #expect(transports.sent.count == 10 && told.statuses == [400])
        told.push(sender, 10..<12)
        #expect(transports.sent.map(\.request.path) == (0..<12).map { "/3/device/\($0)" })
        #expect(transports.made == 1 && tokens().count == 1)
        #expect(transports.sent[0].token?.hasPrefix("bearer ") == true)
        #expect(try issuedAt(transports.sent[0]) == 1_800_000_000)
    }

    @Test func `counts the pushes that wait for the first one, and those that wait for a stream, as unsent`() throws {
        let sender = transports.sender(key: try TestKey().key())
        #expect(sender.unsent == 0)
        told.push(sender, 0..<10)
        #expect(sender.unsent == 9)
        transports.sent[0].answer(200)
        #expect(sender.unsent == 0)
        transports.say(unsent: 3)
        #expect(sender.unsent == 3)
    }

    @Test func `with a client certificate sends no token`() {
        let sender = transports.sender(key: nil)
        told.push(sender, 0..<2)
        transports.sent[0].answer(200)
        sender.renewCredential(refused: transports.instant)
        told.push(sender, 2..<3)
        #expect(transports.sent.map(\.token) == [nil, nil, nil] && transports.made == 1)
    }

    @Test func `takes a new token and connection after 45 to 50 minutes, and lets the former one finish`() throws {
        let sender = try trusted()
        transports.pass(minutes: 44)
        told.push(sender, 1..<3)
        #expect(transports.made == 1)
        transports.pass(minutes: 6)
        told.push(sender, 3..<5)
        #expect(transports.sent.map(\.transport) == [0, 0, 0, 1] && transports.closed == [])
        #expect(tokens(0..<3).count == 1 && tokens().count == 2)
        #expect(try issuedAt(transports.sent[3]) == 1_800_003_000)
        transports.sent[3].answer(200)
        transports.sent[1].answer(200)
        #expect(transports.closed == [])
        transports.sent[2].answer(410)
        #expect(transports.closed == [0] && told.statuses == [200, 200, 200, 410])
        #expect(transports.sent.map(\.transport) == [0, 0, 0, 1, 1])
    }

    @Test func `renews each token at a moment of its own`() throws {
        let now = Moment(date: 0, instant: .now)
        func lifetime() -> Int? {
            let token = ProviderToken(Secret("t"), madeAt: now)
            return (0...3600).first {
                token.isStale(at: Moment(date: Int64($0), instant: now.instant + .seconds($0)))
            }
        }
        let lifetimes = (0..<50).compactMap { _ in lifetime() }
        #expect(lifetimes.count == 50 && Set(lifetimes).count > 10)
        #expect(lifetimes.allSatisfy { (2700...3001).contains($0) })
    }

    @Test(arguments: [3600, -3600, 90, -90, Int64.max - 1_900_000_000])
    func `dates a new token when the clock was set`(_ seconds: Int64) throws {
        let sender = try trusted()
        transports.pass(minutes: 1)
        transports.setClock(by: seconds)
        told.push(sender, 1..<2)
        #expect(transports.made == 2 && transports.closed == [0])
        #expect(try issuedAt(transports.sent[1]) == Int(1_800_000_060 + seconds))
    }

    @Test func `keeps a token while the clock is set a little, or again within a minute`() throws {
        let sender = try trusted()
        transports.setClock(by: 3600)
        told.push(sender, 1..<2)
        #expect(transports.made == 1)
        transports.setClock(by: -3600 + 30)
        transports.pass(minutes: 10)
        told.push(sender, 2..<3)
        #expect(transports.made == 1)
    }

    @Test func `replaces a token that is refused, once however many refusals there are`() throws {
        let sender = try trusted()
        told.push(sender, 1..<4)
        let sentAt = transports.instant
        transports.pass(minutes: 20)
        for number in 1..<4 {
            transports.sent[number].answer(403, expired)
            sender.renewCredential(refused: sentAt)
            sender.reconnect(after: sentAt)
            told.push(sender, 4..<5)
        }
        #expect(transports.made == 2 && transports.closed == [0])
        #expect(tokens().count == 2 && transports.sent.last?.transport == 1)
    }

    @Test func `replaces a refused token also after the connection was given up`() throws {
        let sender = try trusted()
        let sentAt = transports.instant
        transports.pass(minutes: 20)
        sender.reconnect(after: sentAt)
        sender.renewCredential(refused: sentAt)
        told.push(sender, 1..<2)
        #expect(transports.made == 2 && tokens().count == 2)
    }

    @Test func `suspects the clock when a new token is refused, until Apple takes another one`() throws {
        let sender = try trusted()
        transports.pass(minutes: 19)
        sender.renewCredential(refused: transports.instant)
        told.push(sender, 1..<3)
        #expect(
            told.errors.compactMap { $0 as? CredentialError }
                == [CredentialError](repeating: .refused(reason: CredentialFault.clock.rawValue), count: 2))
        #expect(transports.made == 1 && transports.closed == [0])
        transports.pass(minutes: 1)
        told.push(sender, 3..<4)
        #expect(transports.made == 2 && tokens().count == 2)
    }

    @Test func `believes a clock again that was set meanwhile`() throws {
        let sender = try trusted()
        transports.pass(minutes: 2)
        sender.renewCredential(refused: transports.instant)
        transports.setClock(by: -7200)
        told.push(sender, 1..<2)
        #expect(try issuedAt(transports.sent[1]) == 1_799_992_920)
        #expect(told.errors.isEmpty)
    }

    @Test func `keeps its token over a new connection`() throws {
        let sender = try trusted()
        told.push(sender, 1..<3)
        let sentAt = transports.instant
        transports.pass(minutes: 1)
        sender.reconnect(after: sentAt)
        sender.reconnect(after: sentAt)
        told.push(sender, 3..<4)
        sender.reconnect(after: sentAt)
        told.push(sender, 4..<5)
        #expect(transports.sent.map(\.transport) == [0, 0, 0, 1] && tokens().count == 1)
        transports.sent[1].answer(200)
        transports.sent[2].answer(200)
        #expect(transports.closed == [0])
    }

    @Test func `tells those that wait for the first push what APNs says of the token`() throws {
        let sender = transports.sender(key: try TestKey().key())
        told.push(sender, 0..<5)
        transports.sent[0].answer(403, #"{"reason":"InvalidProviderToken"}"#)
        #expect(told.statuses == [403, 403, 403, 403, 403] && transports.sent.count == 1)
        told.push(sender, 5..<7)
        #expect(transports.sent.count == 2)
    }

    @Test func `tells those that wait for the first push that they were not sent`() throws {
        let sender = transports.sender(key: try TestKey().key())
        told.push(sender, 0..<3)
        transports.sent[0].fail(ScriptedTransports.TimedOut(isUnsent: true))
        let errors = told.errors.compactMap { $0 as? any TransportFailure }
        #expect(errors.map(\.isUnsent) == [true, true, true])
        #expect(errors.map(\.kind) == ["timeout", "timeout", "timeout"] && errors.allSatisfy { !$0.isPermanent })
    }

    @Test func `sends one push alone again after a failure, and all when one is answered`() throws {
        let sender = try trusted()
        told.push(sender, 1..<3)
        transports.sent[1].fail(ScriptedTransports.TimedOut(isUnsent: true))
        told.push(sender, 3..<6)
        #expect(transports.sent.count == 4)
        transports.sent[2].answer(200)
        #expect(transports.sent.count == 6 && transports.made == 1)
    }

    @Test func `gives up a connection that answers nothing while a push times out`() throws {
        let sender = try trusted()
        transports.pass(minutes: 1)
        told.push(sender, 1..<3)
        transports.pass(minutes: 1)
        transports.sent[1].fail(ScriptedTransports.TimedOut())
        told.push(sender, 3..<4)
        #expect(transports.sent.map(\.transport) == [0, 0, 0, 1] && tokens().count == 1)
        transports.sent[2].fail(ScriptedTransports.TimedOut())
        #expect(transports.closed == [0])
    }

    @Test func `keeps a connection that answers others while one push times out`() throws {
        let sender = try trusted()
        told.push(sender, 1..<3)
        transports.pass(minutes: 1)
        transports.sent[1].answer(200)
        transports.sent[2].fail(ScriptedTransports.TimedOut())
        told.push(sender, 3..<4)
        #expect(transports.made == 1)
    }

    @Test func `closes a former connection that does not finish in time`() throws {
        let sender = try trusted()
        told.push(sender, 1..<2)
        sender.reconnect(after: transports.instant)
        transports.pass(minutes: 1)
        told.push(sender, 2..<3)
        #expect(transports.closed == [])
        transports.pass(minutes: 1)
        told.push(sender, 3..<4)
        #expect(transports.closed == [0])
        // Closing ends it.
        transports.sent[1].fail(ScriptedTransports.TimedOut())
        #expect(told.count == 2)
    }

    @Test func `keeps few former connections, and opens another when one of them has finished`() throws {
        let sender = try trusted()
        for number in 1..<6 {
            told.push(sender, number..<number + 1)
            transports.pass(minutes: 0)
            sender.reconnect(after: transports.instant)
        }
        // None is cut: what is under way may have been taken.
        #expect(transports.made == 3 && transports.closed == [] && told.count == 1)
        transports.sent[1].answer(200)
        #expect(transports.made == 4 && transports.closed == [0])
        transports.sent[4].answer(200)
        for index in [2, 3, 5] { transports.sent[index].answer(200) }
        #expect(told.statuses == Array(repeating: 200, count: 6))
    }

    @Test func `says when there is no transport, and tries again with the next push`() throws {
        transports.setBroken(true)
        let sender = transports.sender(key: try TestKey().key())
        told.push(sender, 0..<2)
        let errors = told.errors.compactMap { $0 as? any TransportFailure }
        #expect(errors.map(\.kind) == ["unavailable", "unavailable"] && errors.allSatisfy(\.isUnsent))
        transports.setBroken(false)
        told.push(sender, 2..<3)
        #expect(transports.sent.count == 1)
    }

    @Test func `has room for so many that wait`() throws {
        let sender = transports.sender(key: try TestKey().key(), maximumWaiting: 3)
        told.push(sender, 0..<5)
        let errors = told.errors.compactMap { $0 as? any TransportFailure }
        #expect(errors.map(\.kind) == ["overloaded"] && errors.allSatisfy { $0.isUnsent && !$0.isTransient })
        transports.sent[0].answer(200)
        #expect(transports.sent.count == 4)
    }

    @Test func `ends what waits when it is closed`() throws {
        let sender = transports.sender(key: try TestKey().key())
        told.push(sender, 0..<3)
        sender.close()
        #expect(transports.closed == [0] && told.count == 2)
        told.push(sender, 3..<4)
        let errors = told.errors.compactMap { $0 as? any TransportFailure }
        #expect(errors.map(\.kind) == ["cancelled", "cancelled", "cancelled"] && errors.allSatisfy { $0.isUnsent })
        #expect(transports.made == 1)
    }

    @Test func `carries every push once, from many threads, over renewals and failures`() throws {
        let sender = transports.sender(key: try TestKey().key(), maximumWaiting: 10_000)
        let threads = 4
        let each = 500
        let transports = transports
        let told = told
        let work: @Sendable (Int) -> Void = { thread in
            for number in 0..<each {
                told.push(sender, number..<number + 1)
                if number % 50 == 0 { sender.reconnect(after: transports.instant) }
                if thread == 0, number % 100 == 0 { transports.pass(minutes: 51) }
                for sent in transports.takeSent() { sent.answer(number % 7 == 0 ? 410 : 200) }
            }
        }
        let running = (0..<threads).map { thread in Background { work(thread) } }
        for thread in running { try thread.outcome(seconds: 60) }
        repeat {
            for sent in transports.takeSent() { sent.answer(200) }
        } while told.count < threads * each && transports.hasSent
        #expect(told.count == threads * each)
        #expect(
            transports.closed.count >= transports.made - 1 && Set(transports.closed).count == transports.closed.count)
    }
}
