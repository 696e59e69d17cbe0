// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import Support
import Testing

extension WireTests {
    /// A client's address is what nginx has seen and never what the client says.
    struct ClientAddressStories {
        /// Names that somewhere mean the client's address, a way into CGI's variables, or the request's id.
        private static let names = [
            "X-Forwarded-For", "X-Real-IP", "X-Client-IP", "X-Remote-Addr", "X-Original-Forwarded-For",
            "True-Client-IP",
            "CF-Connecting-IP", "Client-IP", "Remote-Addr", "Remote_Addr", "REMOTE_ADDR", "HTTP_REMOTE_ADDR",
            "Request-Id",
            "Request_Id", "REQUEST_ID", "X-Request-Id", "FCGI_ROLE", "Server-Addr", "App-Backend-Prefix",
            "APP_BACKEND_PREFIX",
        ]

        /// What could be one of nginx's own.
        private static let forgedID = String(repeating: "0bad", count: 8)

        /// All of them with that value; those of ids with one that an id may have.
        private static func forged(_ value: String) -> HTTPFields {
            var fields = HTTPFields(
                Dictionary(
                    uniqueKeysWithValues: names.map { ($0, $0.lowercased().contains("request") ? forgedID : value) }))
            for name in HTTPField.Name("Forwarded").map({ [$0] }) ?? [] { fields[name] = "for=\(value);by=\(value)" }
            return fields
        }

        /// By the locations of the backend and of the hub.
        private static let paths = [
            "/api/register", "/api/notifications", "/api/config", "/health", "/metrics",
            "/\(WireSite.hubName)/messages/",
        ]

        @Test(arguments: [false, true])
        func `no field becomes the address or the request's id`(passesUnderscores: Bool) throws {
            let edits = passesUnderscores ? [Self.edit("underscores_in_headers on;")] : []
            try DoorSite.run(
                respond: { request in
                    let text = "\(request.remoteAddress ?? "none")\n\(request.id)\n\(request.authority)"
                    return Response(fields: [.contentType: "text/plain"], body: Array(text.utf8))
                },
                changing: {
                    $0.servesHub = true
                    $0.edits = edits
                }
            ) { site, _ in
                for path in Self.paths {
                    let usual = try site.lines(path)
                    let lines = try site.lines(path, fields: Self.forged("203.0.113.66"))
                    try #require(usual.count == 3 && lines.count == 3, "\(path)")
                    #expect(lines[0] == "127.0.0.1" && lines[2] == site.authority, "\(path)")
                    #expect(lines[1].wholeMatch(of: /[0-9a-f]{32}/) != nil && lines[1] != usual[1], "\(path)")
                    #expect(lines[1] != Self.forgedID, "\(path)")
                }
            }
        }

        @Test func `no field makes a client local behind nginx`() throws {
            try DoorSite.run(changing: { $0.edits = [Self.realAddress] }) { site, _ in
                var fields = Self.forged("127.0.0.1")
                fields[try Self.realName] = "203.0.113.7"
                for path in [Path.health, Path.metrics] {
                    #expect(try site.call(.get, path).status == .ok)
                    #expect(try site.call(.get, path, fields: fields).status == .forbidden)
                }
            }
        }

        @Test func `who is local, who is guessing and who is logged goes by the real address`() async throws {
            // As where an operator has opened the location to monitors elsewhere: the responder looks as well.
            let opened = FrontDoor.Edit(
                file: "snippets/app-backend-monitor.conf", text: "deny  all;", replacement: "allow all;")
            try await WireSite.run(WireSite.Options(edits: [Self.realAddress, opened])) { site in
                func status(_ path: String, from address: String, claiming claim: String, as user: WireUser) throws
                    -> Int
                {
                    var fields = Self.forged(claim)
                    fields[try Self.realName] = address
                    return try site.call(.get, path, as: user, fields: fields).status.code
                }
                let alice = try site.addUser("alice")
                let guess = WireUser(name: alice.name, password: site.secrets.make("guess-"))
                for path in [Path.health, Path.metrics] {
                    #expect(try status(path, from: "203.0.113.7", claiming: "127.0.0.1", as: alice) == 404)
                }
                // Each guess claims to come from elsewhere, and none of the claims may be in a log. Ten in a minute are
                // heard, which are more than eleven where a minute is over before that.
                var (number, answer) = (10, 401)
                while answer == 401, number < 250 {
                    let claim = "198.51.100.\(number)"
                    site.secrets.add(claim)
                    answer = try status(Path.register, from: "203.0.113.7", claiming: claim, as: guess)
                    number += 1
                }
                #expect(answer == 429 && number > 20)
                #expect(try status(Path.register, from: "203.0.113.8", claiming: "198.51.100.10", as: guess) == 401)
                let log = "\(site.door.folder)/log/app-backend.log"
                #expect(
                    Deadline.poll(seconds: 60) {
                        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                        return text.contains(#""address":"203.0.113.7""#) && text.contains(#""address":"203.0.113.8""#)
                    })
            }
        }

        /// The module by which nginx believes a proxy that it knows gives the tests clients elsewhere.
        private static let realAddress = edit("set_real_ip_from 127.0.0.1; real_ip_header Test-Address;")

        private static var realName: HTTPField.Name { get throws { try #require(HTTPField.Name("Test-Address")) } }

        private static func edit(_ line: String) -> FrontDoor.Edit {
            FrontDoor.Edit(
                file: "sites/site.conf", text: "server_tokens off;", replacement: "server_tokens off; \(line)")
        }
    }
}
