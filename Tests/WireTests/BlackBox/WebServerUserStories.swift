// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import Support
import Testing

extension WireTests {
    /// Users whom nginx has authenticated, as docs/operate/nginx.md tells an administrator to write it.
    struct WebServerUserStories {
        private static let shipped = "include snippets/app-backend.conf;"

        /// Answers nginx's question: who names themselves in a field is that user.
        private static func identityProvider(_ socket: String) -> String {
            """
            http { server { listen unix:\(socket); location / {
                add_header Remote-User $http_x_demo;
                if ($http_x_demo = "") { return 401; }
                return 204;
            } }
            """
        }

        private static func options(lines: String, _ identityProvider: String) -> WireSite.Options {
            WireSite.Options(
                edits: [
                    FrontDoor.Edit(file: "sites/site.conf", text: shipped, replacement: lines),
                    FrontDoor.Edit(file: "nginx.conf", text: "http {", replacement: identityProvider),
                ], keys: #""auth": { "methods": ["web-server", "password", "session"] },"#)
        }

        private static func field(_ name: String, _ value: String) -> HTTPFields {
            HTTPFields([name: value])
        }

        @Test func `who has passed the web server's own log-in is that user`() async throws {
            let page = try String(contentsOfFile: "\(Program.root)/docs/operate/nginx.md", encoding: .utf8)
            let lines = try #require(
                page.firstMatch(of: #/```nginx\n(location \^~ /api/ \{\n +auth_request(?s:.*?))```/#)
            ).1
            let scratch = try ScratchFolder()
            let socket = scratch.path("who.sock")
            let who = "location = /who { internal; proxy_pass http://unix:\(socket); proxy_pass_request_body off; }"
            let options = Self.options(lines: "\(lines) \(who)", Self.identityProvider(socket))
            try await WireSite.run(options) { site in
                let alice = try site.addUser("alice")
                let named = Self.field("X-Demo", alice.name)
                #expect(try site.call(.get, Path.register, fields: named).status == .ok)
                let text = site.secrets.make("to myself ")
                let sent = try site.call(
                    .post, Path.notifications, query: "to_tag=\(alice.name)", body: "\"\(text)\"", fields: named)
                #expect(sent.status == .ok)
                #expect(
                    try site.call(.get, Path.register, fields: Self.field("X-Demo", "nosuch")).status == .unauthorized)
                // The web server's own answer.
                #expect(try site.call(.get, Path.register, as: alice).status == .unauthorized)
            }
        }

        @Test func `no field of a client's is the web server's word`() async throws {
            let options = Self.options(lines: Self.shipped, "http { underscores_in_headers on;")
            try await WireSite.run(options) { site in
                let alice = try site.addUser("alice")
                #expect(try site.call(.get, Path.register, as: alice).status == .ok)
                for name in [
                    "APP_BACKEND_USER", "App-Backend-User", "app_backend_user", "HTTP_APP_BACKEND_USER", "Remote-User",
                    "REMOTE_USER", "X-Remote-User", "X-Forwarded-User",
                ] {
                    let answer = try site.call(.get, Path.register, fields: Self.field(name, alice.name))
                    #expect(answer.status == .unauthorized, "\(name)")
                }
            }
        }
    }
}
