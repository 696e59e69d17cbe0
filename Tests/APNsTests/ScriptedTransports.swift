// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Push
import System
import Testing

@testable import APNs

/// Transports that are answered by the test.
final class ScriptedTransports: Sendable {
    struct Sent: Sendable {
        /// The number of the transport, from 0.
        let transport: Int
        let request: Request
        let completion: @Sendable (Result<Response, any Error>) -> Void

        var token: String? { request.fields[.authorization] }
        func answer(_ status: Int, _ body: String = "") { completion(.success(APNsTests.answer(status, body))) }
        func fail(_ error: any Error) { completion(.failure(error)) }
    }

    struct NotMade: TransportFailure {
        var isTransient: Bool { true }
        var isUnsent: Bool { true }
        var isPermanent: Bool { false }
        var kind: String { "unavailable" }
    }

    struct TimedOut: TransportFailure {
        var isUnsent = false
        var isTransient: Bool { false }
        var isPermanent: Bool { false }
        var kind: String { "timeout" }
    }

    struct Refused: TransportFailure {
        var isTransient: Bool { true }
        var isUnsent: Bool { true }
        var isPermanent: Bool { false }
        var kind: String { "refused" }
    }

    private struct State {
        var made = 0
        var closed: [Int] = []
        var sent: [Sent] = []
        /// How many of those `takeSent()` has given out.
        var taken = 0
        var date: Int64 = 1_800_000_000
        var instant = ContinuousClock.now
        var isBroken = false
        var unsent = 0
    }

    private struct Carrier: RequestSender {
        let number: Int
        let owner: ScriptedTransports

        var unsent: Int { owner.state.withLock { $0.unsent } }

        func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
            owner.state.withLock {
                $0.sent.append(Sent(transport: number, request: request, completion: completion))
            }
        }
    }

    private let state = Lock(State())

    var made: Int { state.withLock { $0.made } }
    var closed: [Int] { state.withLock { $0.closed } }
    /// The pushes that were handed to a transport, those of all transports in their order.
    var sent: [Sent] { state.withLock { $0.sent } }
    var hasSent: Bool { state.withLock { $0.taken < $0.sent.count } }
    var date: Int64 { state.withLock { $0.date } }
    var instant: ContinuousClock.Instant { state.withLock { $0.instant } }

    func sender(key: APNsKey?, maximumWaiting: Int = 100) -> APNsSender {
        APNsSender(key: key, maximumWaiting: maximumWaiting, now: { self.date }, instant: { self.instant }) {
            try self.make()
        }
    }

    /// Both clocks go on.
    func pass(minutes: Int) {
        state.withLock {
            $0.date += Int64(60 * minutes)
            $0.instant += .seconds(60 * minutes)
        }
    }

    /// Sets the clock, as an operator may.
    func setClock(by seconds: Int64) { state.withLock { $0.date += seconds } }

    /// The pushes that were sent since the last time.
    func takeSent() -> [Sent] {
        state.withLock { state in
            defer { state.taken = state.sent.count }
            return Array(state.sent[state.taken...])
        }
    }

    /// How many of its requests wait in each transport.
    func say(unsent: Int) { state.withLock { $0.unsent = unsent } }

    func setBroken(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

    private func make() throws -> APNsTransport {
        let number: Int? = state.withLock { state in
            guard !state.isBroken else { return nil }
            state.made += 1
            return state.made - 1
        }
        guard let number else { throw NotMade() }
        return APNsTransport(Carrier(number: number, owner: self)) {
            self.state.withLock { $0.closed.append(number) }
        }
    }
}

/// The results that the caller of the sender gets, in the order in which it gets them.
final class Told: Sendable {
    private let results = Lock<[(number: Int, result: Result<Response, any Error>)]>([])

    var count: Int { results.withLock { $0.count } }
    var statuses: [Int?] { results.withLock { $0.map { try? $0.result.get().status.code } } }
    var errors: [any Error] {
        results.withLock { results in
            results.compactMap { if case .failure(let error) = $0.result { error } else { nil } }
        }
    }

    func push(_ sender: APNsSender, _ numbers: Range<Int>) {
        for number in numbers {
            sender.send(Request(method: .post, path: "/3/device/\(number)")) { [self] result in
                results.withLock { $0.append((number, result)) }
            }
        }
    }
}
