// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FastCGI
import HTTP
import HTTPTypes
import Logging
import Support
import Testing

/// A responder in the test's own process: what nginx lets through, and what it does, without the product behind it.
final class EchoResponder: Sendable {
    let socket: String
    private let server: Server
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - connections: more of them are not accepted.
    ///   - respond: by default says which header fields have arrived.
    init(
        in folder: ScratchFolder, workers: Int = 2, connections: Int = ServerLimits().connections,
        respond: @escaping @Sendable (Request) throws -> Response = EchoResponder.fields
    ) throws {
        socket = folder.path("echo.sock")
        var limits = ServerLimits()
        limits.workers = workers
        limits.connections = connections
        server = try Server(
            listener: try Listener.open(.unix(path: socket)), limits: limits,
            logger: Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() }, responder: ClosureResponder(respond))
        try PlatformThread.start { [server, ended] in
            do throws(ServerError) { try server.run() } catch { Issue.record(error) }
            ended.signal()
        }
    }

    /// One line per field.
    static let fields: @Sendable (Request) -> Response = { request in
        let lines = request.fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        return Response(fields: [.contentType: "text/plain"], body: Array(lines.joined(separator: "\n").utf8))
    }

    var status: ServerStatus { server.status }

    func stop() {
        server.stop()
        #expect(ended.wait(timeout: .now() + 60) == .success)
    }
}
