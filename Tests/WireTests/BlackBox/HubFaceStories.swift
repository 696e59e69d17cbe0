// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import HTTPTypes
import HubContract
import NotificationHub
import Testing
import Text

extension WireTests {
    /// The built-in hub as other backends meet it: over TLS, through nginx, with nothing but a signature.
    struct HubFaceStories {
        private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

        @Test(arguments: Contract.rules) func `a client keeps its promises through nginx and FastCGI`(
            rule: Contract
        ) throws {
            try rule.run(sharedSite().hubClient())
        }

        @Test func `a good token opens the hub`() throws {
            let site = try sharedSite()
            let answer = try ask(site, token: token(site))
            #expect(answer.status == .created)
            #expect(answer.fields[.location]?.hasPrefix("https://\(site.hubAuthority)/\(WireSite.hubName)/") == true)
        }

        @Test func `no token, a wrong one, an expired one and one for elsewhere are 401 in XML`() throws {
            let site = try sharedSite()
            let other = SharedAccessKey(
                name: site.hubKey.name, key: Secret(site.secrets.make("another-key-")), rights: .full)
            let stranger = SharedAccessKey(name: "stranger", key: site.hubKey.key, rights: .full)
            let expired = try token(site, expiry: Self.now - 1)
            let tokens: [String?] = [
                nil, "SharedAccessSignature nonsense", try token(site, key: other), try token(site, key: stranger),
                expired, try token(site, host: "elsewhere.example"), try token(site, hub: "another-hub"),
                try token(site) + "x",
            ]
            for token in tokens {
                let answer = try ask(site, token: token)
                let body = String(decoding: answer.body, as: UTF8.self)
                #expect(answer.status == .unauthorized)
                #expect(answer.fields[.contentType]?.hasPrefix("application/xml") == true)
                #expect(body.contains("<Code>401</Code>"))
                #expect(!body.contains("another-key") && body.contains("ExpiredToken") == (token == expired))
            }
        }

        @Test func `a body that nginx refuses is answered in XML`() throws {
            let site = try sharedSite()
            let body = try site.scratch.write(String(repeating: "x", count: 300_000), to: "hub-body")
            // By HTTP/1.1, for the reason given in `a body above the limit is 413`.
            let answer = try Program.run(
                "/usr/bin/curl",
                [
                    "--silent", "--http1.1", "--cacert", site.scratch.path("tls/cert.pem"), "--header", "Expect:",
                    "--header", "Authorization: \(token(site))", "--data-binary", "@-", "--write-out",
                    " %{http_code} %{content_type}", "https://\(site.hubAuthority)/\(WireSite.hubName)/messages",
                ], input: .file(body))
            #expect(answer.output.hasSuffix(" 413 application/xml; charset=utf-8"))
            #expect(answer.output.contains("The request's body is larger than 256 KB..TrackingId:"))
        }

        @Test func `the hub is read by its name, and what it does not have is refused in XML`() throws {
            let site = try sharedSite()
            for (method, path, status) in [
                (HTTPRequest.Method.get, "/\(WireSite.hubName)", 200), (.get, "/$Resources/NotificationHubs", 200),
                (.put, "/\(WireSite.hubName)", 403), (.post, "/\(WireSite.hubName)/jobs", 403),
                (.get, "/\(WireSite.hubName)/feedbackcontainer", 403), (.get, "/\(WireSite.hubName)/nothing", 404),
            ] {
                let answer = try ask(site, token: token(site, hub: ""), method: method, path: path)
                #expect(answer.status.code == status, "\(path)")
                #expect(answer.fields[.contentType]?.contains("xml") == true)
            }
        }

        @Test func `a caller's tracking id comes back`() throws {
            let site = try sharedSite()
            let name = try #require(HTTPField.Name("TrackingId"))
            let id = UUID().uuidString
            #expect(try ask(site, token: token(site), fields: [name: id]).fields[name] == id)
        }

        @Test func `the hub's face is not the backend's, nor is the backend's the hub's`() throws {
            let site = try sharedSite()
            let atBackend = try ask(site, token: token(site), authority: site.authority)
            #expect(atBackend.status.code >= 400)
        }

        private func token(
            _ site: WireSite, key: SharedAccessKey? = nil, expiry: Int64 = now + 600, host: String = "localhost",
            hub: String = WireSite.hubName
        ) throws -> String {
            let text = SharedAccessSignature.make(
                resource: "https://\(host):\(site.hubDoor.port)/\(hub)", key: key ?? site.hubKey, expiry: expiry)
            let signature = try #require(text.firstMatch(of: /sig=([^&]+)/)).1
            site.secrets.add(String(signature))
            return text
        }

        private func ask(
            _ site: WireSite, token: String?, fields: HTTPFields = [:], authority: String? = nil,
            method: HTTPRequest.Method = .post, path: String = "/\(WireSite.hubName)/registrationids"
        ) throws -> Response {
            var fields = fields
            if let token { fields[.authorization] = token }
            return try site.transport.respond(
                to: Request(
                    method: method, authority: authority ?? site.hubAuthority, path: path,
                    query: "api-version=2020-06", fields: fields))
        }
    }
}
