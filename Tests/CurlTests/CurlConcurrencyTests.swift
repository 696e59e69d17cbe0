// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import Glibc
import HTTP
import HTTPTypes
import Support
import Testing

import class System.Lock

/// `setenv(3)`, for a process of its own.
func setEnvironment(_ name: String, _ value: String) {
    setenv(name, value, 1)
}

/// Runs `body` on that many threads at once and returns when the last has ended.
private func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = (0..<count).map { index in
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            body(index)
            ended.signal()
        }
        thread.start()
        return ended
    }
    threads.forEach { $0.wait() }
}

private func outcome(_ transport: CurlTransport, _ request: Request) -> Result<Response, TransportError> {
    Result { () throws(TransportError) in try transport.respond(to: request) }
}

@Suite struct `Many calls at once` {
    @Test func `64 callers share few connections, and each gets its own answer`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options(connections: 2))
            let connections = Lock<Set<String>>([])
            let wrong = Lock<[String]>([])
            let authority = server.authority
            inParallel(64) { index in
                for round in 0..<4 {
                    let body = "caller \(index) round \(round)"
                    let echo = Request(method: .post, authority: authority, path: "/echo", body: Array(body.utf8))
                    let connection = Request(method: .get, authority: authority, path: "/connection")
                    switch (outcome(transport, echo), outcome(transport, connection)) {
                    case (.success(let one), .success(let other)):
                        let answer = String(decoding: one.body, as: UTF8.self)
                        if answer != "POST||" + body { wrong.withLock { $0.append(answer) } }
                        connections.withLock { _ = $0.insert(String(decoding: other.body, as: UTF8.self)) }
                    case (let one, let other): wrong.withLock { $0.append("\(one) \(other)") }
                    }
                }
            }
            #expect(wrong.withLock { $0 } == [])
            #expect((1...2).contains(connections.withLock { $0.count }))
        }
    }

    @Test func `a server that never answers is left at the deadline`() throws {
        let listener = try LoopbackListener()
        let transport = try CurlTransport(CurlOptions(timeout: .milliseconds(200), allowPlainHTTP: true))
        for scheme in ["http", "https"] {
            let request = Request(method: .get, scheme: scheme, authority: "127.0.0.1:\(listener.port)", path: "/")
            #expect(throws: TransportError.timedOut) { try transport.respond(to: request) }
        }
    }

    @Test func `a call that waits for a connection is left at its deadline too`() throws {
        let listener = try LoopbackListener()
        let transport = try CurlTransport(
            CurlOptions(timeout: .milliseconds(300), maximumConnectionsPerHost: 1, allowPlainHTTP: true))
        let request = Request(method: .get, scheme: "http", authority: "127.0.0.1:\(listener.port)", path: "/")
        let outcomes = Lock<[TransportError?]>([])
        inParallel(8) { _ in
            let result = outcome(transport, request)
            outcomes.withLock { outcomes in
                if case .failure(let error) = result { outcomes.append(error) } else { outcomes.append(nil) }
            }
        }
        #expect(outcomes.withLock { $0 } == Array(repeating: .timedOut, count: 8))
    }

    @Test func `abandoned calls leave a transport that works`() throws {
        try LocalServer.run { server in
            let listener = try LoopbackListener()
            let silent = Request(method: .get, scheme: "http", authority: "127.0.0.1:\(listener.port)", path: "/")
            try Patience.withMoreTime { timeout in
                var options = server.options(timeout: timeout)
                options.allowPlainHTTP = true
                let transport = try CurlTransport(options)
                for _ in 0..<3 {
                    inParallel(16) { _ in _ = outcome(transport, silent) }
                }
                return (try? transport.respond(to: server.get("/hello")).status) == .ok
            }
        }
    }

    @Test func `one call more than the queue holds is refused at once`() throws {
        let listener = try LoopbackListener()
        let transport = try CurlTransport(.patient(maximumQueued: 2))
        let request = Request(method: .get, scheme: "http", authority: "127.0.0.1:\(listener.port)", path: "/")
        let errors = Lock<[TransportError?]>([])
        inParallel(3) { _ in
            let result = outcome(transport, request)
            errors.withLock { errors in
                if case .failure(let error) = result { errors.append(error) } else { errors.append(nil) }
            }
            // The refused one comes first; the other two sleep until it closes the transport.
            if case .failure(.overloaded) = result { transport.close() }
        }
        #expect(errors.withLock { $0 } == [.overloaded, .cancelled, .cancelled])
    }
}

@Suite struct `Closing a transport` {
    @Test func `wakes everybody with cancelled`() throws {
        let listener = try LoopbackListener()
        let transport = try CurlTransport(.patient(connections: 4))
        let request = Request(method: .get, scheme: "http", authority: "127.0.0.1:\(listener.port)", path: "/")
        let closer = Thread {
            // The first connection is there: at least one call is under way, the others are or come too late.
            close(listener.accept())
            transport.close()
        }
        closer.start()
        let outcomes = Lock<[TransportError?]>([])
        inParallel(16) { _ in
            let result = outcome(transport, request)
            outcomes.withLock { outcomes in
                if case .failure(let error) = result { outcomes.append(error) } else { outcomes.append(nil) }
            }
        }
        let errors = outcomes.withLock { $0 }
        #expect(errors.count == 16)
        // The call whose connection the test itself closed may see that first.
        #expect(errors.count { $0 == .cancelled } >= 15)
        #expect(throws: TransportError.cancelled) { try transport.respond(to: request) }
    }

    @Test func `twice, and by two at once, changes nothing`() throws {
        let transport = try CurlTransport(CurlOptions())
        inParallel(4) { _ in transport.close() }
        transport.close()
        #expect(throws: TransportError.cancelled) {
            try transport.respond(to: Request(method: .get, authority: "localhost", path: "/"))
        }
    }

    @Test func `opening and closing many leaves no descriptor and no thread`() async {
        await #expect(processExitsWith: .success) {
            func entries(_ folder: String) throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: folder).count
            }
            try LocalServer.run { server in
                func once() throws {
                    let transport = try CurlTransport(server.options())
                    #expect(try transport.respond(to: server.get("/hello")).status == .ok)
                    transport.close()
                }
                try once()
                let before = try (entries("/proc/self/fd"), entries("/proc/self/task"))
                for _ in 0..<40 { try once() }
                // Not one of every second. Foundation's and libdispatch's come and go, and a thread that was waited for
                // is listed for a moment longer.
                let areFewer = try Deadline.poll(seconds: Patience.seconds) {
                    let now = try (entries("/proc/self/fd"), entries("/proc/self/task"))
                    return now.0 < before.0 + 20 && now.1 < before.1 + 20
                }
                #expect(areFewer)
            }
        }
    }
}
