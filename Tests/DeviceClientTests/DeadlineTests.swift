// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import HTTP
import Synchronization
import Testing

/// A secure message for a caller whom the system gives little time.
struct DeadlineTests {
    /// Answers when it is let go, and heeds no cancellation.
    private final class StubbornTransport: DeviceTransport {
        private let held = AsyncStream<Void>.makeStream()
        private let ended = Mutex(0)

        var endedCount: Int { ended.withLock { $0 } }

        func send(_ request: Request) async throws -> Response {
            let stream = held.stream
            await Task.detached { for await _ in stream {} }.value
            ended.withLock { $0 += 1 }
            return .body(#"{"Id":7,"Payload":"p","Read":false}"#)
        }

        func letGo() { held.continuation.finish() }
    }

    private static let reference = SecureReference(id: 7)

    @Test func `an answer in time is the answer`() async throws {
        let client = try Example.notificationClient(ScriptedTransport(.body(#"{"Id":7,"Payload":"p","Read":false}"#)))
        let message = try await client.secureMessage(#require(Self.reference), within: 60)
        #expect(message == SecureMessage(id: 7, payload: "p", isRead: false))
    }

    @Test func `a refusal in time is the refusal`() async throws {
        let client = try Example.notificationClient(ScriptedTransport(.problem(.noSuchMessage)))
        let reference = try #require(Self.reference)
        await #expect(throws: DeviceClientError.refused(Problem(.noSuchMessage, "No."))) {
            try await client.secureMessage(reference, within: 60)
        }
    }

    @Test(arguments: [0.01, 0, -1, -.infinity, .nan])
    func `at the deadline it ends, whatever the transport does`(seconds: Double) async throws {
        let transport = StubbornTransport()
        let client = try Example.notificationClient(transport)
        let reference = try #require(Self.reference)
        let error = await #expect(throws: DeviceClientError.self) {
            try await client.secureMessage(reference, within: seconds)
        }
        guard case .unreachable(let reason) = error else {
            Issue.record("not unreachable: \(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("No answer came within"))
        #expect(transport.endedCount == 0)
        transport.letGo()
    }

    @Test(arguments: [1e300, .infinity])
    func `a deadline that is far away is no deadline`(seconds: Double) async throws {
        let client = try Example.notificationClient(ScriptedTransport(.problem(.noSuchMessage)))
        let reference = try #require(Self.reference)
        await #expect(throws: DeviceClientError.refused(Problem(.noSuchMessage, "No."))) {
            try await client.secureMessage(reference, within: seconds)
        }
    }

    @Test func `a caller who is cancelled waits no longer`() async throws {
        let transport = StubbornTransport()
        let client = try Example.notificationClient(transport)
        let reference = try #require(Self.reference)
        let call = Task { try await client.secureMessage(reference, within: 3600) }
        call.cancel()
        await #expect(throws: DeviceClientError.cancelled) { try await call.value }
        transport.letGo()
    }
}
