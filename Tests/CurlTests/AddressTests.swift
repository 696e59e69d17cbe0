// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import HTTPTypes
import Support
import Testing

@testable import Curl

/// As getaddrinfo(3) reads it: by inet_pton(3), and not by code of ours.
private func address(_ text: String) throws -> IPAddress {
    var v4 = sockaddr_in()
    v4.sin_family = sa_family_t(AF_INET)
    if inet_pton(AF_INET, text, &v4.sin_addr) == 1 {
        return try #require(withUnsafeBytes(of: &v4) { $0.baseAddress.flatMap { IPAddress($0, length: 16) } })
    }
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    try #require(inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
    return try #require(withUnsafeBytes(of: &v6) { $0.baseAddress.flatMap { IPAddress($0, length: 28) } })
}

@Suite struct `An address of the public Internet` {
    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
        "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
        "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
        "2000::1", "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "2606:4700:4700::1111",
        "2a00:1450:4001:82a::200a", "3ffe::1", "3fff:1000::1", "3fff:ffff::1",
    ])
    func `is this one`(text: String) throws {
        #expect(try address(text).isPublic)
    }

    @Test(arguments: [
        // This host, this network, unspecified.
        "0.0.0.0", "0.0.0.1", "0.255.255.255", "127.0.0.0", "127.0.0.1", "127.255.255.255", "::", "::1",
        // Private, shared, link-local, the metadata of clouds.
        "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255", "100.64.0.0",
        "100.127.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "febf:ffff::1", "fec0::1",
        "feff::1", "fc00::1", "fdff:ffff::1", "fd00:ec2::254",
        // Protocols, documentation, benchmarks, reserved, groups, broadcast.
        "192.0.0.0", "192.0.0.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.0", "198.19.255.255",
        "192.88.99.1", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.254", "255.255.255.255", "ff02::1",
        "ff0e::1", "100::1", "2001:db8::1", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::1", "3fff:fff:ffff::1",
        "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff:ffff::1", "5f00::1", "4000::1", "8000::1", "1fff:ffff::1",
        // Another address inside: mapped, compatible, translated, NAT64 (also of a public one), 6to4, Teredo.
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::8.8.8.8", "64:ff9b:1::1",
        "2002:7f00:1::1", "2002:808:808::1", "2001::1", "2001:0:7f00:1::1",
    ])
    func `is not this one`(text: String) throws {
        #expect(!(try address(text).isPublic))
    }

    @Test(arguments: ["1.2.3.4", "::1", "2606:4700::1111", "::ffff:1.2.3.4"])
    func `is read from its text`(text: String) throws {
        #expect(try IPAddress(text: text) == address(text))
    }

    @Test(arguments: ["", "1.2.3", "localhost", "[::1]", "1.2.3.4 ", "fe80::1%lo"])
    func `is not any text`(text: String) {
        #expect(IPAddress(text: text) == nil)
    }

    @Test func `is read from what libcurl hands over, of two families and their sizes`() throws {
        #expect(try address("1.2.3.4") == .v4(0x0102_0304))
        #expect(try address("102:304::f") == .v6(0x0102_0304 << 96 | 0xF))
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        withUnsafeBytes(of: &v6) { bytes in
            #expect(bytes.baseAddress.flatMap { IPAddress($0, length: 27) } == nil)
            #expect(bytes.baseAddress.flatMap { IPAddress($0, length: 15) } == nil)
        }
        v6.sin6_family = sa_family_t(AF_UNIX)
        withUnsafeBytes(of: &v6) { #expect($0.baseAddress.flatMap { IPAddress($0, length: 28) } == nil) }
    }
}

@Suite struct `Which addresses may be connected to` {
    @Test func `is a matter of the policy`() {
        let loopback = IPAddress.v4(0x7F00_0001)
        #expect(AddressPolicy.any.allows(loopback, for: "localhost:443"))
        #expect(AddressPolicy.any.allows(nil, for: "localhost:443"))
        let policy = AddressPolicy.publicOnly(except: ["LocalHost:9446"])
        #expect(policy.allows(.v4(0x0101_0101), for: "example.com:443"))
        #expect(policy.allows(loopback, for: "localhost:9446"))
        #expect(!policy.allows(loopback, for: "localhost:443"))
        #expect(!policy.allows(loopback, for: "127.0.0.1:9446"))
        #expect(!policy.allows(nil, for: "example.com:443"))
    }

    @Test func `is a matter of the connection in use, too`() {
        func gate(_ policy: AddressPolicy, _ hostAndPort: String) -> EgressGuard {
            EgressGuard(policy, for: hostAndPort, resends: .any)
        }
        var strict = gate(.publicOnly(except: ["localhost:9446"]), "localhost:9447")
        #expect(!strict.begin(at: "127.0.0.1") && strict.hasOnlyForbidden && strict.sendings == 0)
        #expect(strict.begin(at: "1.1.1.1") && strict.sendings == 1)
        var exempt = gate(.publicOnly(except: ["localhost:9446"]), "localhost:9446")
        #expect(exempt.begin(at: "127.0.0.1") && exempt.sendings == 1 && !exempt.hasOnlyForbidden)
        var free = gate(.any, "localhost:443")
        #expect(free.begin(at: "") && free.sendings == 1)
    }

    @Test(arguments: [
        ("https", "LocalHost", "localhost:443"), ("http", "localhost", "localhost:80"),
        ("https", "localhost:9446", "localhost:9446"), ("https", "[::1]", "[::1]:443"),
        ("https", "[::1]:9446", "[::1]:9446"), ("https", "[FE80::1]:443", "[fe80::1]:443"), ("https", "::1", "::1"),
    ])
    func `is asked for host and port, as the request names them`(scheme: String, authority: String, asked: String)
        throws
    {
        let request = Request(method: .get, scheme: scheme, authority: authority, path: "/")
        #expect(try OutgoingRequest(request, allowPlainHTTP: true, userAgent: "").hostAndPort == asked)
    }

    static let spellings = [
        "localhost", "LOCALHOST", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0x7f000001",
        "017700000001",
        "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "0", "0.0.0.0", "%6cocalhost", "[fe80::1]",
    ]

    @Test(arguments: spellings)
    func `excludes this host, however it is spelt`(host: String) throws {
        let listener = try LoopbackListener()
        let transport = try CurlTransport(.patient(addresses: .publicOnly()))
        for scheme in ["https", "http"] {
            let request = Request(method: .get, scheme: scheme, authority: "\(host):\(listener.port)", path: "/")
            #expect(throws: TransportError.forbiddenAddress) { try transport.respond(to: request) }
        }
    }

    @Test func `is said of a connection that was refused, and not that the host does not answer`() throws {
        #expect(TransportError.forbiddenAddress.isUnsent && !TransportError.forbiddenAddress.isTransient)
        let refusing = try LoopbackPort()
        let authority = "127.0.0.1:\(refusing.number)"
        let transport = try CurlTransport(.patient(addresses: .publicOnly(except: [authority])))
        #expect {
            try transport.respond(to: Request(method: .get, authority: authority, path: "/"))
        } throws: {
            if case TransportError.unreachable = $0 { true } else { false }
        }
    }

    @Test func `has exceptions by host and port, and nothing else may use their connections`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(
                server.options(addresses: .publicOnly(except: [server.authority.uppercased()])))
            var connections: Set<String> = []
            for _ in 0..<3 {
                let response = try transport.respond(to: server.get("/connection"))
                connections.insert(String(decoding: response.body, as: UTF8.self))
                // The connection lives and leads to the very same socket.
                for host in Self.spellings where host.lowercased() != "localhost" && host != "%6cocalhost" {
                    var other = server.get("/connection")
                    other.authority = "\(host):\(server.tlsPort)"
                    #expect(throws: TransportError.forbiddenAddress) { try transport.respond(to: other) }
                }
                var plain = server.get("/hello")
                plain.authority = "localhost:\(server.plainPort)"
                #expect(throws: TransportError.forbiddenAddress) { try transport.respond(to: plain) }
            }
            #expect(connections.count == 1)
        }
    }

    @Test func `has exceptions that do not hold for another spelling of the name`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options(addresses: .publicOnly(except: [server.authority])))
            #expect(try transport.respond(to: server.get("/hello")).status == .ok)
            var dotted = server.get("/hello")
            dotted.authority = "localhost.:\(server.tlsPort)"
            // Forbidden, or unknown where the resolver has no such name; never an answer on the open connection.
            let error = #expect(throws: TransportError.self) { try transport.respond(to: dotted) }
            #expect(error?.isUnsent == true)
        }
    }

    @Test func `is decided for each of many calls at once`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options(addresses: .publicOnly(except: [server.authority])))
            let outcomes = Outcomes()
            for number in 0..<200 {
                var request = server.get("/hello")
                if number % 2 == 1 { request.authority = "127.0.0.1:\(server.tlsPort)" }
                transport.send(request, outcomes.completion(number))
            }
            try outcomes.wait(for: 200)
            #expect(outcomes.errors == (0..<200).map { $0 % 2 == 1 ? .forbiddenAddress : nil })
        }
    }

    @Test func `is not asked where a proxy makes the connections`() throws {
        try LocalServer.run { server in
            var options = server.options(addresses: .publicOnly())
            options.allowPlainHTTP = true
            options.proxy = "http://127.0.0.1:\(server.plainPort)"
            let request = Request(method: .get, scheme: "http", authority: "10.0.0.1", path: "/hello")
            // nginx, taken for a proxy, answers for itself.
            let response = try CurlTransport(options).respond(to: request)
            #expect(response.status == .ok)
        }
    }
}
