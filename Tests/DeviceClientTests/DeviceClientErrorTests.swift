// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import Testing

struct DeviceClientErrorTests {
    @Test(
        arguments: [
            (HTTPResponse.Status.badRequest, DeviceClientError.refused),
            (.unauthorized, DeviceClientError.unauthorized),
            (.forbidden, DeviceClientError.refused),
            (.notFound, DeviceClientError.refused),
            (.methodNotAllowed, DeviceClientError.refused),
            (.conflict, DeviceClientError.busy),
            (.contentTooLarge, DeviceClientError.refused),
            (.unsupportedMediaType, DeviceClientError.refused),
            (.tooManyRequests, DeviceClientError.busy),
            (.internalServerError, DeviceClientError.refused),
            (.badGateway, DeviceClientError.refused),
            (.serviceUnavailable, DeviceClientError.busy),
            (.gatewayTimeout, DeviceClientError.refused),
            (.movedPermanently, DeviceClientError.refused),
        ] as [(HTTPResponse.Status, @Sendable (Problem) -> DeviceClientError)])
    func `every status has its error, which carries the problem`(
        status: HTTPResponse.Status, error: @Sendable (Problem) -> DeviceClientError
    ) async throws {
        let transport = ScriptedTransport(.problem(status, "What is wrong.", retryAfter: 30))
        let client = try Example.registerClient(transport, MemoryStorage(registrationID: "7"))
        let problem = Problem(status, "What is wrong.", retryAfter: 30)
        await #expect(throws: error(problem)) { try await client.register(handle: "A0", platform: .apns) }
        #expect(error(problem).problem == problem)
        #expect(transport.requests.count == 1)
        #expect(client.registrationID == "7")
    }

    @Test func `only a conflict that passes is worth another try`() async throws {
        let client = try Example.notificationClient(ScriptedTransport(.problem(.conflict)))
        await #expect(throws: DeviceClientError.refused(Problem(.conflict, "No."))) {
            try await client.send("a", to: "bob", on: .apns, key: .random())
        }
    }

    @Test func `a web server's own error page is a problem with its status`() async throws {
        let page = Response(status: .badGateway, fields: [.contentType: "text/html"], body: [UInt8]("<html>".utf8))
        let client = try Example.registerClient(ScriptedTransport(page))
        await #expect(throws: DeviceClientError.refused(Problem(.badGateway, "Bad Gateway"))) {
            try await client.register(handle: "A0", platform: .apns)
        }
    }

    private struct LeakyError: Error {
        let url = "https://push.example.com/api/register?handle=SECRET"
    }

    @Test func `an error of the transport tells its type and not its text`() async throws {
        let client = try Example.registerClient(ScriptedTransport(failing: LeakyError()))
        await #expect(throws: DeviceClientError.unreachable(reason: "LeakyError")) {
            try await client.register(handle: "SECRET", platform: .apns)
        }
    }

    @Test func `a transport's own reason is passed on`() async throws {
        let client = try Example.registerClient(ScriptedTransport(failing: DeviceTransportError(reason: "no route")))
        await #expect(throws: DeviceClientError.unreachable(reason: "no route")) {
            try await client.register(handle: "A0", platform: .apns)
        }
    }

    @Test func `a cancelled call is cancelled, not unreachable`() async throws {
        let client = try Example.notificationClient(ScriptedTransport(failing: CancellationError()))
        await #expect(throws: DeviceClientError.cancelled) { try await client.secureMessages() }
    }
}
