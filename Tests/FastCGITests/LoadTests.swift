// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import Testing

@testable import FastCGI

/// Many connections, slow peers, full servers, and the end.
@Suite struct LoadTests {
    @Test func `a request that waits for a worker is not taken for one that does not come`() throws {
        let gate = DispatchSemaphore(value: 0)
        var limits = ServerLimits.small
        limits.workers = 1
        limits.receiveSeconds = 1
        let wait: @Sendable (Request) -> Response = { _ in
            gate.wait()
            return Response()
        }
        let server = try TestServer(limits, wait)
        // Before it is up: to say nothing for a second is what no client may be slowed down to here.
        let clients = try (1...2).map { _ in try server.client() }
        for client in clients { client.send(Wire.request("GET", "/")[...]) }
        try server.start()
        defer { server.close() }
        // Longer than a connection may be silent, and until the deadlines were looked at.
        let end = ContinuousClock.now + .milliseconds(1_500)
        #expect(eventually { ContinuousClock.now > end })
        let iterations = server.server.liveness.iterations
        #expect(eventually { server.server.liveness.iterations > iterations + 3 })
        for _ in clients { gate.signal() }
        #expect(clients.compactMap { $0.answer()?.code } == [200, 200])
    }

    @Test func `1200 idle kept connections cost no worker`() throws {
        try TestServer.with { server in
            let idle = try (0..<1200).map { _ in try server.client() }
            for client in idle { #expect(client.exchange(Wire.request())?.code == 200) }
            #expect(idle.contains { $0.number > 1100 })
            #expect(server.server.status.connections == 1200)
            #expect(try server.client().exchange(Wire.request())?.code == 200)
            #expect(idle.last?.exchange(Wire.request())?.code == 200)
        }
    }

    @Test func `half a request holds no worker`() throws {
        try TestServer.with { server in
            let bytes = Wire.request("GET", "/late")
            let half = try (0..<20).map { _ in try server.client() }
            for (index, client) in half.enumerated() { client.send(bytes.prefix(1 + index * 3)) }
            #expect(eventually { server.server.status.waiting == 20 })
            #expect(try server.client().exchange(Wire.request())?.code == 200)
            for (index, client) in half.enumerated() {
                #expect(client.exchange(Array(bytes.dropFirst(1 + index * 3)))?.body == "GET /late none 0")
            }
            #expect(server.server.status.waiting == 0)
        }
    }

    @Test func `a request that never ends is given up`() throws {
        var limits = ServerLimits.small
        limits.receiveSeconds = 1
        try TestServer.with(limits) { server in
            let client = try server.client()
            client.send(Wire.request().dropLast())
            #expect(client.isClosedByServer())
            // Counted after that where not even the first byte came in time.
            #expect(eventually { server.server.status.refused == [.receiveTimeout: 1] })
        }
    }

    @Test func `a connection that never says anything is closed, one that was served is kept`() throws {
        var limits = ServerLimits.small
        limits.receiveSeconds = 1
        let server = try TestServer(limits, TestServer.echo)
        let kept = try server.client()
        // Before it is up, or the test might be slowed down to a silence of its own.
        kept.send(Wire.request())
        try server.start()
        defer { server.close() }
        #expect(kept.answer()?.code == 200)
        let silent = try (0..<3).map { _ in try server.client() }
        for client in silent { #expect(client.isClosedByServer()) }
        #expect(eventually { server.server.status.refused == [.receiveTimeout: 3] })
        #expect(eventually { server.server.status.connections == 1 })
        #expect(kept.exchange(Wire.request())?.code == 200)
    }

    @Test func `half requests hold no more memory than they may`() throws {
        var limits = ServerLimits.small
        limits.bodyBytes = 40_000
        limits.parameterBytes = 8 * 1024
        limits.waitingBytes = 2 * limits.requestBytes
        let bytes = Wire.request("POST", "/", body: [UInt8](repeating: 1, count: 40_000))
        let fitting = limits.waitingBytes / ReceiveBuffer.firstRoom
        try TestServer.with(limits) { server in
            let half = try (0..<fitting).map { _ in try server.client() }
            for client in half { client.send(bytes.prefix(20)) }
            #expect(eventually { server.server.status.waiting == fitting })
            let oneMore = try server.client()
            oneMore.send(bytes.prefix(20))
            #expect(oneMore.isClosedByServer())
            // To grow is refused as well.
            half[0].send(bytes[20..<20_000])
            #expect(half[0].isClosedByServer())
            #expect(server.server.status.refused == [.waitingRoomFull: 2])
            // What has left makes room for others.
            let next = try server.client()
            next.send(bytes.prefix(20))
            #expect(eventually { server.server.status.waiting == fitting })
        }
    }

    @Test func `a thousand workers start, also for an ordinary user, and take the largest requests`() throws {
        var limits = ServerLimits.small
        limits.workers = 1024
        let body = [UInt8](repeating: 7, count: limits.bodyBytes)
        let arrived = Counter()
        let gate = DispatchSemaphore(value: 0)
        try TestServer.with(
            limits,
            { request in
                arrived.count()
                gate.wait()
                return Response(body: request.body)
            }
        ) { server in
            let clients = try (0..<20).map { _ in try server.client() }
            for client in clients { client.send(Wire.request("POST", "/", body: body)) }
            #expect(eventually { arrived.value == 20 })
            for _ in clients { gate.signal() }
            for client in clients { #expect(client.answer()?.output.suffix(body.count).elementsEqual(body) == true) }
        }
    }

    @Test func `an answer that is not read is given up`() throws {
        var limits = ServerLimits.small
        limits.workers = 1
        limits.sendSeconds = 1
        let body = [UInt8](repeating: 1, count: 8_000_000)
        try TestServer.with(limits, { $0.path == "/big" ? Response(body: body) : Response() }) { server in
            let client = try server.client()
            client.send(Wire.request("GET", "/big"))
            // More than once, because an answer to these is given up as well where the machine stands still for a second.
            #expect(eventually { (try? server.client().exchange(Wire.request()))?.code == 200 })
        }
    }

    @Test func `connections above the limit wait and are not dropped`() throws {
        var limits = ServerLimits.small
        limits.connections = 2
        try TestServer.with(limits) { server in
            var kept = try (0..<2).map { _ in try server.client() }
            for client in kept { #expect(client.exchange(Wire.request())?.code == 200) }
            let third = try server.client()
            third.send(Wire.request("GET", "/third"))
            #expect(kept[0].exchange(Wire.request())?.code == 200)
            #expect(server.server.status.connections == 2)
            kept.removeFirst()
            #expect(third.answer()?.body == "GET /third none 0")
        }
    }

    @Test func `all workers asleep still leave the others their turn`() throws {
        let gate = DispatchSemaphore(value: 0)
        let asleep = Counter()
        var limits = ServerLimits.small
        limits.workers = 32
        try TestServer.with(
            limits,
            { request in
                if request.path == "/sleep" {
                    asleep.count()
                    gate.wait()
                }
                return Response()
            }
        ) { server in
            let sleepers = try (0..<31).map { _ in try server.client() }
            for client in sleepers { client.send(Wire.request("GET", "/sleep")) }
            #expect(eventually { asleep.value == 31 })
            let client = try server.client()
            for _ in 0..<100 { #expect(client.exchange(Wire.request())?.code == 200) }
            for _ in sleepers { gate.signal() }
            for client in sleepers { #expect(client.answer()?.code == 200) }
        }
    }

    @Test func `a drain finishes the request in flight`() throws {
        let arrived = DispatchSemaphore(value: 0)
        let go = DispatchSemaphore(value: 0)
        try TestServer.with(
            .small,
            { _ in
                arrived.signal()
                go.wait()
                return Response(body: Array("done".utf8))
            }
        ) { server in
            let client = try server.client()
            let idle = try server.client()
            client.send(Wire.request())
            #expect(arrived.wait(timeout: .now() + 60) == .success)
            // One that is still in the backlog is the next process's.
            #expect(eventually { server.server.status.connections == 2 })
            server.server.stop()
            #expect(eventually { server.server.status.isDraining })
            // A kept connection on which a request was under way is served too.
            idle.send(Wire.request())
            #expect(arrived.wait(timeout: .now() + 60) == .success)
            go.signal()
            go.signal()
            #expect(client.answer()?.body == "done")
            #expect(idle.answer()?.body == "done")
            #expect(client.isClosedByServer())
            #expect(server.waitForEnd())
        }
    }

    @Test func `a drain waits for the request of a connection that was just accepted`() throws {
        try TestServer.with { server in
            let new = try server.client()
            #expect(eventually { server.server.status.connections == 1 })
            server.server.stop()
            #expect(eventually { server.server.status.isDraining })
            // By the time that another server, told later, has ended its drain, this one would have too.
            try TestServer.with { other in
                other.server.stop()
                #expect(other.waitForEnd())
            }
            #expect(new.exchange(Wire.request())?.code == 200)
            #expect(server.waitForEnd())
        }
    }

    @Test func `a stop does not wait for idle connections`() throws {
        try TestServer.with { server in
            let idle = try (0..<20).map { _ in try server.client() }
            for client in idle { #expect(client.exchange(Wire.request())?.code == 200) }
            server.server.stop()
            #expect(server.waitForEnd())
            for client in idle { #expect(client.isClosedByServer()) }
            #expect(!FileManager.default.fileExists(atPath: server.path))
            #expect(server.server.status.connections == 0)
        }
    }

    @Test func `a drain ends at its deadline`() throws {
        let go = DispatchSemaphore(value: 0)
        let arrived = DispatchSemaphore(value: 0)
        var limits = ServerLimits.small
        limits.drainSeconds = 0
        try TestServer.with(
            limits,
            { _ in
                arrived.signal()
                go.wait()
                return Response()
            }
        ) { server in
            let client = try server.client()
            client.send(Wire.request())
            #expect(arrived.wait(timeout: .now() + 60) == .success)
            server.server.stop()
            #expect(server.waitForEnd())
            #expect(client.isClosedByServer())
            go.signal()
            #expect(eventually { server.server.status.workersBusy == 0 })
        }
    }
}
