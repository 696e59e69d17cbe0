// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import Testing

struct DeviceClientErrorTests {
    @Test(
        arguments: [
            (ProblemCode.invalidValue, DeviceClientError.refused), (.wrongCredentials, DeviceClientError.unauthorized),
            (.tokenExpired, DeviceClientError.unauthorized), (.tagNotAllowed, DeviceClientError.refused),
            (.noSuchMessage, DeviceClientError.refused), (.requestUnderWay, DeviceClientError.busy),
            (.outcomeUnknown, DeviceClientError.refused), (.keyReused, DeviceClientError.refused),
            (.registrationGone, DeviceClientError.registrationGone), (.bodyTooLarge, DeviceClientError.refused),
            (.tooManySends, DeviceClientError.busy), (.internalError, DeviceClientError.refused),
            (.hubRefused, DeviceClientError.refused), (.storeBusy, DeviceClientError.busy),
            (.timedOut, DeviceClientError.refused),
        ] as [(ProblemCode, @Sendable (Problem) -> DeviceClientError)])
    func `a code has its error, which carries the problem`(
        code: ProblemCode, error: @Sendable (Problem) -> DeviceClientError
    ) async throws {
        let transport = ScriptedTransport(.problem(code))
        let client = try Example.notificationClient(transport)
        await #expect(throws: error(Problem(code, "No."))) { try await client.inbox() }
        #expect(transport.requests.count == 1)
    }

    @Test func `a code that this version does not know is kept, and the status decides`() async throws {
        let body = #"{"code":"madeUpLater","detail":"No."}"#
        let client = try Example.notificationClient(ScriptedTransport(.body(body, status: .serviceUnavailable)))
        let error = await #expect(throws: DeviceClientError.self) { try await client.inbox() }
        let problem = try #require(error?.problem)
        #expect(error == .busy(problem) && problem.code == nil && problem.codeText == "madeUpLater")
    }

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
    func `a status without a code has its error, which carries the problem`(
        status: HTTPResponse.Status, error: @Sendable (Problem) -> DeviceClientError
    ) async throws {
        let answer = Response(status: status, fields: [.retryAfter: "30"], body: [UInt8](#"{"detail":"No."}"#.utf8))
        let transport = ScriptedTransport(answer)
        let client = try Example.registerClient(transport, MemoryStorage(registrationID: "7"))
        let problem = Problem(answer)
        await #expect(throws: error(problem)) { try await client.register(handle: "A0", platform: .apns) }
        #expect(error(problem).problem == problem)
        #expect(transport.requests.count == 1)
        #expect(client.registrationID == "7")
    }

    @Test func `only a conflict that passes is worth another try`() async throws {
        let answer = Response(status: .conflict)
        let client = try Example.notificationClient(ScriptedTransport(answer))
        await #expect(throws: DeviceClientError.refused(Problem(answer))) {
            try await client.send("a", to: "bob", on: .apns, key: .random())
        }
    }

    @Test func `a web server's own error page is a problem with its status`() async throws {
        let page = Response(status: .badGateway, fields: [.contentType: "text/html"], body: [UInt8]("<html>".utf8))
        let client = try Example.registerClient(ScriptedTransport(page))
        await #expect(throws: DeviceClientError.refused(Problem(page))) {
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
