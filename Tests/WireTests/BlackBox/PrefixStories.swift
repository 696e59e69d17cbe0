// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Testing

extension WireTests {
    /// The backend below a prefix, in a server that has an /api/ and a /health of its own.
    @Suite(.enabled(if: Program.hasDebianNginx, "/etc/nginx is not as Debian's package has it"))
    struct PrefixStories {
        private static let prefix = "/push"
        /// What is there besides.
        private static let shop = """
            location /api/ { return 200 "the shop's API"; }
            location = /health { return 200 "the shop's health"; }
            """

        /// Runs `body` with the lines that docs/operate/nginx.md tells an administrator to write.
        private static func run(_ body: (WireSite) async throws -> Void) async throws {
            let page = try String(contentsOfFile: "\(Program.root)/docs/operate/nginx.md", encoding: .utf8)
            let lines = try #require(page.firstMatch(of: #/```nginx\n(location \^~ /push/api/ \{(?s:.*?))```/#)).1
                .replacing("/usr/share/app-backend/html", with: "\(Program.root)/nginx/html")
            let server = "sites-enabled/default"
            let edits = [
                FrontDoor.Edit(file: server, text: "include snippets/app-backend.conf;", replacement: shop + lines),
                FrontDoor.Edit(file: server, text: "include snippets/app-backend-monitor.conf;", replacement: ""),
                FrontDoor.Edit(
                    file: "nginx.conf", text: "gzip on;", replacement: "gzip on; gzip_types application/json;"),
            ]
            try await WireSite.run(WireSite.Options(layout: .debianDefault, edits: edits)) { site in
                // A line in the log that is searched for secrets in the end.
                #expect(try site.call(.get, prefix + Path.register).status == .unauthorized)
                try await body(site)
            }
        }

        @Test func `devices and pages work below the prefix, and the other site as before`() async throws {
            try await Self.run { site in
                let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
                let device = try site.device(of: alice, prefix: Self.prefix)
                try await device.registration.register(handle: site.makeHandle(), platform: .apns, tags: ["news"])
                let sender = try site.device(of: bob, prefix: Self.prefix).notifications
                let outcome = try await sender.send(site.secrets.make("hello "), to: alice.name, on: .apns)
                #expect(outcome.outcomes.map(\.state) == ["Enqueued"])
                let text = site.secrets.make("secret ")
                let id = try #require(try await sender.sendSecure(text, to: alice.name).id)
                #expect(try site.readSecure(id, as: alice, prefix: Self.prefix) == text)
                #expect(try site.readSecure(id, as: bob, prefix: Self.prefix) == nil)

                let page = WirePage(site)
                #expect(try page.call(.post, Self.prefix + Path.session, body: page.logInBody(alice)).status == .ok)
                #expect(try page.call(.get, Self.prefix + Path.register).status == .ok)

                for (path, words) in [("/api/config", "the shop's API"), ("/health", "the shop's health")] {
                    #expect(try site.call(.get, path, as: alice).body == Array(words.utf8))
                }
                #expect(try site.call(.get, "/push/api/nothing", as: alice).status == .notFound)
            }
        }

        @Test func `the page is served below the prefix with its own header fields`() async throws {
            try await Self.run { site in
                let moved = try site.call(.get, "/push")
                #expect(moved.status == .movedPermanently && moved.fields[.location]?.hasSuffix("/push/") == true)
                let policy = try #require(HTTPField.Name("Content-Security-Policy"))
                for (path, type) in [
                    ("/push/", "html"), ("/push/admin", "html"), ("/push/sw.js", "javascript"),
                    ("/push/manifest.webmanifest", "application/manifest+json"),
                ] {
                    let answer = try site.call(.get, path)
                    #expect(answer.status == .ok && answer.fields[.contentType]?.contains(type) == true, "\(path)")
                    #expect(answer.fields[policy]?.contains("default-src 'none'") == true, "\(path)")
                    #expect(answer.fields[.cacheControl] == "no-cache", "\(path)")
                }
                #expect(try site.call(.post, "/push/").status.code >= 400)
            }
        }

        @Test func `nothing of it tells a secret: no compression, no token in the log, no more than the limits`()
            async throws
        {
            try await Self.run { site in
                let alice = try site.addUser("alice")
                let sent = try site.call(
                    .post, Self.prefix + Path.notifications, query: "to_tag=\(alice.name)", as: alice,
                    body: "\"\(String(repeating: "secret ", count: 300))\"")
                let id = try #require(try SendOutcome(sent).id)
                let read = try site.call(
                    .get, "\(Self.prefix)\(Path.notifications)/\(id)", as: alice, fields: [.acceptEncoding: "gzip"])
                #expect(read.status == .ok && read.fields[.contentEncoding] == nil)
                let large = try site.call(
                    .post, Self.prefix + Path.notifications, as: alice, body: String(repeating: "x", count: 66_000))
                #expect(large.status == .contentTooLarge && large.fields[.contentType] == Problem.contentType)
                site.door.stop()
                let log = try String(contentsOfFile: "\(site.door.folder)/log/app-backend.log", encoding: .utf8)
                #expect(log.contains(#""path":"/push/api/notifications/-""#))
                #expect(!log.contains("notifications/\(id)"))
            }
        }

        @Test func `the doctor understands the prefix, and says where it is missing`() async throws {
            try await Self.run { site in
                _ = try site.addUser("doctor")
                let url = "https://\(site.authority)\(Self.prefix)"
                let well = try site.diagnose(WireSite.Walk(url: url))
                #expect(well.wrong == [] && well.found("nginx").contains("\(url) leads to the service"))
                let shop = try site.diagnose(WireSite.Walk(url: "https://\(site.authority)"))
                #expect(shop.wrong == ["nginx"] && shop.found("nginx").contains("something else"))
                let edit = FrontDoor.Edit(
                    file: "sites-enabled/default", text: "server_name _;",
                    replacement: "server_name _; location ^~ /other/api/ { include snippets/app-backend-api.conf; }")
                let changes = FrontDoor.Changes(layout: .debianDefault, sockets: [site.backend.socket], edits: [edit])
                try site.withFrontDoor(changes) { door in
                    let untold = try site.diagnose(
                        WireSite.Walk(url: "https://localhost:\(door.port)/other"))
                    #expect(untold.wrong == ["nginx"])
                    #expect(untold.found("nginx").contains("does not know its prefix"), "\(untold.found("nginx"))")
                    #expect(untold.cure("nginx").contains("fastcgi_param APP_BACKEND_PREFIX /other;"))
                    let absent = try site.diagnose(WireSite.Walk(url: "https://localhost:\(door.port)/absent"))
                    #expect(absent.found("nginx").contains("is not known to nginx"))
                    #expect(absent.cure("nginx").contains("location ^~ /absent/api/ {"))
                }
            }
        }
    }

    /// The snippets take only the paths that they are for.
    struct SnippetStories {
        @Test func `the snippet leaves health and numbers to the server`() throws {
            let edit = FrontDoor.Edit(
                file: "sites/site.conf", text: "include snippets/app-backend-monitor.conf;",
                replacement: "location = /health { return 200 ours; } location = /metrics { return 200 ours; }")
            try DoorSite.run(changing: { $0.edits = [edit] }) { site, _ in
                let answers = try ["/health", "/metrics"].map { try site.lines($0) }
                #expect(answers == [["ours"], ["ours"]])
            }
        }

        @Test func `the hub's snippet takes its hub's paths, and not those of another site`() throws {
            try DoorSite.run(changing: { $0.servesHub = true }) { site, _ in
                let name = WireSite.hubName
                for path in [
                    "/\(name)/tags/a/registrations", "/\(name.uppercased())/messages/", "/\(name)/jobs",
                    "/\(name)/other", "/\(name)", "/$Resources/NotificationHubs",
                ] {
                    #expect(try site.call(.get, path).fields[.contentType] == "text/plain", "\(path)")
                }
                for path in ["/blog/tags/foo", "/blog/registrations", "/x/jobs", "/\(name)s", "/a/\(name)/jobs"] {
                    let answer = try site.call(.get, path)
                    #expect(answer.status == .notFound && answer.fields[.contentType] == "text/html", "\(path)")
                }
            }
        }

        @Test func `only the fields of the hub's language reach the hub`() throws {
            let wanted = [
                "authorization", "trackingid", "if-match", "servicebusnotification-format",
                "servicebusnotification-tags", "servicebusnotification-devicehandle",
                "servicebusnotification-apns-expiry", "servicebusnotification-scheduletime", "apns-topic",
                "apns-priority", "apns-push-type", "x-apns-priority", "x-apns-expiration", "x-apns-push-type",
                "x-wns-type", "x-wns-cache-policy", "x-wns-priority", "x-notificationclass", "ttl", "urgency", "topic",
                "p256dh", "auth", "user-agent",
            ]
            let others = ["cookie", "x-shop-token", "referer", "origin"]
            let fields = HTTPFields(Dictionary(uniqueKeysWithValues: (wanted + others).map { ($0, "a=1") }))
            try DoorSite.run(changing: { $0.servesHub = true }) { site, _ in
                let arrived = try site.lines("/\(WireSite.hubName)/messages", fields: fields)
                    .map { String($0.prefix { $0 != ":" }) }
                #expect(Set(arrived) == Set(wanted))
            }
        }
    }
}
