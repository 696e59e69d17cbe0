// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Dispatch
import Foundation
import HTTP
import HTTPTypes
import Support
import Testing

import class System.Lock

extension WireTests {
    /// The connections that nginx keeps to the responder: many, idle ones, and too many.
    struct KeptConnectionStories {
        @Test func `four nginx processes that keep 64 connections each starve no client at two workers`() throws {
            let gate = DispatchSemaphore(value: 0)
            let held = Lock(0)
            try DoorSite.run(
                workers: 2,
                respond: { request in
                    guard request.path == "/api/held" else { return Response() }
                    held.withLock { $0 += 1 }
                    gate.wait()
                    return Response()
                },
                changing: {
                    $0.processes = 4
                    $0.edits = [Self.keepalive(64), .keptForLong, Self.patience]
                }
            ) { site, echo throws in
                let statuses = together(2) { number -> [Int: Int] in
                    guard number == 0 else {
                        // All of them have connections before the first is answered.
                        #expect(Deadline.poll(seconds: 120) { echo.status.connections >= 300 })
                        for _ in 1...300 { gate.signal() }
                        return [:]
                    }
                    return try site.burst(300, "/api/held")
                }
                #expect(Self.sum(statuses) == [200: 300])
                // More than one process keeps some.
                #expect(echo.status.connections > 64)
                held.withLock { $0 = 0 }
                let answers = together(2) { number in
                    if number == 0 { return try site.burst(1, "/api/held") }
                    defer { gate.signal() }
                    #expect(Deadline.poll(seconds: 60) { held.withLock(\.self) == 1 })
                    // One worker is left to all those connections.
                    return try site.burst(600, "/api/short")
                }
                #expect(Self.sum(answers) == [200: 601])
            }
        }

        @Test func `nginx gives idle connections up, and makes new ones`() throws {
            let soon = FrontDoor.Edit(
                file: "conf.d/app-backend-upstream.conf", text: "keepalive_timeout 60s;",
                replacement: "keepalive_timeout 1s;")
            try DoorSite.run(changing: { $0.edits = [soon] }) { site, echo throws in
                for _ in 1...2 {
                    #expect(try site.call(.get, Path.register).status == .ok)
                    #expect(Deadline.poll(seconds: 60) { echo.status.connections == 0 })
                }
            }
        }

        @Test func `more connections than the responder takes wait for their turn`() throws {
            let scratch = try ScratchFolder()
            let echo = try EchoResponder(in: scratch, connections: 3)
            defer { echo.stop() }
            try DoorSite.run(before: echo.socket, in: scratch, changing: { $0.edits = [Self.keepalive(1)] }) {
                site throws in
                let statuses = try site.burst(300, "/api/x")
                #expect(statuses == [200: 300])
                #expect(echo.status.connections <= 3)
            }
        }

        private static func sum(_ bursts: [[Int: Int]]) -> [Int: Int] {
            bursts.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }

        /// Until the last of hundreds of connections is there.
        private static let patience = FrontDoor.Edit(
            file: "snippets/app-backend-params.conf", text: "fastcgi_read_timeout    60s;",
            replacement: "fastcgi_read_timeout 600s;")

        private static func keepalive(_ count: Int) -> FrontDoor.Edit {
            FrontDoor.Edit(
                file: "conf.d/app-backend-upstream.conf", text: "keepalive 128;", replacement: "keepalive \(count);")
        }
    }
}
