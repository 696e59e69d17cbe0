// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// App tokens, from their making to their end.
struct AppTokenTests {
    private let site: TestSite

    init() throws { site = try TestSite(users: ["alice", "bob", "carol"]) }

    /// A token that a user has made over HTTP.
    private struct Made {
        let id: String
        let text: String
    }

    private func make(_ body: String, as user: String = "alice") throws -> Made {
        let answer = site.call(.post, "/api/tokens", as: user, body: body)
        guard answer.status == .ok else { throw Problem(answer) }
        let json = try JSONValue(parsing: answer.body)
        return Made(id: try #require(json["Id"]?.string), text: try #require(json["Token"]?.string))
    }

    private func call(
        _ method: HTTPRequest.Method, _ path: String, query: String = "", bearer: String, body: String = "",
        address: String = "192.0.2.1", on server: Backend? = nil
    ) -> Response {
        var fields: HTTPFields = [.authorization: "Bearer \(bearer)"]
        if !body.isEmpty { fields[.contentType] = "application/json" }
        return (server ?? site.backend).respond(
            to: Request(
                method: method, authority: "backend.test", path: path, query: query, fields: fields,
                body: Array(body.utf8), remoteAddress: address, id: "test")
        ).withCode()
    }

    /// Every route behind authentication, and the scope that it needs; nil: a log-in.
    static let routes: [(method: HTTPRequest.Method, path: String, query: String, body: String, scope: String?)] = [
        (.post, "/api/notifications", "to_tag=bob", "\"m\"", "send"),
        (.get, "/api/notifications/outcomes/1", "", "", "send"),
        (.get, "/api/notifications/scheduled", "", "", nil), (.delete, "/api/notifications/scheduled/7", "", "", nil),
        (.get, "/api/notifications/7/timeline", "", "", "send"), (.post, "/api/notifications/7/opened", "", "", "read"),
        (.get, "/api/notifications", "", "", "read"), (.get, "/api/notifications/7", "", "", "read"),
        (.delete, "/api/notifications/7", "", "", "read"), (.get, "/api/inbox", "", "", "read"),
        (.post, "/api/inbox/7/read", "", "", "read"), (.delete, "/api/inbox/7", "", "", "read"),
        (.post, "/api/register", "", "", "register"), (.get, "/api/register", "", "", "register"),
        (.put, "/api/register/x", "", "{}", "register"), (.delete, "/api/register/x", "", "", "register"),
        (.put, "/api/notifications/installations", "", "{}", "register"),
        (.delete, "/api/notifications/installations/x", "", "", "register"),
        (.post, "/api/notifications/requests", "", "{}", "send"),
        (.get, "/api/tokens", "", "", nil), (.post, "/api/tokens", "", "{}", nil),
        (.delete, "/api/tokens/0123456789abcdef", "", "", nil), (.get, "/api/sessions", "", "", nil),
        (.delete, "/api/sessions/0123456789abcdef", "", "", nil), (.put, "/api/password", "", "{}", nil),
    ]

    @Test(arguments: ["send", "read", "register"])
    func `a token reaches the routes of its scope, and at others 403 names what it lacks`(_ scope: String) throws {
        let token = try make(#"{"Scopes":["\#(scope)"]}"#)
        for route in Self.routes {
            let answer = call(route.method, route.path, query: route.query, bearer: token.text, body: route.body)
            let problem = Problem(answer)
            let isRefused = [.scopeMissing, .tokenNotAllowed].contains(problem.code)
            #expect(isRefused == (route.scope != scope), "\(route.method) \(route.path): \(problem)")
            if isRefused, let needed = route.scope { #expect(problem.detail.contains("scope \(needed)")) }
        }
        #expect(call(.get, "/api/nothing", bearer: token.text).status == .notFound)
        #expect(call(.put, "/api/notifications", bearer: token.text, body: "{}").status == .methodNotAllowed)
    }

    @Test func `the list of routes above is whole`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let page = try String(contentsOf: root.appending(path: "docs/reference/routes.md"), encoding: .utf8)
        let documented = page.matches(of: /(?m)^\| `([A-Z]+) (\/api\/[^`?]*)[^`]*` \|/).map { "\($0.1) \($0.2)" }
        // Those of administrators are in `AdministrationRefusalTests`. Two calls of one route are documented as two paths, one of
        // them with a slash at the end.
        let behindAuthentication = Set(
            documented.filter {
                !$0.hasSuffix("/api/session") && !$0.contains("/api/config") && !$0.contains("/api/admin")
            }.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
        let known = Set(
            Self.routes.map { route in
                let parts = route.path.split(separator: "/").map(String.init)
                let names = parts.map { ["1", "7", "x", "0123456789abcdef"].contains($0) ? "{id}" : $0 }
                return "\(route.method.rawValue) /" + names.joined(separator: "/")
            })
        #expect(known == behindAuthentication)
    }

    @Test(arguments: ["\u{9B}", "\u{202E}", "\u{85}", "\u{2028}", "\u{2029}", "\u{AD}", "\n", "\u{7F}"])
    func `a label has no characters that a terminal obeys`(control: String) throws {
        let answer = site.call(.post, "/api/tokens", as: "alice", body: #"{"Scopes":["send"],"Label":"a\#(control)b"}"#)
        // What JSON itself refuses is a fault of the body.
        #expect(answer.status == .badRequest && ["Label", "body"].contains(Problem(answer).field))
        #expect(site.call(.get, "/api/tokens", as: "alice").body == Array("[]".utf8))
    }

    @Test func `with its user's name it counts as the password, and with no other name`() throws {
        let token = try make(#"{"Scopes":["register"]}"#)
        func status(_ name: String, _ path: String = "/api/register", _ method: HTTPRequest.Method = .get) -> Int {
            let value = "Basic " + Data("\(name):\(token.text)".utf8).base64EncodedString()
            return site.call(method, path, fields: [.authorization: value]).status.code
        }
        #expect(status("alice") == 200 && status("ALICE") == 200)
        #expect(status("alice", "/api/notifications") == 403)
        #expect(status("bob") == 401 && status("nosuch") == 401 && status("") == 401)
        // It is no password: no session begins with it, and it counts as no guess at one.
        for _ in 0...LoginThrottle.maximumFailures { #expect(status("alice", "/api/session", .post) == 401) }
        #expect(site.call(.get, "/api/register", as: "alice").status == .ok)
    }

    @Test func `the store has nothing that opens, and lists never show a token`() throws {
        let token = try make(#"{"Scopes":["send"],"Label":"build server","ExpiresInDays":90,"To":["bob"]}"#)
        let kept = try #require(try site.store.appToken(token.id, now: Timestamp(seconds: site.clock.seconds)))
        let secret = String(token.text.suffix(43))
        #expect(token.text == "abt_\(token.id)_\(secret)" && !"\(kept)".contains(secret))
        let list = site.call(.get, "/api/tokens", as: "alice")
        let text = String(decoding: list.body, as: UTF8.self)
        #expect(!text.contains(secret) && text.contains(#""Label":"build server","Scopes":["send"],"To":["bob"]"#))
        #expect(site.call(.get, "/api/tokens", as: "bob").body == Array("[]".utf8))
        let files = try #require(FileManager.default.enumerator(at: site.folder, includingPropertiesForKeys: nil))
        for case let file as URL in files {
            guard let bytes = try? Data(contentsOf: file) else { continue }
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)")
        }
    }

    @Test func `it ends at its time, when it is revoked, and no page of its user's ends it`() throws {
        let short = try make(#"{"Scopes":["read"],"ExpiresInDays":1}"#)
        let long = try make(#"{"Scopes":["read"]}"#)
        func status(_ token: Made, _ server: Backend? = nil) -> HTTPResponse.Status {
            call(.get, "/api/notifications", bearer: token.text, on: server).status
        }
        site.clock.advance(86_399)
        #expect(status(short) == .ok && status(short, site.twin) == .ok)
        site.clock.advance(1)
        #expect(status(short) == .unauthorized && status(long) == .ok)
        #expect(site.call(.delete, "/api/tokens/\(long.id)", as: "bob").status == .notFound)
        #expect(status(long) == .ok)
        try site.change("alice") { $0.passwordHash = try PasswordHash.make("new") }
        #expect(status(long) == .ok)
        #expect(try site.store.removeAppToken(long.id, owner: "alice"))
        #expect(status(long) == .unauthorized && status(long, site.twin) == .unauthorized)
    }

    @Test func `one that is wrong or was revoked is named as such, with the challenge of its scheme`() throws {
        let token = try make(#"{"Scopes":["read"]}"#)
        #expect(try site.store.removeAppToken(token.id, owner: "alice"))
        let basic = "Basic " + Data("alice:\(token.text)".utf8).base64EncodedString()
        for (fields, path, challenge) in [
            (
                [.authorization: "Bearer \(token.text)"], "/api/inbox",
                #"Bearer realm="AppBackend", error="invalid_token""#
            ),
            ([.authorization: "Bearer abt_x"], "/api/inbox", #"Bearer realm="AppBackend", error="invalid_token""#),
            (
                HTTPFields(["apikey": "x"]), Path.installations + "/x",
                #"Bearer realm="AppBackend", error="invalid_token""#
            ),
            ([.authorization: basic], "/api/inbox", #"Basic realm="AppBackend", charset="UTF-8""#),
        ] as [(HTTPFields, String, String)] {
            let answer = site.call(path == "/api/inbox" ? .get : .delete, path, fields: fields)
            #expect(answer.status == .unauthorized && answer.fields[.wwwAuthenticate] == challenge)
            #expect(Problem(answer).code == .wrongAppToken)
        }
    }

    @Test func `a use is noted, and not each one`() throws {
        let token = try make(#"{"Scopes":["read"]}"#)
        func use() throws -> Timestamp? {
            #expect(call(.get, "/api/notifications", bearer: token.text).status == .ok)
            return try site.store.appToken(token.id, now: Timestamp(seconds: 0))?.lastUsedAt
        }
        let first = try use()
        #expect(first?.seconds == site.clock.seconds)
        site.clock.advance(3_599)
        #expect(try use() == first)
        site.clock.advance(1)
        #expect(try use()?.seconds == site.clock.seconds)
    }

    @Test func `wrong tokens cost their network, and right ones none`() throws {
        let token = try make(#"{"Scopes":["read"]}"#)
        let path = "/api/notifications"
        let digit = token.text.hasSuffix("A") ? "E" : "A"
        // The same id with another secret, and forms that are none.
        let wrong = [token.text.dropLast() + digit, token.text.dropLast(), token.text + "A"].map { String($0) }
        for index in 0..<LoginThrottle.maximumFailures {
            #expect(call(.get, path, bearer: wrong[index % 3]).status == .unauthorized)
        }
        let refused = call(.get, path, bearer: wrong[0])
        #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] == "60")
        #expect(call(.get, path, bearer: token.text).status == .ok)
        #expect(call(.get, path, bearer: wrong[0], address: "192.0.2.2").status == .unauthorized)
        #expect(site.call(.get, path, as: "alice").status == .ok)
        site.clock.advance(60)
        #expect(call(.get, path, bearer: wrong[0]).status == .unauthorized)
    }

    @Test(arguments: ["disabled", "expired", "removed", "removed and added", "kept and added"])
    func `it ends with its user's log-in, and the next user of the name has none of it`(_ end: String) throws {
        let token = try make(#"{"Scopes":["read"]}"#)
        let cookie = try #require(try site.page(of: "alice").cookie)
        let now = Timestamp(seconds: site.clock.seconds)
        switch end {
        case "disabled": try site.change("alice") { $0.disabledAt = now }
        case "expired": try site.change("alice") { $0.expiresAt = now }
        default:
            _ = try site.upkeep().remove("alice", keepingData: end.hasPrefix("kept"))
            guard end.hasSuffix("added") else { break }
            try site.addAgain("alice")
        }
        #expect(call(.get, "/api/notifications", bearer: token.text).status == .unauthorized)
        #expect(site.call(.get, "/api/register", fields: [.cookie: cookie]).status == .unauthorized)
        if end.hasSuffix("added") {
            #expect(site.call(.get, "/api/tokens", as: "alice").body == Array("[]".utf8))
        } else {
            #expect(site.call(.get, "/api/register", as: "alice").status == .unauthorized)
        }
    }

    @Test(arguments: [
        (#"{}"#, "Scopes"), (#"{"Scopes":[]}"#, "Scopes"), (#"{"Scopes":"send"}"#, "Scopes"),
        (#"{"Scopes":["admin"]}"#, "Scopes"), (#"{"Scopes":["send","Send"]}"#, "Scopes"),
        (#"{"Scopes":["send"],"To":["a b"]}"#, "To"), (#"{"Scopes":["send"],"To":[]}"#, "To"),
        (#"{"Scopes":["send"],"To":null}"#, "To"),
        (#"{"Scopes":["send"],"To":["*"]}"#, "To"), (#"{"Scopes":["send"],"To":"bob"}"#, "To"),
        (#"{"Scopes":["read"],"To":["bob"]}"#, "To"),
        (#"{"Scopes":["read"],"Label":7}"#, "Label"), (#"{"Scopes":["read"],"Label":"a\nb"}"#, "Label"),
        (#"{"Scopes":["read"],"ExpiresInDays":0}"#, "ExpiresInDays"),
        (#"{"Scopes":["read"],"ExpiresInDays":"90"}"#, "ExpiresInDays"),
        (#"{"Scopes":["read"],"ExpiresInDays":1.5}"#, "ExpiresInDays"), ("[]", "body"),
    ])
    func `what is wrong with a wanted token is named`(_ body: String, _ field: String) throws {
        let answer = site.call(.post, "/api/tokens", as: "alice", body: body)
        #expect(answer.status == .badRequest && Problem(answer).field == field)
        #expect(try site.store.appTokens(owner: "alice", now: Timestamp(seconds: 0)).isEmpty)
    }

    @Test func `a page makes one with its user's password alone, and another site's page makes none`() throws {
        let page = try site.page(of: "alice")
        func make(_ password: String) throws -> Response {
            try page.call(.post, "/api/tokens", body: #"{"Scopes":["read"]\#(password)}"#)
        }
        for missing in ["", #","Password":null"#, #","Password":"""#, #","Password":7"#] {
            let refused = try make(missing)
            #expect(refused.status == .badRequest && Problem(refused).field == "Password")
        }
        for _ in 0..<LoginThrottle.maximumFailures {
            let refused = try make(#","Password":"bob-secret""#)
            #expect(refused.status == .forbidden && Problem(refused).field == "Password")
        }
        #expect(try make(#","Password":"another""#).status == .tooManyRequests)
        #expect(try site.store.appTokens(owner: "alice", now: Timestamp(seconds: 0)).isEmpty)
        site.clock.advance(LoginThrottle.windowSeconds)
        #expect(try make(#","Password":"alice-secret""#).status == .ok)
        var fields = HTTPFields(["Sec-Fetch-Site": "cross-site"])
        fields[.cookie] = page.cookie
        let body = #"{"Scopes":["read"],"Password":"alice-secret"}"#
        #expect(site.call(.post, "/api/tokens", body: body, fields: fields).status == .forbidden)
    }

    @Test func `a user who has a session and no password learns so, here and at what requires a password`() throws {
        let policy = TagPolicy(roles: [Role(name: "admin", administers: true)])
        let site = try TestSite(policy: policy, isTestHandler: true) {
            $0.authenticationMethods = [.test, .session, .token]
        }
        try site.change("alice") { ($0.passwordHash, $0.roles) = ("", ["admin"]) }
        let page = TestPage(site.backend)
        #expect(try page.logIn("alice", password: "alice").status == .ok)
        let body = #"{"Scopes":["read"],"Password":"wrong"}"#
        let token = try page.call(.post, "/api/tokens", body: body)
        #expect(Problem(token).code == .noPassword)
        let removal = try page.call(.post, "/api/admin/users/bob/disable", body: #"{"Password":"wrong"}"#)
        #expect(Problem(removal).code == .noPassword)
    }

    @Test func `a user has so many and no more`() throws {
        for _ in 0..<Quotas().appTokensPerOwner { _ = try make(#"{"Scopes":["read"]}"#) }
        let more = site.call(.post, "/api/tokens", as: "alice", body: #"{"Scopes":["read"]}"#)
        #expect(more.status == .tooManyRequests)
        _ = try make(#"{"Scopes":["read"]}"#, as: "bob")
    }
}
