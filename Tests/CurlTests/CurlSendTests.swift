// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import Glibc
import HTTP
import HTTPTypes
import Support
import Synchronization
import Testing

@Suite struct `Sending without waiting` {
    private func silent(_ listener: LoopbackListener, path: String = "/") -> Request {
        Request(method: .get, scheme: "http", authority: "127.0.0.1:\(listener.port)", path: path)
    }

    @Test func `each of many calls hears of its own answer, once`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            let outcomes = Outcomes()
            for number in 0..<500 {
                transport.send(server.get("/seen", query: "\(number)"), outcomes.completion(number))
            }
            try outcomes.wait(for: 500)
            transport.close()
            let wrong = outcomes.bodies.enumerated().filter { !$1.hasPrefix("GET /seen?\($0)|") }
            #expect(outcomes.bodies.count == 500 && wrong.isEmpty)
            #expect(outcomes.calls.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func `an answer that comes before the request has left counts, however many share the connection`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options(connections: 1))
            let outcomes = Outcomes()
            for number in 0..<1000 {
                let body = [UInt8](repeating: 0, count: 400)
                transport.send(
                    Request(method: .post, authority: server.authority, path: "/hasty", body: body),
                    outcomes.completion(number))
            }
            try outcomes.wait(for: 1000)
            #expect(outcomes.errors.compactMap(\.self) == [])
        }
    }

    @Test func `a server that never answers is left at the deadline, and what it was not sent is called unsent`()
        throws
    {
        // One is sent. The others wait for its connection; but those that get another when that is closed, as their own
        // deadline is a little later.
        try Patience.withMoreTime { timeout in
            let listener = try LoopbackListener()
            let transport = try CurlTransport(
                CurlOptions(timeout: timeout, maximumConnectionsPerHost: 1, allowPlainHTTP: true))
            let outcomes = Outcomes()
            for number in 0..<8 { transport.send(silent(listener, path: "/\(number)"), outcomes.completion(number)) }
            try outcomes.wait(for: 8)
            transport.close()
            let errors = outcomes.errors
            #expect(errors.allSatisfy { $0 == .timedOut || $0 == .noConnectionInTime })
            let arrived = listener.arrivals()
            #expect(outcomes.arrivedUnsent(arrived).isEmpty)
            return !arrived.isEmpty && errors.contains(.noConnectionInTime)
        }
        #expect(TransportError.noConnectionInTime.isUnsent && !TransportError.noConnectionInTime.isTransient)
    }

    @Test func `calls that wait for a connection count as unsent until they are sent or have ended`() throws {
        let listener = try LoopbackListener()
        let transport = try CurlTransport(.patient(connections: 1))
        let outcomes = Outcomes()
        for number in 0..<4 { transport.send(silent(listener), outcomes.completion(number)) }
        let first = HTTPConnection(listener.accept())
        try first.readRequest(bodyBytes: 0)
        #expect(transport.unsent == 3)
        transport.send(Request(method: .get, authority: "a b", path: "/"), outcomes.completion(4))
        #expect(transport.unsent == 3)
        try first.write("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        try first.readRequest(bodyBytes: 0)
        #expect(transport.unsent == 2)
        transport.close()
        #expect(transport.unsent == 0)
    }

    @Test func `a host that does not come to TLS was sent nothing`() throws {
        let listener = try LoopbackListener()
        for options in [
            CurlOptions(timeout: .milliseconds(200)),
            CurlOptions(timeout: Patience.duration, connectTimeout: .milliseconds(200)),
        ] {
            let transport = try CurlTransport(options)
            let outcomes = Outcomes()
            transport.send(
                Request(method: .get, authority: "127.0.0.1:\(listener.port)", path: "/"), outcomes.completion(0))
            try outcomes.wait(for: 1)
            #expect(outcomes.errors == [.noConnectionInTime])
        }
    }

    @Test func `a request that was sent, on a new connection or on a kept one, is not called unsent`() throws {
        try LocalServer.run { server in
            try Patience.withMoreTime { timeout in
                let transport = try CurlTransport(server.options(timeout: timeout))
                return try ["/silent", "/hello", "/silent"].allSatisfy { path in
                    let outcomes = Outcomes()
                    transport.send(server.get(path), outcomes.completion(0))
                    try outcomes.wait(for: 1)
                    return outcomes.errors == [path == "/silent" ? .timedOut : nil]
                }
            }
        }
    }

    @Test func `a request that broke with its connection is not called unsent, though no other can be made`() throws {
        var listener: LoopbackListener? = try LoopbackListener()
        let port = try #require(listener?.port)
        let transport = try CurlTransport(.patient())
        func post(_ outcomes: Outcomes) {
            transport.send(
                Request(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/", body: [0x2E]),
                outcomes.completion(0))
        }
        let (first, second) = (Outcomes(), Outcomes())
        post(first)
        let connection = HTTPConnection(try #require(listener?.accept()))
        try connection.readRequest(bodyBytes: 1)
        try connection.write("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        try first.wait(for: 1)
        #expect(first.errors == [nil])
        listener = nil
        post(second)
        try connection.readRequest(bodyBytes: 1)
        connection.end()
        try second.wait(for: 1)
        #expect(second.errors.first??.isUnsent == false)
    }

    @Test(arguments: [(HTTPRequest.Method.post, 1), (.get, 2)])
    func `what a kept connection may have carried is sent again only where that does nothing twice`(
        _ method: HTTPRequest.Method, _ times: Int
    ) throws {
        try LocalServer.run { server in
            var options = server.options()
            options.allowPlainHTTP = true
            let transport = try CurlTransport(options)
            for path in ["/hello", "/drop"] {
                let outcomes = Outcomes()
                let authority = "127.0.0.1:\(server.plainPort)"
                let first = path == "/hello"
                transport.send(
                    Request(method: first ? .get : method, scheme: "http", authority: authority, path: path),
                    outcomes.completion(0))
                try outcomes.wait(for: 1)
                #expect(outcomes.errors.map(\.?.isUnsent) == [first ? nil : false])
            }
            #expect(server.drops(atLeast: times).count == times)
        }
    }

    @Test(arguments: [(HTTPRequest.Method.post, 1), (.get, 2)])
    func `over HTTP/2 as well nothing is sent again that may have been taken`(
        _ method: HTTPRequest.Method, _ times: Int
    ) throws {
        try LocalServer.run { server in
            let proxy = try CuttingProxy(to: server.tlsPort)
            defer { proxy.stop() }
            let transport = try CurlTransport(server.options())
            for path in ["/hello", "/drop"] {
                if path == "/drop" { proxy.cut { !server.drops.isEmpty } }
                let outcomes = Outcomes()
                transport.send(
                    Request(
                        method: path == "/hello" ? .get : method, scheme: "https",
                        authority: "localhost:\(proxy.port)", path: path), outcomes.completion(0))
                try outcomes.wait(for: 1)
                let isAnswered = path == "/hello" || times == 2
                #expect(outcomes.errors.map(\.?.isUnsent) == [isAnswered ? nil : false])
            }
            #expect(server.drops(atLeast: times).count == times)
        }
    }

    @Test func `what a proxy says that has made the way is no answer, also when it says that this is all of it`()
        throws
    {
        let proxy = try LoopbackListener()
        let transport = try CurlTransport(.patient(proxy: "http://127.0.0.1:\(proxy.port)"))
        let outcomes = Outcomes()
        transport.send(Request(method: .get, authority: "localhost:1", path: "/"), outcomes.completion(0))
        let client = HTTPConnection(proxy.accept())
        try client.readRequest(bodyBytes: 0)
        try client.write("HTTP/1.1 200 Connection established\r\nContent-Length: 0\r\n\r\n")
        // The first byte of TLS: the client has read the answer, and goes on.
        #expect(try client.readByte() == 0x16)
        client.end()
        try outcomes.wait(for: 1)
        #expect(outcomes.errors.first??.kind == "insecure")
    }

    @Test func `a request that is refused at once completes before the call returns`() throws {
        let listener = try LoopbackListener()
        let transport = try CurlTransport(.patient(maximumQueued: 2))
        let outcomes = Outcomes()
        for number in 0..<2 { transport.send(silent(listener), outcomes.completion(number)) }
        #expect(outcomes.calls.isEmpty)
        transport.send(silent(listener), outcomes.completion(2))
        transport.send(Request(method: .get, authority: "a b", path: "/"), outcomes.completion(3))
        #expect(outcomes.calls == [2: 1, 3: 1])
        #expect(outcomes.errors.first == .overloaded)
        #expect(outcomes.errors.last??.isUnsent == true)
    }

    @Test func `closing ends every call with cancelled, and those that come later`() throws {
        let listener = try LoopbackListener()
        let transport = try CurlTransport(.patient())
        let outcomes = Outcomes()
        for number in 0..<100 { transport.send(silent(listener), outcomes.completion(number)) }
        transport.close()
        transport.send(silent(listener), outcomes.completion(100))
        // No waiting: when close returns, everybody was told.
        #expect(outcomes.calls == Dictionary(uniqueKeysWithValues: (0...100).map { ($0, 1) }))
        #expect(outcomes.errors == Array(repeating: .cancelled, count: 101))
    }

    @Test func `calls that race with closing complete once`() throws {
        try LocalServer.run { server in
            for _ in 0..<20 {
                let transport = try CurlTransport(server.options())
                let outcomes = Outcomes()
                let hello = server.get("/hello")
                let sender = Thread {
                    for number in 0..<200 { transport.send(hello, outcomes.completion(number)) }
                }
                sender.start()
                try outcomes.wait(for: 10)
                transport.close()
                try outcomes.wait(for: 190)
                #expect(outcomes.calls == Dictionary(uniqueKeysWithValues: (0..<200).map { ($0, 1) }))
                #expect(outcomes.errors.allSatisfy { $0 == nil || $0 == .cancelled })
            }
        }
    }

    @Test func `a completion may send the next request, also where the queue is full`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options(maximumQueued: 1))
            let outcomes = Outcomes()
            let hello = server.get("/hello")
            @Sendable func chain(_ number: Int) {
                transport.send(hello) { result in
                    outcomes.completion(number)(result)
                    if number < 50 { chain(number + 1) }
                }
            }
            chain(0)
            try outcomes.wait(for: 51)
            #expect(outcomes.errors == Array(repeating: nil, count: 51))
        }
    }

    @Test func `a completion may close the transport, while another thread closes it too`() throws {
        let listener = try LoopbackListener()
        for _ in 0..<20 {
            let transport = try CurlTransport(CurlOptions(timeout: .milliseconds(1), allowPlainHTTP: true))
            let outcomes = Outcomes()
            transport.send(silent(listener)) { result in
                transport.close()
                outcomes.completion(0)(result)
            }
            transport.close()
            try outcomes.wait(for: 1)
        }
    }

    @Test func `the last reference may end on the transfer thread, and the thread ends too`() async {
        await #expect(processExitsWith: .success) {
            func threads() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            let listener = try LoopbackListener()
            let request = Request(method: .get, scheme: "http", authority: "127.0.0.1:\(listener.port)", path: "/")
            // Whatever Foundation and libcurl start for themselves is there after the first.
            var before = 0
            for round in 0..<19 {
                let outcomes = Outcomes()
                func sendAndForget() throws {
                    let transport = try CurlTransport(CurlOptions(timeout: .milliseconds(100), allowPlainHTTP: true))
                    transport.send(request) { result in
                        withExtendedLifetime(transport) { outcomes.completion(0)(result) }
                    }
                }
                try sendAndForget()
                try outcomes.wait(for: 1)
                // On a busy host a deadline may come before the connection.
                #expect([[.timedOut], [.noConnectionInTime]].contains(outcomes.errors))
                if round == 0 { before = try threads() }
            }
            // Not one of every second; others' come and go.
            #expect(try Deadline.poll(seconds: Patience.seconds) { try threads() < before + 9 })
        }
    }
}
