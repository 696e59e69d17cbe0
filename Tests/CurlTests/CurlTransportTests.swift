// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import Glibc
import HTTP
import HTTPTypes
import Support
import Testing

private func text(_ response: Response) -> String { String(decoding: response.body, as: UTF8.self) }

private let one = HTTPField.Name("X-One")
private let two = HTTPField.Name("X-Two")
private let custom = HTTPField.Name("X-Custom")

@Suite struct `A call to a server` {
    @Test func `status, fields and body arrive`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            let response = try transport.respond(to: server.get("/hello"))
            #expect(response.status == .ok)
            #expect(text(response) == "hello")
            #expect(response.fields[try #require(one)] == "1")
            #expect(response.fields[try #require(two)] == "a b")
            #expect(response.fields[.contentType] == "text/plain")
        }
    }

    @Test func `until when the server's certificate is good is noted where that is wanted`() throws {
        try LocalServer.run { server in
            var options = server.options()
            let careless = try CurlTransport(options)
            _ = try careless.respond(to: server.get("/hello"))
            #expect(careless.certificateExpiry == nil)

            options.notesCertificate = true
            let transport = try CurlTransport(options)
            #expect(transport.certificateExpiry == nil)
            // The second finds a connection, and has seen no certificate of its own.
            for _ in 1...2 {
                _ = try transport.respond(to: server.get("/hello"))
                let expiry = try #require(transport.certificateExpiry)
                // It was made for two days, a moment ago.
                #expect(abs(expiry - Int64(time(nil)) - 2 * 86_400) < 600)
            }
        }
    }

    @Test func `HTTP/2 is spoken`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            #expect(try text(transport.respond(to: server.get("/protocol"))) == "HTTP/2.0")
        }
    }

    @Test(arguments: [(idle: 45, isNew: false), (idle: 1, isNew: true)])
    func `a connection is used again unless it was idle for longer than allowed`(idle: Int, isNew: Bool) throws {
        try LocalServer.run { server in
            var options = server.options()
            options.maximumIdleSeconds = idle
            let transport = try CurlTransport(options)
            let first = try text(transport.respond(to: server.get("/connection")))
            // libcurl counts whole seconds.
            usleep(2_100_000)
            #expect((try text(transport.respond(to: server.get("/connection"))) != first) == isNew)
        }
    }

    @Test func `a connection whose peer falls silent is ended by the kernel`() throws {
        try LocalServer.run { server in
            var options = server.options()
            // A number that no other connection of this process has, and time enough.
            options.connectTimeout = .milliseconds(654_321)
            let transport = try CurlTransport(options)
            _ = try transport.respond(to: server.get("/hello"))
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                Int32($0)
            }
            let timeouts = descriptors.map { number -> UInt32 in
                var milliseconds: UInt32 = 0
                var size = socklen_t(MemoryLayout<UInt32>.size)
                getsockopt(number, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, &size)
                return milliseconds
            }
            #expect(timeouts.contains(654_321))
            transport.close()
        }
    }

    @Test func `method, target and fields are sent as given, and no Expect`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            var request = server.get("/seen", query: "api-version=2020-06&%24filter=a+eq+%27b%27")
            request.fields[try #require(custom)] = "value; with \"signs\""
            #expect(
                try text(transport.respond(to: request))
                    == "GET /seen?api-version=2020-06&%24filter=a+eq+%27b%27|app-backend|value; with \"signs\"|")
            request.method = .delete
            request.fields[.userAgent] = "mine/1"
            request.fields[try #require(HTTPField.Name("Expect"))] = "100-continue"
            #expect(try text(transport.respond(to: request)).hasPrefix("DELETE /seen?"))
            #expect(try text(transport.respond(to: request)).hasSuffix("|mine/1|value; with \"signs\"|"))
        }
    }

    static let bodies: [(HTTPRequest.Method, String, String?, String)] = [
        (.post, "body", "text/plain", "POST|text/plain|body"),
        (.put, "{}", "application/json", "PUT|application/json|{}"),
        (.post, "", nil, "POST||"),
        (.put, "", nil, "PUT||"),
        (.patch, "x", nil, "PATCH||x"),
        (.delete, "why", nil, "DELETE||why"),
    ]

    @Test(arguments: bodies)
    func `bodies are sent whole, with no content type but the caller's`(
        method: HTTPRequest.Method, body: String, type: String?, expected: String
    ) throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            var request = Request(method: method, authority: server.authority, path: "/echo", body: Array(body.utf8))
            request.fields[.contentType] = type
            #expect(try text(transport.respond(to: request)) == expected)
        }
    }

    @Test func `what one call sets is forgotten by the next on the same handle`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            var request = Request(method: .post, authority: server.authority, path: "/echo", body: Array("b".utf8))
            request.fields[try #require(custom)] = "secret"
            _ = try transport.respond(to: request)
            #expect(try text(transport.respond(to: server.get("/seen"))) == "GET /seen|app-backend||")
        }
    }

    @Test(arguments: [("/teapot", 418, "short and stout"), ("/nothing", 204, ""), ("/absent", 404, nil)])
    func `an unpleasant status is an answer, not an error`(path: String, status: Int, body: String?) throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            let response = try transport.respond(to: server.get(path))
            #expect(response.status.code == status)
            if let body { #expect(text(response) == body) }
        }
    }

    @Test func `a HEAD request has fields and no body`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            let response = try transport.respond(
                to: Request(method: .head, authority: server.authority, path: "/large"))
            #expect(response.fields[.contentLength] == "200000")
            #expect(response.body.isEmpty)
        }
    }

    @Test func `a redirect is not followed`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            let response = try transport.respond(to: server.get("/redirect"))
            #expect(response.status.code == 302)
            #expect(response.fields[.location] == "https://\(server.authority)/hello")
        }
    }
}

@Suite struct `What a transport refuses` {
    @Test func `a certificate of an unknown authority`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(.patient())
            #expect {
                try transport.respond(to: server.get("/hello"))
            } throws: {
                if case TransportError.insecure(_, .untrustedIssuer) = $0 { true } else { false }
            }
        }
    }

    @Test func `every certificate, where the file of trusted ones cannot be read`() throws {
        try LocalServer.run { server in
            var options = server.options()
            options.caFile = "/nowhere.pem"
            let outcomes = Outcomes()
            let transport = try CurlTransport(options)
            transport.send(server.get("/hello"), outcomes.completion(0))
            try outcomes.wait(for: 1)
            #expect(outcomes.errors.first??.fault == .missingTrust)
            #expect(outcomes.errors.first??.isUnsent == true)
        }
    }

    @Test func `a certificate of another host`() throws {
        try LocalServer.run { server in
            let transport = try CurlTransport(server.options())
            var request = server.get("/hello")
            request.authority = "127.0.0.1:\(server.tlsPort)"
            #expect {
                try transport.respond(to: request)
            } throws: {
                if case TransportError.insecure(_, .otherHost) = $0 { true } else { false }
            }
        }
    }

    @Test func `plain HTTP, unless it is allowed`() throws {
        try LocalServer.run { server in
            let request = Request(
                method: .get, scheme: "http", authority: "127.0.0.1:\(server.plainPort)", path: "/hello")
            var options = server.options()
            #expect {
                try CurlTransport(options).respond(to: request)
            } throws: {
                if case TransportError.malformedRequest = $0 { true } else { false }
            }
            options.allowPlainHTTP = true
            let allowing = try CurlTransport(options)
            #expect(try text(allowing.respond(to: request)) == "plain")
        }
    }

    @Test func `a body above the limit, and takes one at the limit`() throws {
        try LocalServer.run { server in
            let tooSmall = try CurlTransport(server.options(maximumResponseBytes: 199_999))
            #expect(throws: TransportError.tooLarge) { try tooSmall.respond(to: server.get("/large")) }
            #expect(try text(tooSmall.respond(to: server.get("/hello"))) == "hello")
            let enough = try CurlTransport(server.options(maximumResponseBytes: 200_000))
            #expect(try enough.respond(to: server.get("/large")).body.count == 200_000)
        }
    }

    @Test(arguments: [
        ("ftp", "localhost", "/", ""), ("", "localhost", "/", ""), ("file", "", "/etc/passwd", ""),
        ("https", "", "/", ""), ("https", "user:password@localhost", "/", ""), ("https", "localhost/x", "/", ""),
        ("https", "local host", "/", ""), ("https", "localhost\r\nX: y", "/", ""),
        ("https", "localhost", "", ""), ("https", "localhost", "hello", ""), ("https", "localhost", "/a b", ""),
        ("https", "localhost", "/a\r\nX: y", ""), ("https", "localhost", "/a#b", ""), ("https", "localhost", "/é", ""),
        ("https", "localhost", "/a?b", "c"), ("https", "localhost", "/a", "b c"), ("https", "localhost", "/a", "b\n"),
        ("https", "localhost", "/a", "b\0"), ("https", "localhost", "/a", "b#c"),
    ])
    func `what is no URL, before anything is sent`(
        scheme: String, authority: String, path: String, query: String
    ) throws {
        let transport = try CurlTransport(CurlOptions(allowPlainHTTP: true))
        #expect {
            try transport.respond(
                to: Request(method: .get, scheme: scheme, authority: authority, path: path, query: query))
        } throws: {
            if case TransportError.malformedRequest = $0 { true } else { false }
        }
    }

    @Test func `a port without a listener, without a word of the URL`() throws {
        let refusing = try LoopbackPort()
        let transport = try CurlTransport(.patient())
        let request = Request(
            method: .get, authority: "127.0.0.1:\(refusing.number)", path: "/secret-path", query: "token=secret-token")
        #expect {
            try transport.respond(to: request)
        } throws: { error in
            guard case TransportError.unreachable = error else { return false }
            return !"\(error)".contains("secret")
        }
    }

    @Test func `the environment's proxy`() async {
        await #expect(processExitsWith: .success) {
            // No process listens there, so a transport that obeyed would fail.
            let refusing = try LoopbackPort()
            let proxy = "http://127.0.0.1:\(refusing.number)"
            for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy"] {
                setEnvironment(name, proxy)
            }
            try LocalServer.run { server in
                let transport = try CurlTransport(server.options())
                #expect(try transport.respond(to: server.get("/hello")).status == .ok)
                // The same without the environment, by configuration: the setting does reach libcurl.
                var options = server.options()
                options.proxy = proxy
                #expect(throws: TransportError.self) { try CurlTransport(options).respond(to: server.get("/hello")) }
            }
            withExtendedLifetime(refusing) {}
        }
    }
}
