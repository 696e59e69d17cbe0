// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import Store
import Support
import Testing
import Text

/// Who is refused a session, and what a session is refused.
struct SessionRefusalTests {
    static let own = "https://backend.test"

    /// What a browser, or a client that claims to be one, says; and what it may do then.
    struct Row: CustomTestStringConvertible, Sendable {
        let fields: [String: String]
        /// What a cookie may change.
        let changes: Int
        /// Whether one may log in and out.
        let logsIn: Int

        init(_ fields: [String: String], changes: Int, logsIn: Int) {
            self.fields = fields
            self.changes = changes
            self.logsIn = logsIn
        }

        var testDescription: String { "\(fields.sorted { $0.key < $1.key }) -> \(changes), \(logsIn)" }
    }

    static let rows = [
        Row(["Sec-Fetch-Site": "same-origin"], changes: 200, logsIn: 200),
        Row(["Sec-Fetch-Site": "same-origin", "Origin": own], changes: 200, logsIn: 200),
        // A page may make its browser withhold the origin; then this is what is left.
        Row(["Sec-Fetch-Site": "same-origin", "Origin": "null"], changes: 200, logsIn: 200),
        Row(["Origin": own], changes: 200, logsIn: 200),
        Row(["Origin": "https://BACKEND.test"], changes: 200, logsIn: 200),
        Row([:], changes: 403, logsIn: 200),
        Row(["Sec-Fetch-Site": "same-site"], changes: 403, logsIn: 403),
        Row(["Sec-Fetch-Site": "cross-site"], changes: 403, logsIn: 403),
        Row(["Sec-Fetch-Site": "none"], changes: 403, logsIn: 403),
        Row(["Sec-Fetch-Site": "Same-Origin"], changes: 403, logsIn: 403),
        Row(["Sec-Fetch-Site": "cross-site", "Origin": own], changes: 403, logsIn: 403),
        Row(["Origin": "null"], changes: 403, logsIn: 403),
        Row(["Origin": "http://backend.test"], changes: 403, logsIn: 403),
        Row(["Origin": "https://backend.test:8443"], changes: 403, logsIn: 403),
        Row(["Origin": "https://evil.backend.test"], changes: 403, logsIn: 403),
        Row(["Origin": "https://backend.test.evil"], changes: 403, logsIn: 403),
        Row(["Origin": "https://backend.test/"], changes: 403, logsIn: 403),
        Row(["Referer": "https://backend.test/"], changes: 403, logsIn: 200),
    ]

    @Test(arguments: rows) func `by cookie only this site's own pages change anything`(row: Row) throws {
        let site = try TestSite()
        var fields = HTTPFields(row.fields)
        fields[.cookie] = try site.page(of: "alice").cookie
        #expect(site.call(.get, "/api/register", fields: fields).status == .ok)
        #expect(site.call(.get, "/api/session", fields: fields).status == .ok)
        for method in [HTTPRequest.Method.post, .put, .delete, .patch, .options] {
            let answer = site.call(method, "/api/register/1-1-1", fields: fields)
            #expect((answer.status == .forbidden) == (row.changes == 403), "\(method) \(answer.status)")
        }
        #expect(site.call(.post, "/api/register", fields: fields).status.code == row.changes)
        // Credentials that a browser remembered are no proof either.
        let remembered = site.call(.post, "/api/register", as: "alice", fields: HTTPFields(row.fields))
        #expect(remembered.status.code == row.logsIn)
        let login = site.call(.post, "/api/session", as: "alice", fields: HTTPFields(row.fields))
        #expect(login.status.code == row.logsIn && (login.fields[.setCookie] != nil) == (row.logsIn == 200))
        let end = site.call(.delete, "/api/session", fields: fields)
        #expect(end.status.code == row.logsIn)
        #expect((site.call(.get, "/api/session", fields: fields).status == .ok) == (row.logsIn == 403))
    }

    @Test func `credentials in the header need no proof, and alone count where they are`() throws {
        let site = try TestSite()
        let cookie = try site.page(of: "bob").cookie ?? ""
        #expect(site.call(.post, "/api/register", as: "alice").status == .ok)
        let list = site.call(.get, "/api/register", as: "alice", fields: [.cookie: cookie])
        #expect(list.status == .ok)
        let own = HTTPFields(["Sec-Fetch-Site": "same-origin", "Cookie": cookie])
        for value in ["Basic %%%", "Bearer x", "", "Basic " + Data("bob:wrong".utf8).base64EncodedString()] {
            var fields = own
            fields[.authorization] = value
            #expect(site.call(.get, "/api/register", fields: fields).status == .unauthorized)
        }
        // Bob's cookie does not make a message alice's.
        let sent = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=bob", as: "alice", body: #""x""#,
            fields: [.cookie: cookie])
        #expect(sent.status == .ok && site.hub.messages.last?.body.contains("From alice") == true)
    }

    @Test(
        arguments: [
            ([:], #"Basic realm="AppBackend", charset="UTF-8""#),
            (["Sec-Fetch-Mode": "navigate"], #"Basic realm="AppBackend", charset="UTF-8""#),
            (["Sec-Fetch-Mode": "cors"], #"Session realm="AppBackend""#),
            (["Sec-Fetch-Mode": "no-cors"], #"Session realm="AppBackend""#),
            (["Sec-Fetch-Mode": "same-origin", "Authorization": "Basic eDp5"], #"Session realm="AppBackend""#),
        ] as [([String: String], String)])
    func `a page's fetch is asked for a session, everybody else for a password`(
        fields: [String: String], challenge: String
    ) throws {
        let site = try TestSite(users: [])
        for (method, path) in [
            (HTTPRequest.Method.get, "/api/register"), (.get, "/api/session"), (.post, "/api/session"),
        ] {
            let answer = site.call(method, path, fields: HTTPFields(fields))
            #expect(answer.status == .unauthorized && answer.fields[.wwwAuthenticate] == challenge)
        }
    }

    @Test func `wrong passwords are counted together, by whichever door they come`() throws {
        let site = try TestSite(users: ["alice"])
        let page = TestPage(site.backend)
        for number in 0..<LoginThrottle.maximumFailures {
            let name = number.isMultiple(of: 2) ? "alice" : "ALICE"
            #expect(try page.logIn(name, password: "wrong").status == .unauthorized)
        }
        let refused = try page.logIn("alice")
        #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] == "60")
        #expect(refused.fields[.setCookie] == nil)
        let basic = Request(
            method: .get, path: "/api/register",
            fields: [.authorization: "Basic " + Data("alice:alice-secret".utf8).base64EncodedString()],
            remoteAddress: "192.0.2.1")
        #expect(site.backend.respond(to: basic).status == .tooManyRequests)
        site.clock.advance(LoginThrottle.windowSeconds)
        #expect(try page.logIn("alice").status == .ok)
        // By then she is known, and what others try in her name does not stop her.
        for _ in 0..<LoginThrottle.maximumFailures { try page.logIn("alice", password: "wrong") }
        #expect(try page.isKnown)
    }

    @Test func `a wrong password is called wrong, also beside a cookie that has ended`() throws {
        let site = try TestSite(users: ["alice"])
        let page = try site.page(of: "alice")
        let cookie = page.cookie
        #expect(try page.call(.delete, "/api/session").status == .ok)
        page.cookie = cookie
        let ended = try page.call(.get, "/api/register")
        let wrong = try page.logIn("alice", password: "wrong")
        let plain = try TestPage(site.backend).logIn("alice", password: "wrong")
        #expect([ended, wrong, plain].allSatisfy { $0.status == .unauthorized })
        #expect(wrong.body == plain.body && wrong.body != ended.body)
    }

    @Test func `a page of another site spends none of the attempts`() throws {
        let site = try TestSite(users: ["alice"])
        let fields = HTTPFields(["Sec-Fetch-Site": "cross-site"])
        let body = #"{"UserName":"alice","Password":"wrong"}"#
        for _ in 0...LoginThrottle.maximumFailures {
            #expect(site.call(.post, "/api/session", body: body, fields: fields).status == .forbidden)
        }
        #expect(site.call(.post, "/api/session", as: "alice").status == .ok)
    }

    /// A malformed log-in or log-out.
    struct BadInput: CustomTestStringConvertible, Sendable {
        var method = HTTPRequest.Method.post
        var path = "/api/session"
        var query = ""
        var body = ""
        var contentType: String? = "application/json"
        let status: Int
        var field: String?

        var testDescription: String { "\(method) \(path)?\(query) \(body.prefix(40)) -> \(status) \(field ?? "")" }
    }

    static func credentials(_ name: String, _ password: String) -> String {
        #"{"UserName":"\#(name)","Password":"\#(password)"}"#
    }

    static let badInputs = [
        BadInput(status: 401), BadInput(body: "{", status: 400, field: "body"),
        BadInput(body: "[]", status: 400, field: "body"), BadInput(body: "null", status: 400, field: "body"),
        BadInput(body: "{}", status: 400, field: "UserName"),
        BadInput(body: #"{"Password":"x"}"#, status: 400, field: "UserName"),
        BadInput(body: credentials("", "x"), status: 400, field: "UserName"),
        BadInput(body: #"{"UserName":"alice"}"#, status: 400, field: "Password"),
        BadInput(body: #"{"UserName":"alice","Password":null}"#, status: 400, field: "Password"),
        BadInput(body: #"{"UserName":7,"Password":"x"}"#, status: 400, field: "UserName"),
        BadInput(body: #"{"UserName":"alice","Password":["x"]}"#, status: 400, field: "Password"),
        BadInput(body: credentials("alice", "x"), contentType: "text/plain", status: 415, field: "Content-Type"),
        BadInput(
            body: credentials("alice", "x"), contentType: "application/x-www-form-urlencoded", status: 415,
            field: "Content-Type"),
        BadInput(body: credentials("alice", #"alice-secret\u0000"#), status: 401),
        BadInput(body: credentials(#"al\u0001ice"#, "alice-secret"), status: 401),
        BadInput(body: credentials("alice:", "alice-secret"), status: 401),
        BadInput(body: credentials("alice", String(repeating: "x", count: 512)), status: 401),
        BadInput(body: credentials("nosuch", "nosuch"), status: 401),
        BadInput(method: .delete, query: "everywhere=maybe", status: 400, field: "everywhere"),
        BadInput(method: .delete, query: "everywhere", status: 400, field: "everywhere"),
        BadInput(method: .delete, query: "everywhere=%f", status: 400, field: "everywhere"),
        BadInput(method: .put, status: 405), BadInput(method: .patch, status: 405),
        BadInput(method: .head, status: 401),
        BadInput(method: .get, path: "/api/session/1", status: 401),
        BadInput(method: .post, path: "/api/config", status: 405),
        BadInput(method: .delete, path: "/api/config", status: 405),
    ]

    @Test(arguments: badInputs) func `each malformed log-in gets its status and names the field at fault`(row: BadInput)
        throws
    {
        let site = try TestSite()
        let answer = site.call(
            row.method, row.path, query: row.query, body: row.body, contentType: row.contentType)
        #expect(answer.status.code == row.status)
        #expect(Problem(answer).field == row.field)
        #expect(answer.fields[.setCookie] == nil)
        #expect((answer.fields[.allow] != nil) == (row.status == 405))
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("alice-secret"))
    }

    @Test func `a cookie that is there twice, or is another's by name, does not count`() throws {
        let site = try TestSite()
        let cookie = try #require(try site.page(of: "alice").cookie)
        for (field, isKnown) in [
            (cookie, true), ("theme=dark; \(cookie)", true), ("\(cookie); \(cookie)", false),
            ("\(cookie); __Host-app_backend=", false), (cookie.lowercased(), false), (cookie + "A", false),
            (cookie.replacingOccurrences(of: "__Host-", with: ""), false),
        ] {
            let fields: HTTPFields = [.cookie: field]
            #expect((site.call(.get, "/api/register", fields: fields).status == .ok) == isKnown, "\(isKnown)")
        }
    }

    @Test func `a store in trouble is said to be, and no user is logged in or out by it`() throws {
        let site = try TestSite()
        let cookie = try site.page(of: "alice").cookie
        var parts = Backend.Parts(
            store: TroubledStore(inner: site.store, error: .readOnly),
            notifications: Notifications(hub: site.hubClient, platforms: [.apns]),
            authenticator: UserAuthenticator(store: site.store, now: { Timestamp(seconds: 0) }),
            now: { [clock = site.clock] in Timestamp(seconds: clock.seconds) }, logger: CollectedLog().logger)
        parts.realm = "Troubled"
        let page = TestPage(Backend(parts), cookie: cookie)
        for answer in [
            try page.logIn("alice"), try page.call(.get, "/api/session"), try page.call(.delete, "/api/session"),
            try page.call(.get, "/api/register"),
        ] {
            #expect(answer.status == .serviceUnavailable && answer.fields[.setCookie] == nil)
        }
        #expect(try TestPage(site.backend, cookie: cookie).isKnown)
    }
}
