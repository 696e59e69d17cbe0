// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import Testing

import class System.Lock

@testable import FastCGI

/// Requests that wait without a worker.
@Suite struct PostponementTests {
    /// Ends when the test says so.
    private final class Event: Postponement {
        let began = ContinuousClock.now
        private let resumptions = Lock<[@Sendable () -> Void]?>([])

        var count: Int { resumptions.withLock { $0?.count ?? 0 } }

        func onEnd(_ resume: @escaping @Sendable () -> Void) {
            let hasEnded = resumptions.withLock { resumptions in
                resumptions?.append(resume)
                return resumptions == nil
            }
            if hasEnded { resume() }
        }

        func end() {
            let all = resumptions.withLock { resumptions in
                defer { resumptions = nil }
                return resumptions ?? []
            }
            for resume in all { resume() }
        }
    }

    private let event = Event()

    /// Puts off what goes to `/late`, and says what arrived.
    private var respond: @Sendable (Request) -> Response {
        { [event] request in
            if request.path == "/late", case .available = request.postponing {
                var response = Response(status: .internalServerError)
                response.postponement = event
                return response
            }
            let postponement: (any Postponement)? =
                if case .resumed(let postponement) = request.postponing { postponement } else { nil }
            let text = "\(postponement === event) \(request.query) \(request.body.count)"
            return Response(fields: [.contentType: "text/plain"], body: Array(text.utf8))
        }
    }

    @Test func `a request that is put off needs no worker, and is made once more, as it was`() throws {
        try TestServer.with(.small, respond) { server in
            let clients = try (0..<20).map { _ in try server.client() }
            for (number, client) in clients.enumerated() {
                let body = [UInt8](repeating: 7, count: number * 2000)
                client.send(Wire.request("POST", "/late?\(number)", body: body)[...])
            }
            #expect(eventually { server.server.status.postponed == 20 && server.server.status.workersBusy == 0 })
            #expect(server.server.status.answered == 0)
            // There are four workers.
            #expect(try server.client().exchange(Wire.request("GET", "/now?x"))?.body == "false x 0")
            event.end()
            for (number, client) in clients.enumerated() {
                #expect(client.answer()?.body == "true \(number) \(number * 2000)")
                // The connection is as good as before.
                #expect(client.exchange(Wire.request("GET", "/now?y"))?.body == "false y 0")
            }
            #expect(eventually { server.server.status.postponed == 0 })
        }
    }

    @Test func `what has ended meanwhile is not waited for`() throws {
        try TestServer.with(.small, respond) { server in
            event.end()
            let client = try server.client()
            for number in 0..<50 {
                #expect(client.exchange(Wire.request("GET", "/late?\(number)"))?.body == "true \(number) 0")
            }
        }
    }

    @Test func `requests that are put off hold no more memory than their limit`() throws {
        var limits = ServerLimits.small
        limits.waitingBytes = 300_000
        try TestServer.with(limits, respond) { server in
            let clients = try (0..<5).map { _ in try server.client() }
            let body = [UInt8](repeating: 7, count: 60_000)
            for (number, client) in clients.prefix(4).enumerated() {
                client.send(Wire.request("POST", "/late?\(number)", body: body)[...])
                #expect(eventually { server.server.status.postponed == number + 1 })
            }
            #expect(clients[4].exchange(Wire.request("POST", "/late?4", body: body))?.code == 503)
            event.end()
            #expect(clients.prefix(4).compactMap { $0.answer()?.code } == [200, 200, 200, 200])
        }
    }

    @Test func `a stop waits for what is put off`() throws {
        let server = try TestServer(.small, respond)
        try server.start()
        let client = try server.client()
        client.send(Wire.request("GET", "/late?z")[...])
        #expect(eventually { server.server.status.postponed == 1 })
        server.server.stop()
        #expect(eventually { server.server.status.isDraining })
        event.end()
        #expect(client.answer()?.body == "true z 0")
        server.close()
    }
}
