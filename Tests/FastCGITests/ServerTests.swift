// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import HTTPTypes
import Testing

import class System.Lock

@testable import FastCGI

@Suite struct ServerTests {
    @Test func `a request is answered and its connection kept`() throws {
        try TestServer.with { server in
            let client = try server.client()
            for number in 0..<50 {
                let answer = client.exchange(Wire.request("GET", "/a?n=\(number)"))
                #expect(answer?.body == "GET /a?n=\(number) none 0")
                #expect(answer?.has("X-Content-Type-Options: nosniff") == true)
            }
            // Counted after it is sent.
            #expect(eventually { server.server.status.answered == 50 })
        }
    }

    @Test func `a connection that is not to be kept is closed after its answer`() throws {
        try TestServer.with { server in
            let client = try server.client()
            #expect(client.exchange(Wire.request(keep: false))?.code == 200)
            #expect(client.isClosedByServer())
        }
    }

    @Test func `a server shows that it is at work, and for how long no worker has been free`() throws {
        let gate = DispatchSemaphore(value: 0)
        try TestServer.with(
            .small,
            { _ in
                gate.wait()
                return Response()
            }
        ) { server in
            let iterations = server.server.liveness.iterations
            #expect(eventually { server.server.liveness.iterations > iterations })
            let clients = try (1...4).map { _ in try server.client() }
            for client in clients.dropLast() { client.send(Wire.request("GET", "/")[...]) }
            #expect(eventually { server.server.status.workersBusy == 3 })
            #expect(server.server.liveness.exhausted == .zero)
            clients[3].send(Wire.request("GET", "/")[...])
            let last = server.server.liveness
            #expect(
                eventually {
                    guard
                        case .workers(let time) = server.server.liveness.stall(
                            since: last, patience: .milliseconds(50))
                    else { return false }
                    return time > .milliseconds(50)
                })
            #expect(eventually { server.server.liveness.stall(since: last, patience: .seconds(3_600)) == nil })
            #expect(last.stall(since: last, patience: .seconds(60)) == .accepting)
            // Accepting goes on all the while.
            let later = server.server.liveness.iterations
            #expect(eventually { server.server.liveness.iterations > later })
            gate.signal()
            #expect(eventually { server.server.liveness.exhausted == .zero })
            for _ in 1...3 { gate.signal() }
            #expect(clients.compactMap { $0.answer()?.code } == [200, 200, 200, 200])
        }
    }

    /// Some FastCGI servers refuse a version that they do not know, and with it every request over something newer.
    @Test func `the protocol's version does not matter`() throws {
        let versions = [
            "", "HTTP/0.9", "HTTP/1.0", "HTTP/1.1", "http/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3", "HTTP/3.0", "HTTP/4.7",
            "HTTP/-1.999999999999999999999", "INCLUDED", "nonsense", "HTTP/1.1 ", "\u{1}\u{7F}\u{FFFD}",
            String(repeating: "9", count: 4000),
        ]
        try TestServer.with { server in
            let client = try server.client()
            let usual = try #require(client.exchange(Wire.request("GET", "/a?b")))
            #expect(usual.code == 200)
            for version in versions {
                #expect(
                    client.exchange(Wire.request("GET", "/a?b", [("SERVER_PROTOCOL", version)])) == usual, "\(version)")
            }
        }
    }

    /// systemd does, whenever it starts another process with that socket.
    @Test func `a process that makes the shared socket blocking does not stop the server`() throws {
        let server = try TestServer(.small, TestServer.echo)
        try server.start()
        for _ in 1...3 {
            let number = server.listener.descriptor.number
            #expect(fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK) == 0)
            #expect(try server.client().exchange(Wire.request())?.code == 200)
            let iterations = server.server.liveness.iterations
            #expect(eventually { server.server.liveness.iterations > iterations + 1 })
        }
        server.close()
    }

    @Test func `nothing of one request is seen by the next`() throws {
        try TestServer.with { server in
            let client = try server.client()
            let first = client.exchange(
                Wire.request("POST", "/a", [("HTTP_AUTHORIZATION", "Basic x")], body: Array("hello".utf8)))
            #expect(first?.body == "POST /a Basic x 5")
            #expect(client.exchange(Wire.request("GET", "/b"))?.body == "GET /b none 0")
            #expect(client.exchange(Wire.begin() + Wire.record(4) + Wire.record(5))?.code == 400)
        }
    }

    @Test func `a request may be cut at every byte`() throws {
        try TestServer.with { server in
            let client = try server.client()
            let bytes = Wire.request("POST", "/cut", body: Array("hello".utf8))
            for cut in 1..<bytes.count {
                client.send(bytes[..<cut])
                #expect(client.exchange(Array(bytes[cut...]))?.body == "POST /cut none 5")
            }
            for byte in bytes { client.send([byte]) }
            #expect(client.answer()?.body == "POST /cut none 5")
        }
    }

    @Test(arguments: [0, 1, 8191, 8192, 30000, 65535, 65536])
    func `a body arrives whole`(_ size: Int) throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try TestServer.with(.small, { Response(body: $0.body) }) { server in
            let client = try server.client()
            let answer = client.exchange(Wire.request("POST", "/", body: body))
            #expect(answer?.code == 200)
            #expect(answer?.output.suffix(size).elementsEqual(body) == true)
            #expect(client.exchange(Wire.request())?.code == 200)
        }
    }

    @Test func `an answer of many records arrives whole`() throws {
        let body = [UInt8](repeating: 120, count: 3_000_000)
        try TestServer.with(.small, { _ in Response(body: body) }) { server in
            let client = try server.client()
            for _ in 0..<2 { #expect(client.exchange(Wire.request())?.output.count ?? 0 > body.count) }
            #expect(client.exchange(Wire.request("HEAD"))?.output.count ?? 0 < 300)
        }
    }

    @Test(arguments: [("5", "hell"), ("5", "hello!"), ("", "hello"), ("x", "hello"), ("-5", "hello"), ("5", "")])
    func `a body of another length than announced is not served`(_ declared: String, _ body: String) throws {
        let calls = Counter()
        try withCounting(calls) { server in
            let client = try server.client()
            let answer = client.exchange(Wire.request("POST", "/", body: Array(body.utf8), declared: declared))
            #expect(answer?.code == 400)
            #expect(client.exchange(Wire.request())?.code == 200)
        }
        #expect(calls.value == 1)
    }

    @Test func `a body above the limit is answered 413 before all of it is there`() throws {
        try TestServer.with { server in
            let client = try server.client()
            client.send(Wire.head("POST", "/", declared: "10000000"))
            client.send(Wire.record(5, [UInt8](repeating: 1, count: 60000)))
            client.send(Wire.record(5, [UInt8](repeating: 1, count: 60000)))
            #expect(client.answer()?.code == 413)
            // What still comes is swallowed; then both sides close.
            client.send(Wire.record(5, [UInt8](repeating: 1, count: 60000)))
            client.endSending()
            #expect(client.isClosedByServer())
            #expect(try server.client().exchange(Wire.request())?.code == 200)
            #expect(server.server.status.refused == [.bodyTooLarge: 1])
        }
    }

    @Test func `an announced length above the limit is answered 413`() throws {
        try TestServer.with { server in
            for length in ["65537", "99999999999999999999"] {
                let client = try server.client()
                #expect(client.exchange(Wire.request("POST", "/", declared: length))?.code == 413)
            }
        }
    }

    @Test func `a responder that throws becomes an empty 500`() throws {
        struct Boom: Error {}
        try TestServer.with(.small, { _ in throw Boom() }) { server in
            let client = try server.client()
            let answer = client.exchange(Wire.request())
            #expect(answer?.code == 500)
            #expect(answer?.body.isEmpty == true)
            #expect(client.exchange(Wire.request())?.code == 500)
        }
    }

    @Test func `an upload that breaks off does not reach the responder`() throws {
        let calls = Counter()
        try withCounting(calls) { server in
            let client = try server.client()
            client.send(Wire.request("POST", "/", body: Array("hello".utf8)).dropLast(10))
            client.endSending()
            #expect(client.isClosedByServer())
            #expect(eventually { server.server.status.refused == [.connectionCutShort: 1] })
        }
        #expect(calls.value == 0)
    }

    @Test func `a peer that leaves before its answer ends its own request only`() throws {
        let arrived = DispatchSemaphore(value: 0)
        let left = DispatchSemaphore(value: 0)
        let body = [UInt8](repeating: 1, count: 1_000_000)
        try TestServer.with(
            .small,
            { request in
                guard request.path == "/leave" else { return Response() }
                arrived.signal()
                left.wait()
                return Response(body: body)
            }
        ) { server in
            do {
                let client = try server.client()
                client.send(Wire.request("GET", "/leave"))
                #expect(arrived.wait(timeout: .now() + 60) == .success)
            }
            left.signal()
            #expect(eventually { server.server.status.connections == 0 })
            #expect(try server.client().exchange(Wire.request())?.code == 200)
        }
    }

    private func withCounting(_ calls: Counter, _ story: (TestServer) throws -> Void) throws {
        try TestServer.with(
            .small,
            { _ in
                calls.count()
                return Response()
            }, story)
    }
}

/// Counts over threads.
final class Counter: Sendable {
    private let number = Lock(0)
    var value: Int { number.withLock { $0 } }
    func count() { number.withLock { $0 += 1 } }
}
