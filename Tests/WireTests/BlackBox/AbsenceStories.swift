// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

import class System.Lock

extension WireTests {
    /// What nginx tells a caller when the responder does not: in the responder's own words.
    struct AbsenceStories {
        private static let calls: [(HTTPRequest.Method, String)] = [
            (.get, Path.register), (.post, Path.register), (.put, "\(Path.register)/1-1-1"), (.get, Path.config),
            (.delete, "\(Path.register)/1-1-1"), (.post, Path.notifications), (.get, "\(Path.notifications)/7"),
        ]

        @Test(arguments: [true, false])
        func `a responder that is away is 503 and when to come back`(leavesSocket: Bool) throws {
            let scratch = try ScratchFolder()
            let responder = try ScriptedResponder(in: scratch, ScriptedResponder.Script())
            try DoorSite.run(before: responder.socket, in: scratch) { site in
                #expect(responder.stop())
                if !leavesSocket { unlink(responder.socket) }
                for (method, path) in Self.calls {
                    let answer = try site.call(method, path)
                    try expectProblem(answer, .serviceUnavailable, "\(method) \(path)")
                    #expect(answer.fields[.retryAfter] == "5")
                }
            }
        }

        @Test func `a socket whose queue is full is 503 and when to come back`() throws {
            let scratch = try ScratchFolder()
            let responder = try ScriptedResponder(in: scratch, ScriptedResponder.Script())
            try DoorSite.run(before: responder.socket, in: scratch) { site in
                #expect(responder.stop())
                unlink(responder.socket)
                // No process accepts; one connection may wait.
                let listener = try LoopbackSocket.listen(at: responder.socket, backlog: 0)
                defer { close(listener) }
                let waiting = LoopbackSocket.fill(responder.socket)
                defer { waiting.forEach { close($0) } }
                #expect(!waiting.isEmpty)
                for (method, path) in Self.calls {
                    let answer = try site.call(method, path)
                    try expectProblem(answer, .serviceUnavailable, "\(method) \(path)")
                    #expect(answer.fields[.retryAfter] == "5")
                }
            }
        }

        @Test func `a responder that hangs is 504, and nothing is sent to it twice`() throws {
            let hang = Hang()
            try DoorSite.run(
                workers: 4 * Self.calls.count,
                respond: { request in
                    if request.path != Path.health { hang.arrive("\(request.method) \(request.path)") }
                    return Response()
                },
                changing: {
                    // There is another that could be asked.
                    $0.sockets += $0.sockets
                    $0.edits = [Self.impatience, Self.forgiving]
                }
            ) { site, _ in
                // Once, and again where nginx has lost its patience before the responder had begun.
                var rounds = 0
                repeat {
                    rounds += 1
                    defer { hang.end() }
                    // All at once: each waits for nginx to lose its patience.
                    _ = together(Self.calls.count) { number in
                        let (method, path) = Self.calls[number]
                        let answer = try site.call(method, path)
                        try expectProblem(answer, .timedOut, "\(method) \(path)")
                        #expect(answer.fields[.retryAfter] == nil)
                    }
                } while rounds < 10 && hang.arrivals.count < Self.calls.count
                #expect(hang.arrivals.count == Self.calls.count)
                #expect(hang.arrivals.values.allSatisfy { $0 <= rounds }, "\(hang.arrivals) in \(rounds) rounds")
            }
        }

        /// What calls hang at until it ends, and how often each has arrived.
        private final class Hang: Sendable {
            private let state = Lock<(round: Int, arrivals: [String: Int])>((0, [:]))

            var arrivals: [String: Int] { state.withLock(\.arrivals) }

            func arrive(_ call: String) {
                let round = state.withLock { state in
                    state.arrivals[call, default: 0] += 1
                    return state.round
                }
                Deadline.poll(seconds: 60) { state.withLock(\.round) != round }
            }

            /// Lets them go on that hang now.
            func end() { state.withLock { $0.round += 1 } }
        }

        /// A site's own pages for errors, which are for people.
        @Test(arguments: [401, 404, 413, 429, 500, 503, 504])
        func `what the responder says itself passes, whatever the server does with errors`(code: Int) throws {
            let pages = FrontDoor.Edit(
                file: "sites/site.conf", text: "server_tokens off;",
                replacement: """
                    server_tokens off; fastcgi_intercept_errors on;
                    error_page 401 404 413 429 500 503 504 /index.html;
                    """)
            try DoorSite.run(
                respond: { request in
                    guard request.path != Path.health else { return Response() }
                    return Response(status: .init(code: code), fields: [.retryAfter: "77"], body: Array("own".utf8))
                },
                changing: { $0.edits = [pages] }
            ) { site, _ in
                for (method, path) in Self.calls {
                    let answer = try site.call(method, path)
                    #expect(answer.status.code == code && answer.body == Array("own".utf8))
                    #expect(answer.fields[.retryAfter] == "77")
                }
            }
        }

        private static let impatience = FrontDoor.Edit(
            file: "snippets/app-backend-params.conf", text: "fastcgi_read_timeout    60s;",
            replacement: "fastcgi_read_timeout 1s;")

        /// nginx takes the one of several that was late for dead otherwise.
        private static let forgiving = FrontDoor.Edit(
            file: "conf.d/app-backend-upstream.conf", text: ".sock;", replacement: ".sock max_fails=0;")

        private func expectProblem(_ answer: Response, _ code: ProblemCode, _ call: String) throws {
            #expect(answer.status == code.status && Problem(answer).code == code, "\(call)")
            #expect(answer.fields[.contentType] == Problem.contentType, "\(call)")
            let problem = try JSONValue(parsing: answer.body)
            #expect(problem["status"]?.integer == code.status.code && problem["detail"]?.string != nil, "\(call)")
        }
    }
}
