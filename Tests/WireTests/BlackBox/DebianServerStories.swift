// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Testing

extension WireTests {
    /// The snippet in the server that Debian's nginx package comes with: nothing of ours but the two files and one line.
    @Suite(.enabled(if: Program.hasDebianNginx, "/etc/nginx is not as Debian's package has it"))
    struct DebianServerStories {
        @Test func `a device registers, another user sends to it, and it reads what only it may`() async throws {
            try await WireSite.run(WireSite.Options(layout: .debianDefault)) { site in
                let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
                let handle = site.makeHandle()
                try await site.device(of: alice).registration.register(handle: handle, platform: .apns, tags: ["news"])
                let sender = try site.device(of: bob).notifications
                let outcome = try await sender.send(site.secrets.make("hello "), to: alice.name, on: .apns)
                let details = try site.hubClient().details(try #require(outcome.outcomes.first?.notificationID))
                #expect(details?.outcomes.flatMap(\.counts).map(\.count).reduce(0, +) == 1)
                let text = site.secrets.make("secret ")
                let id = try #require(try await sender.sendSecure(text, to: alice.name).id)
                #expect(try site.readSecure(id, as: alice) == text)
                #expect(try site.readSecure(id, as: bob) == nil)
                // What is there besides goes on as before, and what is ours is not taken for a file.
                try site.putPage("page.html", "<!doctype html>")
                let page = try site.call(.get, "/page.html")
                #expect(page.status == .ok && page.fields[.contentType] == "text/html")
                #expect(try site.call(.get, "/missing").fields[.contentType] == "text/html")
                let missing = try site.call(.get, "/api/missing.php", as: alice)
                #expect(missing.status == .notFound && missing.fields[.contentType] == Problem.contentType)
                #expect(missing.fields[values: try #require(HTTPField.Name("X-Content-Type-Options"))] == ["nosniff"])
            }
        }

        @Test func `a second line serves the page and the operator's at the root`() async throws {
            let edits = [
                FrontDoor.Edit(
                    file: "sites-enabled/default", text: "include snippets/app-backend.conf;",
                    replacement: "include snippets/app-backend.conf; include snippets/app-backend-root.conf;"),
                FrontDoor.Edit(file: "sites-enabled/default", text: "location / {", replacement: "location /other/ {"),
                FrontDoor.Edit(
                    file: "snippets/app-backend-root.conf", text: "/usr/share/app-backend/html",
                    replacement: "\(Program.root)/nginx/html"),
            ]
            try await WireSite.run(WireSite.Options(layout: .debianDefault, edits: edits)) { site in
                for path in ["/", "/admin"] {
                    let page = try site.call(.get, path)
                    #expect(
                        page.status == .ok && String(decoding: page.body, as: UTF8.self).contains("<html"),
                        "\(path): \(page.status)")
                    #expect(page.fields[try #require(HTTPField.Name("Content-Security-Policy"))] != nil)
                }
                #expect(try site.call(.get, Path.config).status == .ok)
            }
        }

        @Test func `what is compressed for others is not compressed for the API`() async throws {
            let all = FrontDoor.Edit(file: "nginx.conf", text: "# gzip_types ", replacement: "gzip_types ")
            try await WireSite.run(WireSite.Options(layout: .debianDefault, edits: [all])) { site in
                let alice = try site.addUser("alice")
                let text = String(repeating: "secret ", count: 300)
                let id = try site.sendSecure(text, from: alice, to: alice)
                try site.putPage("page.json", "\"\(text)\"")
                let page = try site.call(.get, "/page.json", fields: [.acceptEncoding: "gzip"])
                #expect(page.fields[.contentEncoding] == "gzip")
                let answer = try site.call(
                    .get, "\(Path.notifications)/\(id)", as: alice, fields: [.acceptEncoding: "gzip"])
                #expect(answer.status == .ok && answer.fields[.contentEncoding] == nil)
                #expect(try JSONValue(parsing: answer.body)["Payload"]?.string == text)
            }
        }
    }
}

extension WireSite {
    /// A file beside the API.
    fileprivate func putPage(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(door.folder)/www/\(name)", atomically: true, encoding: .utf8)
    }
}
