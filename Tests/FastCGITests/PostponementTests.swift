// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import Synchronization
import Testing

import class System.Latch
import class System.Lock

@testable import FastCGI

/// Requests that wait without a worker.
@Suite final class PostponementTests: Sendable {
    /// Ends when the test says so.
    private final class Event: Awaited {
        private let resumptions = Lock<[@Sendable () -> Void]?>([])

        var count: Int { resumptions.withLock { $0?.count ?? 0 } }

        var hasEnded: Bool { resumptions.withLock { $0 == nil } }

        func wait() {
            let ended = Latch()
            onEnd { ended.open() }
            ended.wait(for: .seconds(60))
        }

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

    /// A request that waits for it, and is made again.
    private final class Wait: Postponement {
        let began = ContinuousClock.now
        let source: String
        private let event: Event

        init(_ event: Event, source: String) { (self.event, self.source) = (event, source) }

        func onEnd(_ resume: @escaping @Sendable () -> Void) { event.onEnd(resume) }
    }

    private let event = Event()
    /// Times that the responder was asked.
    private let calls = Atomic(0)

    /// Puts off what goes to `/late`, continues what goes to `/begun`, and says what arrived. The query is the source.
    private func respond(to request: Request) -> Response {
        calls.add(1, ordering: .relaxed)
        @Sendable func answer(_ wasPutOff: Bool) -> Response {
            let text = "\(wasPutOff) \(request.query) \(request.body.count)"
            return Response(fields: [.contentType: "text/plain"], body: Array(text.utf8))
        }
        guard case .available = request.postponing else { return answer(true) }
        switch request.path {
        case "/late":
            var response = Response(status: .internalServerError)
            response.postponement = Wait(event, source: request.query)
            return response
        case "/begun":
            return Response(continuation: Continuation(after: event, source: request.query) { answer(true) })
        default: return answer(false)
        }
    }

    @Test func `a request that is put off needs no worker, and is made once more, as it was`() throws {
        try TestServer.with(.small, respond(to:)) { server in
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
        try TestServer.with(.small, respond(to:)) { server in
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
        try TestServer.with(limits, respond(to:)) { server in
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
        let server = try TestServer(.small, respond(to:))
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

    @Test func `a request that has acted is continued, and not made again`() throws {
        try TestServer.with(.small, respond(to:)) { server in
            let clients = try (0..<20).map { _ in try server.client() }
            for (number, client) in clients.enumerated() {
                client.send(Wire.request("POST", "/begun?\(number)", body: [UInt8](repeating: 7, count: number))[...])
            }
            #expect(eventually { server.server.status.postponed == 20 && server.server.status.workersBusy == 0 })
            event.end()
            for (number, client) in clients.enumerated() {
                #expect(client.answer()?.body == "true \(number) \(number)")
            }
            #expect(calls.load(ordering: .relaxed) == 20)
            #expect(clients[0].exchange(Wire.request("GET", "/now?y"))?.body == "false y 0")
            // As soon as it has ended.
            #expect(clients[1].exchange(Wire.request("HEAD", "/begun?z"))?.body == "")
        }
    }

    @Test func `a request that has acted is not refused where there is no room, but keeps its worker`() throws {
        var limits = ServerLimits.small
        limits.waitingBytes = 300_000
        try TestServer.with(limits, respond(to:)) { server in
            let body = [UInt8](repeating: 7, count: 60_000)
            let clients = try (0..<2).map { _ in try server.client() }
            clients[0].send(Wire.request("POST", "/begun?one", body: body)[...])
            #expect(eventually { server.server.status.postponed == 1 })
            // A source may take a quarter.
            clients[1].send(Wire.request("POST", "/begun?one", body: body)[...])
            #expect(eventually { server.server.status.workersBusy == 1 })
            event.end()
            #expect(clients.compactMap { $0.answer()?.body } == ["true one 60000", "true one 60000"])
            #expect(server.server.status.refused.isEmpty)
        }
    }

    @Test func `one source leaves room for the others`() throws {
        var limits = ServerLimits.small
        limits.waitingBytes = 300_000
        try TestServer.with(limits, respond(to:)) { server in
            let clients = try (0..<3).map { _ in try server.client() }
            let body = [UInt8](repeating: 7, count: 60_000)
            clients[0].send(Wire.request("POST", "/late?one", body: body)[...])
            #expect(eventually { server.server.status.postponed == 1 })
            #expect(clients[1].exchange(Wire.request("POST", "/late?one", body: body))?.code == 503)
            clients[2].send(Wire.request("POST", "/late?two", body: body)[...])
            #expect(eventually { server.server.status.postponed == 2 })
            event.end()
            #expect([clients[0], clients[2]].compactMap { $0.answer()?.code } == [200, 200])
            // What has left makes room.
            #expect(clients[0].exchange(Wire.request("POST", "/late?one", body: body))?.code == 200)
        }
    }

    @Test func `a client that hangs up changes nothing for a request that has acted`() throws {
        let finished = Latch()
        let event = event
        try TestServer.with(
            .small,
            { request in
                Response(
                    continuation: Continuation(after: event, source: "") {
                        finished.open()
                        return Response()
                    })
            }
        ) { server in
            var client: RawClient? = try server.client()
            client?.send(Wire.request("POST", "/begun?x")[...])
            #expect(eventually { server.server.status.postponed == 1 })
            client = nil
            event.end()
            #expect(finished.wait(for: .seconds(60)))
            #expect(eventually { server.server.status.connections == 0 })
        }
    }
}
