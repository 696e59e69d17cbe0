// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Support
import System
import Testing

/// Several messages that go to the hub at the same time.
@Suite struct TogetherTests {
    /// Keeps what it is asked until the test answers, in whatever order.
    private final class HeldSender: RequestSender {
        typealias Completion = @Sendable (Result<Response, any Error>) -> Void

        private let held = Lock<[(Request, Completion)]>([])
        private let arrived = Semaphore()

        func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
            held.withLock { $0.append((request, completion)) }
            arrived.signal()
        }

        /// Waits until so many requests are under way.
        func requests(_ count: Int) throws -> [(request: Request, answer: Completion)] {
            for _ in 0..<count { try #require(arrived.wait(for: .seconds(240))) }
            return held.withLock(\.self).map { (request: $0.0, answer: $0.1) }
        }
    }

    private struct Unsent: TransportFailure {
        let isTransient = true
        let isUnsent = true
        let isPermanent = false
    }

    private let sender = HeldSender()
    private let messages = [
        AddressedNotification(.apns(json: Array("{}".utf8)), to: nil), AddressedNotification(.wnsRaw([1]), to: nil),
        AddressedNotification(.browser(json: Array("{}".utf8)), to: nil),
    ]

    private func client(timeout: Duration = .seconds(240)) throws -> HubClient {
        HubClient(
            connection: try ConnectionString(Sample.connection), hub: "MyHub", transport: ScriptedHub([]),
            together: (sender, timeout), now: { 1000 }, makeTrackingID: { "tracking-1" })
    }

    private func receipt(_ id: String) -> Result<Response, any Error> {
        .success(Response(status: .created, fields: [.location: "https://x/MyHub/messages/\(id)?api-version=2020-06"]))
    }

    @Test func `all are under way before the first is answered, and each has its own answer`() throws {
        let client = try client()
        let sending = Background { [messages] in client.tracking("mine").send(messages) }
        let requests = try sender.requests(3)
        let formats = requests.map { $0.request.fields[.format] }
        #expect(formats == ["apple", "windows", "browser"])
        #expect(requests.allSatisfy { $0.request.fields[.trackingID] == "mine" && $0.request.method == .post })
        requests[2].answer(receipt("c"))
        requests[0].answer(receipt("a"))
        requests[1].answer(.success(Response(status: .contentTooLarge)))
        let results = try sending.outcome(seconds: 240)
        #expect(try results[0].get().notificationID == "a")
        #expect(results[1] == .failure(.payloadTooLarge))
        #expect(try results[2].get().notificationID == "c")
    }

    @Test func `one that cannot be sent does not stop the others`() throws {
        let client = try client()
        let tooLong = AddressedNotification(.wnsRaw([UInt8](repeating: 0, count: 6_000)), to: nil)
        let sending = Background { [messages] in client.send([tooLong] + messages) }
        let requests = try sender.requests(3)
        requests[0].answer(.failure(Unsent()))
        for request in requests.dropFirst() { request.answer(receipt("x")) }
        let results = try sending.outcome(seconds: 240)
        #expect(results[0] == .failure(.payloadTooLarge))
        guard case .failure(.unreachable(_, mayHaveActed: false)) = results[1] else {
            Issue.record("not unreachable: \(results[1])")
            return
        }
        #expect(try results[2...].allSatisfy { try $0.get().notificationID == "x" })
    }

    @Test func `a transport that keeps an answer back holds nothing for longer than its deadline`() throws {
        // No answer ever comes.
        let results = try client(timeout: .zero).send(messages)
        #expect(results.count == 3)
        for result in results {
            guard case .failure(.unreachable(_, mayHaveActed: true)) = result else {
                Issue.record("not unreachable: \(result)")
                return
            }
        }
        // What comes later harms nothing.
        for request in try sender.requests(3) { request.answer(receipt("late")) }
    }

    @Test func `where one call at a time is carried, a hub out of reach is asked once`() throws {
        let hub = ScriptedHub([])
        let results = try ClientTests.client(hub).send(messages)
        #expect(hub.requests.count == 1)
        #expect(
            results.count == 3 && results.allSatisfy { if case .failure(.unreachable) = $0 { true } else { false } })
    }
}
