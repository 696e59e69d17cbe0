// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// What nginx and the responder make of requests together.
    struct FrontDoorStories {
        private static let challenge = #"Basic realm="AppBackend", charset="UTF-8""#

        @Test func `bad log-ins are 401 with a challenge`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let wrong = WireUser(name: alice.name, password: site.secrets.make("wrong-"))
            let stranger = WireUser(name: "nosuch", password: site.secrets.make("wrong-"))
            for fields: HTTPFields in [
                [:], [.authorization: wrong.authorization], [.authorization: stranger.authorization],
                [.authorization: "Bearer x"], [.authorization: "Basic %%%"],
            ] {
                let answer = try site.call(.get, Path.register, fields: fields)
                #expect(answer.status == .unauthorized)
                #expect(answer.fields[.wwwAuthenticate] == Self.challenge)
                #expect(answer.fields[.contentType] == Problem.contentType)
            }
            #expect(try site.call(.get, Path.register, as: alice).status == .ok)
        }

        @Test(arguments: [66_000, 100_000, 3_000_000])
        func `a body above the limit is 413`(bytes: Int) throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let body = "\"" + String(repeating: "x", count: bytes) + "\""
            // By HTTP/1.1: above 72 KiB nginx answers at once and resets the stream, for which several versions of
            // libcurl drop an answer that came by HTTP/2.
            let answer = try Program.run(
                "/usr/bin/curl",
                [
                    "--silent", "--http1.1", "--cacert", site.scratch.path("tls/cert.pem"), "--header", "Expect:",
                    "--header", "Content-Type: application/json", "--header",
                    "Authorization: \(alice.authorization)", "--data-binary", "@-", "--write-out", " %{http_code}",
                    "https://\(site.authority)\(Path.notifications)",
                ], input: .file(try site.scratch.write(body, to: "body-\(bytes)")))
            #expect(answer.output.hasSuffix(" 413") && answer.output.contains(#""status":413"#))
            #expect(try site.call(.get, Path.notifications, as: alice).body == Array("[]".utf8))
        }

        /// Options of curl, and the status: what nginx refuses before it knows a location.
        static let unread: [(options: [String], status: Int)] = [
            (["--header", "Authorization: Bearer \(String(repeating: "x", count: 16_384))"], 431),
            (["--get", "--data", "handle=\(String(repeating: "x", count: 16_384))"], 414),
            (["--request", "GE T"], 400), (["--header", "Host: a b"], 400),
        ]

        @Test(arguments: unread.indices)
        func `what nginx cannot read is answered as a problem, with the header fields of the site`(row: Int) throws {
            let site = try sharedSite()
            let (options, status) = Self.unread[row]
            let answer = try Program.run(
                "/usr/bin/curl",
                [
                    "--silent", "--http1.1", "--cacert", site.scratch.path("tls/cert.pem"), "--include",
                    "https://\(site.authority)\(Path.register)",
                ] + options)
            #expect(answer.output.hasPrefix("HTTP/1.1 \(status)"))
            #expect(answer.output.contains("Content-Type: \(Problem.contentType)"))
            #expect(
                answer.output.contains("Strict-Transport-Security: ") && answer.output.contains(#""status":\#(status)"#)
            )
        }

        @Test func `the pages of those answers are at no address`() throws {
            let site = try sharedSite()
            for status in [400, 414, 431] {
                #expect(try site.call(.get, "/.app-backend/\(status)").status == .notFound)
            }
        }

        @Test(arguments: ["--http1.1", "--http2"])
        func `a token of the longest length passes the doors`(version: String) throws {
            let site = try sharedSite()
            let answer = try Program.run(
                "/usr/bin/curl",
                [
                    "--silent", version, "--cacert", site.scratch.path("tls/cert.pem"), "--header",
                    "Authorization: Bearer \(String(repeating: "x", count: 8_192))", "--write-out", " %{http_code}",
                    "https://\(site.authority)\(Path.register)",
                ])
            #expect(answer.output.hasSuffix(" 401") && answer.output.contains(#""status":401"#))
        }

        @Test func `a compressed body is refused by name, also where it cannot be read`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let fields: HTTPFields = [.contentEncoding: "gzip", .contentType: "application/json"]
            let answer = try site.call(.post, Path.notifications, as: alice, body: "\u{1F}\u{8B}", fields: fields)
            #expect(answer.status == .unsupportedMediaType && Problem(answer).field == "Content-Encoding")
        }

        @Test(arguments: [Path.health, Path.metrics, Path.register, Path.inbox])
        func `HEAD is answered as GET, without a body`(path: String) throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let answer = try site.call(.head, path, as: alice)
            #expect(answer.status == .ok && answer.body.isEmpty && answer.fields[.contentLength] != "0")
        }

        @Test func `a body of the limit passes the doors`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let text = String(repeating: "x", count: 65_534)
            let id = try site.sendSecure(text, from: alice, to: alice)
            #expect(try site.readSecure(id, as: alice) == text)
        }

        @Test func `a field named Proxy does no harm`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            // A transport that took it for a proxy could not reach the hub: no process listens there.
            let port = try LoopbackPort()
            let proxy = "http://127.0.0.1:\(port.number)"
            let name = try #require(HTTPField.Name("Proxy"))
            let answer = try withExtendedLifetime(port) {
                try site.call(.post, Path.register, as: alice, fields: [name: proxy])
            }
            #expect(answer.status == .ok)
        }

        @Test func `health is for this host alone and needs no password`() throws {
            let site = try sharedSite()
            let answer = try site.call(.get, Path.health)
            #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-store")
            let health = try JSONValue(parsing: answer.body)
            #expect(health["status"]?.string == "ok" && health["store"]?.string == "writable")
            #expect(health["workers"]?["total"]?.integer == 16)
            #expect(try site.call(.post, Path.health).status == .methodNotAllowed)
            // nginx lets no other address through; that of a network card is one, where there is a card.
            for address in try otherAddresses() {
                let transport = try CurlTransport(CurlOptions(allowPlainHTTP: true))
                defer { transport.close() }
                let request = Request(
                    method: .get, scheme: "http", authority: "\(address):\(site.door.port)", path: Path.health)
                #expect(throws: TransportError.self) { try transport.respond(to: request) }
            }
        }

        @Test func `the page comes with its headers, and nothing else beside it`() throws {
            let site = try sharedSite()
            let page = try site.call(.get, "/")
            #expect(page.status == .ok && page.fields[.contentType]?.hasPrefix("text/html") == true)
            #expect(String(decoding: page.body, as: UTF8.self).contains("<!doctype html>"))
            for (name, value) in [
                "Strict-Transport-Security": "max-age=63072000", "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin",
            ] {
                for path in ["/", "/style.css", "/missing"] {
                    let answer = try site.call(.get, path)
                    #expect(answer.fields[try #require(HTTPField.Name(name))] == value, "\(path) \(name)")
                }
            }
            let policy = page.fields[try #require(HTTPField.Name("Content-Security-Policy"))] ?? ""
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(page.fields[.server] == "nginx")
            #expect(try site.call(.get, "/../app-backend.conf").status.code >= 400)
            #expect(try site.call(.post, "/", body: "x").status == .forbidden)
        }

        @Test func `the headers are on the responder's answers as well, each once`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            for answer in [try site.call(.get, Path.register, as: alice), try site.call(.get, Path.register)] {
                #expect(answer.fields[values: try #require(HTTPField.Name("Strict-Transport-Security"))].count == 1)
                let sniff = answer.fields[values: try #require(HTTPField.Name("X-Content-Type-Options"))]
                #expect(sniff == ["nosniff"])
            }
        }

        @Test func `a request in the clear is not redirected with its password`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let plain = "localhost:\(site.door.plainPort)"
            let api = try site.transport.respond(
                to: Request(
                    method: .get, scheme: "http", authority: plain, path: Path.register,
                    fields: [.authorization: alice.authorization]))
            #expect(api.status == .forbidden && api.fields[.location] == nil)
            let page = try site.transport.respond(
                to: Request(method: .get, scheme: "http", authority: plain, path: "/"))
            #expect(page.status == .movedPermanently)
        }

        @Test(arguments: [
            (HTTPRequest.Method.get, "/api/unknown", 404), (.patch, "/api/register/1-1-1", 405),
            (.put, "/api/register", 405), (.get, "/api/register/%ff", 404), (.get, "/api/notifications/%zz", 400),
        ])
        func `what is no route is refused`(method: HTTPRequest.Method, path: String, status: Int) throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let answer = try site.call(method, path, as: alice)
            #expect(answer.status.code == status)
            #expect(status != 405 || answer.fields[.allow] != nil)
        }

        /// Addresses of this host that are not loopback.
        private func otherAddresses() throws -> [String] {
            let names = try Program.run("/bin/hostname", ["-I"]).output.split(whereSeparator: \.isWhitespace)
            return names.map(String.init).filter { !$0.contains(":") && !$0.hasPrefix("127.") }
        }
    }
}
