// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// Log-ins by cookie, through nginx.
    struct SessionStories {
        @Test func `a page logs in, works by its cookie alone, and logs out`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let page = WirePage(site)
            let refused = try page.call(.get, Path.register)
            #expect(refused.status == .unauthorized)
            #expect(refused.fields[.wwwAuthenticate] == #"Session realm="AppBackend""#)

            let answer = try page.logIn(alice)
            #expect(answer.status == .ok)
            #expect(try JSONValue(parsing: answer.body)["User"]?.string == alice.name)
            let given = try #require(answer.fields[.setCookie])
            let form =
                /__Host-app_backend=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Strict/
            #expect(given.wholeMatch(of: form) != nil)

            #expect(try page.call(.get, Path.session).body == answer.body)
            let text = site.secrets.make("by cookie ")
            let sent = try page.call(.post, Path.notifications, query: "to_tag=\(alice.name)", body: "\"\(text)\"")
            let id = try #require(try SendOutcome(sent).id)
            let read = try page.call(.get, "\(Path.notifications)/\(id)")
            #expect(try JSONValue(parsing: read.body)["Payload"]?.string == text)

            #expect(try page.call(.delete, Path.session, keepingCookie: true).status == .ok)
            #expect(try page.call(.get, Path.register).status == .unauthorized)
        }

        @Test func `by cookie another site's page changes nothing, nor does it log anybody in`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let page = WirePage(site)
            try page.logIn(alice)
            let cookie = try #require(page.cookie)
            for (fields, status) in [
                (["Sec-Fetch-Site": "same-origin"], 200), (["Origin": "https://\(site.authority)"], 200), ([:], 403),
                (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "same-site"], 403),
                (["Origin": "https://evil.example"], 403), (["Origin": "null"], 403),
                (["Sec-Fetch-Site": "cross-site", "Origin": "https://\(site.authority)"], 403),
            ] as [([String: String], Int)] {
                var fields = HTTPFields(fields)
                fields[.cookie] = cookie
                #expect(try site.call(.post, Path.register, fields: fields).status.code == status, "\(fields.count)")
                fields[.cookie] = nil
                fields[.authorization] = alice.authorization
                let login = try site.call(.post, Path.session, fields: fields)
                #expect(login.status.code == (fields.count == 1 ? 200 : status))
                if let value = login.fields[.setCookie]?.split(separator: ";").first?.split(separator: "=").last {
                    site.secrets.add(String(value))
                }
            }
        }

        @Test func `two of our cookies are none, and others' are not ours`() throws {
            let site = try sharedSite()
            let page = WirePage(site)
            try page.logIn(try site.addUser("alice"))
            let cookie = try #require(page.cookie)
            for (field, status) in [
                (cookie, 200), ("a=\(String(repeating: "x", count: 4_000)); \(cookie)", 200),
                ("\(cookie); \(cookie)", 401), ("\(cookie);a=1;__Host-app_backend=", 401), ("x\(cookie)", 401),
                (cookie.lowercased(), 401), ("a=\(cookie)", 401), ("\(cookie)x", 401),
            ] {
                let answer = try site.call(.get, Path.register, fields: [.cookie: field])
                #expect(answer.status.code == status, "\(field.count)")
            }
        }

        @Test func `of a browser's fields those pass that are asked for, and of its cookies ours`() throws {
            try DoorSite.run { site, _ in
                let ours = "__Host-app_backend=" + String(repeating: "a", count: 43)
                var fields = HTTPFields([
                    "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty",
                    "Origin": "https://a.example", "Referer": "https://a.example/x", "X-Other": "1",
                    "Idempotency-Key": "\"a-key\"", "App-Backend-User": "b%C3%BCrgel",
                    "Cookie": "theme=dark; \(ours); sid=someone-else's",
                ])
                // Each of nginx's locations that hand over, the nested ones too.
                for path in [Path.session, Path.register, Path.notifications, "\(Path.notifications)/1", Path.config] {
                    let lines = try site.lines(path, fields: fields).filter { !$0.hasPrefix("accept") }
                    #expect(
                        lines == [
                            "app-backend-user: b%C3%BCrgel", "cookie: \(ours)", "idempotency-key: \"a-key\"",
                            "origin: https://a.example",
                            "sec-fetch-mode: cors", "sec-fetch-site: same-origin",
                        ], "\(path)")
                }
                for (sent, expected) in [
                    ("\(ours)", "cookie: \(ours)"), ("a=1;\(ours);b=2", "cookie: \(ours)"), ("a=1", nil),
                    ("x\(ours)", nil),
                    ("\(ours); \(ours)", nil), ("\(ours); a=1; __Host-app_backend=", nil),
                    ("__Host-app_backend=" + String(repeating: "a", count: 65), nil),
                    // It only looks like a second one.
                    ("x\(ours); \(ours); y=__Host-app_backend=", "cookie: \(ours)"),
                ] as [(String, String?)] {
                    fields[.cookie] = sent
                    #expect(
                        try site.lines(Path.session, fields: fields).first { $0.hasPrefix("cookie") } == expected,
                        "\(sent)")
                }
            }
        }

        @Test func `what a page needs before a log-in it gets without one`() throws {
            let site = try sharedSite()
            let answer = try site.call(.get, Path.config)
            #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-cache")
            let config = try JSONValue(parsing: answer.body)
            #expect(config["Platforms"]?.array?.map { $0["Name"]?.string } == ["apns", "fcm", "wns", "browser"])
            #expect(config["Realm"]?.string == "AppBackend")
            let head = try site.call(.head, Path.config)
            #expect(head.status == .ok && head.body.isEmpty)
            #expect(try site.call(.post, Path.config).status == .methodNotAllowed)
        }

        @Test func `the log names a send that is asked after, and no token of a secure message`() throws {
            let site = try sharedSite()
            let page = WirePage(site)
            let alice = try site.addUser("alice")
            try page.logIn(alice)
            let sent = try page.call(.post, Path.notifications, query: "to_tag=\(alice.name)", body: #""x""#)
            let id = try #require(try SendOutcome(sent).outcomes.first?.notificationID)
            let details = try page.call(.get, "\(Path.outcomes)/\(id)")
            #expect(try SendOutcomeDetails(details).state == "NoTargetFound")
            let token = site.secrets.make("token-")
            #expect(try page.call(.get, "\(Path.notifications)/\(token)").status == .notFound)
            #expect(try page.call(.get, "\(Path.outcomes)/\(token)/x").status == .notFound)
            let log = "\(site.door.folder)/log/app-backend.log"
            // nginx writes its line when the answer is gone.
            #expect(
                Deadline.poll(seconds: 60) {
                    // Other tests' paths are not all UTF-8.
                    let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
                    return text.contains(#""path":"\#(Path.outcomes)/\#(id)""#)
                        && text.contains(#""path":"\#(Path.notifications)/-""#)
                })
        }
    }
}
