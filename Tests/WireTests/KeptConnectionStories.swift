// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Dispatch
import Foundation
import HTTP
import HTTPTypes
import Processes
import Synchronization
import Testing

extension WireTests {
    /// The connections that nginx keeps to the responder: many, idle ones, and too many.
    struct KeptConnectionStories {
        @Test func `four nginx processes that keep 64 connections each starve nobody at two workers`() throws {
            let gate = DispatchSemaphore(value: 0)
            let asleep = Mutex(0)
            try DoorSite.run(
                workers: 2,
                respond: { request in
                    guard request.path == "/api/long" else { return Response() }
                    asleep.withLock { $0 += 1 }
                    gate.wait()
                    return Response()
                },
                changing: {
                    $0.processes = 4
                    $0.edits = [Self.keepalive(64)]
                }
            ) { site, echo throws in
                #expect(try site.burst(600, "/api/short") == Array(repeating: 200, count: 600))
                // More than one process keeps, and far more than workers.
                #expect(echo.status.connections > 64)
                let answers = together(2) { number in
                    if number == 0 { return try site.burst(1, "/api/long") }
                    defer { gate.signal() }
                    #expect(Deadline.poll(seconds: 20) { asleep.withLock(\.self) == 1 })
                    // One worker is left to all those connections.
                    return try site.burst(600, "/api/short")
                }
                #expect(answers.flatMap(\.self) == Array(repeating: 200, count: 601))
            }
        }

        @Test func `nginx gives idle connections up, and makes new ones`() throws {
            let soon = FrontDoor.Edit(
                file: "conf.d/app-backend-upstream.conf", text: "keepalive_timeout 60s;",
                replacement: "keepalive_timeout 1s;")
            try DoorSite.run(changing: { $0.edits = [soon] }) { site, echo throws in
                for _ in 1...2 {
                    #expect(try site.call(.get, Path.register).status == .ok)
                    #expect(Deadline.poll(seconds: 20) { echo.status.connections == 0 })
                }
            }
        }

        @Test func `more connections than the responder takes wait for their turn`() throws {
            let scratch = try ScratchFolder()
            let echo = try EchoResponder(in: scratch, connections: 3)
            defer { echo.stop() }
            try DoorSite.run(before: echo.socket, in: scratch, changing: { $0.edits = [Self.keepalive(1)] }) {
                site throws in
                #expect(try site.burst(300, "/api/x") == Array(repeating: 200, count: 300))
                #expect(echo.status.connections <= 3)
            }
        }

        private static func keepalive(_ count: Int) -> FrontDoor.Edit {
            FrontDoor.Edit(
                file: "conf.d/app-backend-upstream.conf", text: "keepalive 16;", replacement: "keepalive \(count);")
        }
    }
}
