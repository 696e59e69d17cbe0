// SPDX-License-Identifier: Apache-2.0
import DeviceClient
import HTTP
import Synchronization
import Testing

/// What happens when an app calls while an earlier call is on its way.
struct OverlapTests {
    /// Answers everything, but holds the first request until it is let go.
    private final class HeldTransport: DeviceTransport {
        private let lines = Mutex<[String]>([])
        private let arrived = AsyncStream<Void>.makeStream()
        private let held = AsyncStream<Void>.makeStream()

        var seen: [String] { lines.withLock { $0 } }

        func send(_ request: Request) async throws -> Response {
            let isFirst = lines.withLock { lines in
                lines.append("\(request.method.rawValue) \(request.path)")
                return lines.count == 1
            }
            if isFirst {
                arrived.continuation.finish()
                for await _ in held.stream {}
            }
            return request.method == .post ? .id("1") : .ok
        }

        func waitForFirst() async { for await _ in arrived.stream {} }

        func letGo() { held.continuation.finish() }
    }

    /// Starts as many equal registrations on the client's own executor, where each runs without a break until it
    /// waits for the flight. So when the last one lets the first request go, all of them are waiting.
    private func overlap(_ count: Int, on client: isolated RegisterClient, _ transport: HeldTransport) -> [Started] {
        (1...count).map { number in
            Task {
                _ = client
                if number == count { transport.letGo() }
                try await client.register(handle: "A0", platform: .apns)
            }
        }
    }

    private typealias Started = Task<Void, any Error>

    @Test func `equal registrations that overlap are one`() async throws {
        let transport = HeldTransport()
        let client = try Example.registerClient(transport)
        for call in await overlap(8, on: client, transport) { try await call.value }
        #expect(transport.seen == ["POST /api/register", "PUT /api/register/1"])

        try await client.register(handle: "A0", platform: .apns)
        #expect(transport.seen.count == 3, "a later call is a call of its own")
    }

    @Test func `a different call waits for the one before it`() async throws {
        let transport = HeldTransport()
        let client = try Example.registerClient(transport)
        async let first: Void = client.register(handle: "A0", platform: .apns)
        await transport.waitForFirst()
        async let second: Void = client.unregister()
        transport.letGo()
        try await first
        try await second
        #expect(
            transport.seen == ["POST /api/register", "PUT /api/register/1", "DELETE /api/register/1"])
        #expect(client.registrationID == nil)
    }

    @Test func `a call that is cancelled does not end the flight that another waits for`() async throws {
        let transport = HeldTransport()
        let client = try Example.registerClient(transport)
        let impatient = Task { try await client.register(handle: "A0", platform: .apns) }
        await transport.waitForFirst()
        impatient.cancel()
        transport.letGo()
        try await impatient.value
        #expect(client.registrationID == "1")
    }
}
