// SPDX-License-Identifier: Apache-2.0
import Curl
import HTTP
import Testing

@Suite struct `Bursts to one host` {
    @Test func `a burst to one host shares one connection`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options(connections: 8))
            let outcomes = Outcomes()
            // As many as libcurl takes a connection to carry before the server has said how many.
            for number in 0..<100 { transport.send(server.get("/connection"), outcomes.completion(number)) }
            try outcomes.wait(for: 100)
            #expect(outcomes.bodies.count == 100)
            #expect(Set(outcomes.bodies).count == 1)
            for number in 100..<300 { transport.send(server.get("/connection"), outcomes.completion(number)) }
            try outcomes.wait(for: 200)
            #expect(Set(outcomes.bodies).count == 1)
        }
    }

    @Test func `a burst larger than a connection carries opens few more`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options(connections: 4))
            let outcomes = Outcomes()
            for number in 0..<1000 { transport.send(server.get("/connection"), outcomes.completion(number)) }
            try outcomes.wait(for: 1000)
            #expect(outcomes.bodies.count == 1000)
            #expect(Set(outcomes.bodies).count <= 4)
        }
    }

    @Test func `a server that takes few at once gets every one of a burst, once, and no one sleeps meanwhile`() throws {
        try LocalServer.run { server in
            // No timer may wake a transfer that everybody has forgotten before the test has given up.
            var options = server.options(timeout: Patience.duration * 3, connections: 2)
            options.connectTimeout = Patience.duration * 3
            for round in 1...25 {
                let transport = try CurlTransport(options)
                defer { transport.close() }
                let outcomes = Outcomes()
                for number in 0..<60 { transport.send(server.take(), outcomes.completion(number)) }
                try outcomes.wait(for: 60)
                #expect(outcomes.errors.compactMap(\.self) == [])
                #expect(server.drops(atLeast: round * 60).count == round * 60)
            }
        }
    }

    @Test func `what is more than may be under way waits, and is answered`() throws {
        try LocalServer.run { server in
            var options = server.options(timeout: Patience.duration * 3)
            options.maximumTransfers = 7
            let transport = try CurlTransport(options)
            let outcomes = Outcomes()
            for number in 0..<500 {
                transport.send(server.get("/seen", query: "\(number)"), outcomes.completion(number))
            }
            try outcomes.wait(for: 500)
            #expect(outcomes.statuses.allSatisfy { $0 == 200 })
        }
    }

    @Test func `what waits for others that are never answered ends at its own deadline, unsent`() throws {
        let listener = try LoopbackListener()
        var options = CurlOptions(timeout: .milliseconds(250), allowPlainHTTP: true)
        options.maximumTransfers = 1
        let transport = try CurlTransport(options)
        let outcomes = Outcomes()
        for number in 0..<8 {
            let request = Request(
                method: .get, scheme: "http", authority: "127.0.0.1:\(listener.port)", path: "/\(number)")
            transport.send(request, outcomes.completion(number))
        }
        try outcomes.wait(for: 8)
        transport.close()
        let errors = outcomes.errors
        // A call that was made later than the others may have time left when the first has ended.
        #expect(errors.allSatisfy { $0 == .timedOut || $0 == .noConnectionInTime })
        #expect(errors.contains(.noConnectionInTime))
        #expect(outcomes.arrivedUnsent(listener.arrivals()).isEmpty)
        #expect(outcomes.calls.values.allSatisfy { $0 == 1 })
    }
}
