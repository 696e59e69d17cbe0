// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FastCGI
import HTTP
import HTTPTypes
import Logging
import Processes
import Testing

/// Says which header fields have reached it: what nginx lets through, without the product behind it.
final class EchoResponder: Sendable {
    let socket: String
    private let server: Server
    private let ended = DispatchSemaphore(value: 0)

    init(in folder: ScratchFolder) throws {
        socket = folder.path("echo.sock")
        var limits = ServerLimits()
        limits.workers = 2
        server = try Server(
            listener: try Listener.open(.unix(path: socket)), limits: limits,
            logger: Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() },
            responder: ClosureResponder { request in
                let lines = request.fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
                let body = Array(lines.joined(separator: "\n").utf8)
                return Response(fields: [.contentType: "text/plain"], body: body)
            })
        try PlatformThread.start { [server, ended] in
            do throws(ServerError) { try server.run() } catch { Issue.record(error) }
            ended.signal()
        }
    }

    func stop() {
        server.stop()
        #expect(ended.wait(timeout: .now() + 10) == .success)
    }
}
