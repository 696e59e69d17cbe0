// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import Synchronization
import Testing

/// A backend that gives the answers it was told to give, in order, and remembers what it was asked.
final class ScriptedTransport: DeviceTransport {
    private struct State {
        var answers: [Result<Response, any Error & Sendable>]
        var requests: [Request] = []
    }

    private let state: Mutex<State>

    init(_ answers: Response...) {
        state = Mutex(State(answers: answers.map { .success($0) }))
    }

    init(failing error: any Error & Sendable) {
        state = Mutex(State(answers: [.failure(error)]))
    }

    var requests: [Request] { state.withLock(\.requests) }

    /// `POST /api/register?handle=…`, as a request line has it.
    var lines: [String] { requests.map { "\($0.method.rawValue) \($0.target)" } }

    func send(_ request: Request) async throws -> Response {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else {
            Issue.record("not in the script: \(request.method) \(request.path)")
            throw DeviceTransportError(reason: "end of the script")
        }
        return try answer.get()
    }
}

extension Response {
    static let ok = Response()

    static func id(_ id: String) -> Response { .json([UInt8]("\"\(id)\"".utf8)) }

    static func body(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        .json([UInt8](text.utf8), status: status)
    }

    static func problem(_ code: ProblemCode, _ detail: String = "No.", retryAfter: Int? = nil) -> Response {
        Problem(code, detail, retryAfter: retryAfter).response
    }
}

/// The user and the place that most tests need and none is about.
enum Example {
    static func credentials() throws -> Credentials { try Credentials(user: "alice", password: "wonder:land") }

    static func registerClient(
        _ transport: any DeviceTransport, _ storage: MemoryStorage = MemoryStorage()
    ) throws -> RegisterClient {
        RegisterClient(
            endpoint: try Endpoint("https://push.example.com"), credentials: try credentials(), transport: transport,
            storage: storage)
    }

    static func notificationClient(_ transport: any DeviceTransport) throws -> NotificationClient {
        NotificationClient(
            endpoint: try Endpoint("https://push.example.com"), credentials: try credentials(), transport: transport)
    }
}
