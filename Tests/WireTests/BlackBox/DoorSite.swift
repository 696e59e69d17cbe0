// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import HTTP
import HTTPTypes
import Support

/// nginx with the shipped files before a responder of the test's own.
struct DoorSite {
    let scratch: ScratchFolder
    let door: FrontDoor
    let transport: CurlTransport

    var authority: String { "localhost:\(door.port)" }

    /// Runs `body` with an nginx before that socket, and ends it.
    /// - Parameters:
    ///   - name: of nginx's folder; there may be several before one store.
    ///   - change: what is other than shipped.
    static func run(
        before socket: String, in scratch: ScratchFolder, name: String = "nginx",
        changing change: (inout FrontDoor.Changes) -> Void = { _ in }, _ body: (DoorSite) throws -> Void
    ) throws {
        if !scratch.has("tls/cert.pem") { try FrontDoor.makeCertificate(in: try scratch.makeFolder("tls")) }
        var changes = FrontDoor.Changes(sockets: [socket])
        change(&changes)
        let door = try FrontDoor(changes, certificates: scratch.path("tls"), folder: scratch.path(name))
        defer { door.stop() }
        let transport = try CurlTransport(
            CurlOptions(timeout: .seconds(120), caFile: scratch.path("tls/cert.pem"), allowPlainHTTP: true))
        defer { transport.close() }
        try body(DoorSite(scratch: scratch, door: door, transport: transport))
    }

    /// Likewise before an `EchoResponder`, which is ended too.
    static func run(
        workers: Int = 2, respond: @escaping @Sendable (Request) throws -> Response = EchoResponder.fields,
        changing change: (inout FrontDoor.Changes) -> Void = { _ in },
        _ body: (DoorSite, EchoResponder) throws -> Void
    ) throws {
        let scratch = try ScratchFolder()
        let echo = try EchoResponder(in: scratch, workers: workers, respond: respond)
        defer { echo.stop() }
        try run(before: echo.socket, in: scratch, changing: change) { try body($0, echo) }
    }

    func call(_ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:]) throws -> Response {
        try transport.respond(to: Request(method: method, authority: authority, path: path, fields: fields))
    }

    /// The lines of the answer to a GET.
    func lines(_ path: String, fields: HTTPFields = [:]) throws -> [String] {
        String(decoding: try call(.get, path, fields: fields).body, as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// Makes so many GET requests by HTTP/1.1, as many at once as curl can: each on a connection of its own, and thus
    /// spread over nginx's processes.
    /// - Returns: how often each status was answered, and 0 where there was no answer.
    func burst(_ count: Int, _ path: String) throws -> [Int: Int] {
        let run = try Program.run(
            "/usr/bin/curl",
            [
                "--silent", "--http1.1", "--parallel", "--parallel-immediate", "--parallel-max", "300", "--cacert",
                scratch.path("tls/cert.pem"), "--output", "/dev/null", "--write-out", "%{http_code}\n",
                "https://\(authority)\(path)?[1-\(count)]",
            ], seconds: 300)
        return run.output.split(separator: "\n").compactMap { Int($0) }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}
