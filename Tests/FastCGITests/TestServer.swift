// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import HTTPTypes
import Logging
import Testing

@testable import FastCGI

/// A server on a unix socket in a folder of its own, on a thread of its own.
final class TestServer: Sendable {
    let path: String
    let server: Server
    let listener: Listener
    private let folder: URL
    private let ended = DispatchSemaphore(value: 0)

    /// It does not run before `start()`: until then clients connect, and what they send waits.
    init(_ limits: ServerLimits = .small, _ respond: @escaping @Sendable (Request) throws -> Response) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "fcgi-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        path = folder.appending(path: "s").path
        listener = try Listener.open(.unix(path: path))
        var logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        logger.logLevel = .critical
        server = try Server(
            listener: listener, limits: limits, logger: logger, responder: ClosureResponder(respond))
    }

    func start() throws {
        try PlatformThread.start { [server, ended] in
            do throws(ServerError) { try server.run() } catch { Issue.record(error) }
            ended.signal()
        }
    }

    /// A new connection.
    func client() throws -> RawClient { try #require(RawClient(path: path)) }

    /// Waits for a `run()` that was told to stop; false when it does not return.
    func waitForEnd() -> Bool {
        defer { ended.signal() }
        return ended.wait(timeout: .now() + 120) == .success
    }

    /// Stops, and takes the folder away.
    func close() {
        server.stop()
        #expect(waitForEnd())
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs a story against a server and stops it.
    static func with(
        _ limits: ServerLimits = .small, _ respond: @escaping @Sendable (Request) throws -> Response = echo,
        _ story: (TestServer) throws -> Void
    ) throws {
        let server = try TestServer(limits, respond)
        try server.start()
        defer { server.close() }
        try story(server)
    }

    /// Says what arrived.
    static let echo: @Sendable (Request) -> Response = { request in
        let authorization = request.fields[.authorization] ?? "none"
        let text = "\(request.method) \(request.target) \(authorization) \(request.body.count)"
        return Response(fields: [.contentType: "text/plain"], body: Array(text.utf8))
    }
}

extension ServerLimits {
    /// Four workers, and deadlines that only what hangs comes to.
    static var small: ServerLimits {
        var limits = ServerLimits()
        (limits.workers, limits.receiveSeconds, limits.sendSeconds, limits.drainSeconds) = (4, 120, 120, 60)
        return limits
    }
}

/// Waits until something becomes true on another thread, which it must within a minute.
func eventually(_ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
        if condition() { return true }
        usleep(1000)
    }
    return condition()
}
