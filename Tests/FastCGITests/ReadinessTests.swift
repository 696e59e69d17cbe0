// SPDX-License-Identifier: Apache-2.0
import HTTP
import Synchronization
import System
import Testing

@testable import FastCGI

/// Connections whose bytes come when no worker looks, and workers that block.
@Suite struct ReadinessTests {
    @Test func `a request that comes while the one before is answered is answered too`() throws {
        let arrived = Counter()
        let go = Semaphore()
        try TestServer.with(
            .small,
            { request in
                arrived.count()
                if request.path == "/first" { go.wait() }
                return Response()
            }
        ) { server in
            let client = try server.client()
            for _ in 1...20 {
                let before = arrived.value
                client.send(Wire.request("GET", "/first"))
                #expect(eventually { arrived.value == before + 1 })
                // Half of it first, so that the poller reports twice.
                let second = Wire.request("GET", "/second")
                client.send(second[..<20])
                client.send(second[20...])
                go.signal()
                #expect(client.answer()?.code == 200)
                #expect(client.answer()?.code == 200)
                #expect(arrived.value == before + 2)
            }
        }
    }

    @Test func `a peer that leaves while its request is answered holds no connection`() throws {
        let arrived = Counter()
        let go = Semaphore()
        try TestServer.with(
            .small,
            { _ in
                arrived.count()
                go.wait()
                return Response()
            }
        ) { server in
            do {
                let client = try server.client()
                client.send(Wire.request())
                #expect(eventually { arrived.value == 1 })
            }
            go.signal()
            #expect(eventually { server.server.status.connections == 0 })
        }
    }

    @Test func `a request that ends where the room does hides none behind it`() throws {
        let small = Wire.request("POST", "/", body: [UInt8](repeating: 1, count: 10_000))
        let size = 10_000 + ReceiveBuffer.firstRoom - small.count
        let whole = Wire.request("POST", "/", body: [UInt8](repeating: 1, count: size))
        #expect(whole.count == ReceiveBuffer.firstRoom)
        let arrived = Counter()
        let gate = Semaphore()
        try TestServer.with(
            .small,
            { request in
                arrived.count()
                if request.path == "/wait" { gate.wait() }
                return Response()
            }
        ) { server in
            let client = try server.client()
            for _ in 1...20 {
                let before = arrived.value
                client.send(Wire.request("GET", "/wait"))
                #expect(eventually { arrived.value == before + 1 })
                // Both are there before the worker looks again.
                client.send(whole)
                client.send(Wire.request("GET", "/behind"))
                gate.signal()
                for _ in 1...3 { #expect(client.answer()?.code == 200) }
            }
        }
    }

    @Test func `workers that say that they block are not waited for`() throws {
        let inside = Counter()
        let gate = Semaphore()
        var limits = ServerLimits.small
        limits.workers = 16
        try TestServer.with(
            limits,
            { request in
                guard request.path == "/block" else { return Response() }
                inside.count()
                gate.wait()
                return Response()
            }
        ) { server in
            let blocked = try (0..<15).map { _ in try server.client() }
            for client in blocked { client.send(Wire.request("GET", "/block")) }
            #expect(eventually { inside.value == 15 })
            #expect(try server.client().exchange(Wire.request())?.code == 200)
            for _ in blocked { gate.signal() }
            for client in blocked { #expect(client.answer()?.code == 200) }
            // All of them are there again.
            for client in blocked { client.send(Wire.request("GET", "/block")) }
            #expect(eventually { inside.value == 30 })
            for _ in blocked { gate.signal() }
            for client in blocked { #expect(client.answer()?.code == 200) }
        }
    }

    @Test func `parameters may lie in however many records`() throws {
        let pairs =
            Wire.pair("REQUEST_METHOD", "GET") + Wire.pair("REQUEST_URI", "/in/pieces")
            + Wire.pair("HTTP_AUTHORIZATION", String(repeating: "x", count: 300))
        let records = pairs.flatMap { Wire.record(4, [$0], padding: 7) }
        try TestServer.with { server in
            let client = try server.client()
            let answer = client.exchange(Wire.begin() + records + Wire.record(4) + Wire.record(5))
            #expect(answer?.body == "GET /in/pieces \(String(repeating: "x", count: 300)) 0")
        }
    }
}
