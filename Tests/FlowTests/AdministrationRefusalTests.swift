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

/// Who may not administer, and what an administrator may not do.
struct AdministrationRefusalTests {
    private static let users = AdministrationTests.users
    /// Each route, with a body that would do.
    private static let routes: [(method: HTTPRequest.Method, path: String, body: String)] = [
        (.get, users, ""), (.post, users, AdministrationTests.adding("carol")), (.get, users + "/alice", ""),
        (.post, users + "/alice/disable", AdministrationTests.own),
        (.post, users + "/alice/enable", AdministrationTests.own),
        (.delete, users + "/alice", AdministrationTests.own),
        (.delete, users + "/alice/devices/1-1-1", AdministrationTests.own),
        (.delete, users + "/alice/sessions", AdministrationTests.own),
        (.delete, users + "/alice/sessions/0123456789abcdef", AdministrationTests.own),
        (.get, "/api/admin/messages", ""), (.get, "/api/admin/messages/AAAAAAAAAAAAAAAAAAAAAA", ""),
        (.get, "/api/admin/messages/scheduled", ""),
        (.delete, "/api/admin/messages/scheduled/AAAAAAAAAAAAAAAAAAAAAA", AdministrationTests.own),
        (.get, "/api/admin/status", ""), (.get, "/api/admin/findings", ""),
    ]
    /// Those that change something: each needs the administrator's password.
    private static let changing = routes.filter { $0.method != .get }

    private let site: TestSite
    private let issuer = TestIssuer("https://id.example")

    init() throws {
        let issuer = issuer
        site = try TestSite(
            users: ["alice", "bob", "root"], policy: TagPolicy(roles: [Role(name: "admin", administers: true)]),
            adjusting: { issuer.trust(in: &$0) })
        try give(["admin"])
    }

    private func give(_ roles: [String]) throws {
        try site.change("root") { $0.roles = roles }
    }

    /// What every route answers to requests of that kind.
    private func refusals(
        _ call: (HTTPRequest.Method, String, String) throws -> Response
    ) rethrows -> Set<ProblemCode?> {
        Set(
            try Self.routes.map { route in
                let answer = try call(route.method, route.path, route.body)
                return Problem(answer).code
            })
    }

    /// No user was added, disabled or removed.
    private var isUntouched: Bool {
        get throws {
            try site.store.users().map(\.name) == ["alice", "bob", "root"]
                && site.store.user("alice")?.disabledAt == nil
        }
    }

    @Test func `a user without the right is refused at each route, by page and by whichever role`() throws {
        let page = try site.page(of: "alice")
        #expect(try refusals { try page.call($0, $1, body: $2) } == [.notAdministrator])
        #expect(try isUntouched)
    }

    @Test func `the right ends with the role, for the next request`() throws {
        let page = try site.page(of: "root")
        #expect(try page.call(.get, Self.users).status == .ok)
        try give([])
        #expect(try page.call(.get, Self.users).status == .forbidden)
        #expect(try page.call(.delete, Self.users + "/alice", body: AdministrationTests.own).status == .forbidden)
        try give(["admin"])
        #expect(try page.call(.get, Self.users).status == .ok)
        try give(["gone", "Admin"])
        #expect(try page.call(.get, Self.users).status == .forbidden)
    }

    @Test func `the list of routes above is whole`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let page = try String(contentsOf: root.appending(path: "docs/reference/routes.md"), encoding: .utf8)
        let documented = page.matches(of: /(?m)^\| `([A-Z]+) (\/api\/admin[^`?]*)[^`]*` \|/).map { "\($0.1) \($0.2)" }
        let known = Self.routes.map { route in
            let pattern = route.path.replacing("/alice", with: "/{name}").replacing("/1-1-1", with: "/{id}")
                .replacing("/0123456789abcdef", with: "/{id}")
            return "\(route.method.rawValue) \(pattern.replacing("/AAAAAAAAAAAAAAAAAAAAAA", with: "/{id}"))"
        }
        #expect(Set(known) == Set(documented) && known.count == 15)
    }

    @Test func `a password is not enough at any route`() throws {
        #expect(refusals { site.call($0, $1, as: "root", body: $2) } == [.logInRequired])
        #expect(try isUntouched)
    }

    @Test func `an app token is not enough at any route`() throws {
        let made = site.call(.post, "/api/tokens", as: "root", body: #"{"Scopes":["send","read","register"]}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        let fields: HTTPFields = [.authorization: "Bearer \(token)"]
        #expect(refusals { site.call($0, $1, body: $2, fields: fields) } == [.logInRequired])
        #expect(try isUntouched)
    }

    @Test func `a token of an issuer is not enough, also with the role in it`() throws {
        let token = try issuer.token("7", roles: ["admin"])
        let fields: HTTPFields = [.authorization: "Bearer \(token)"]
        #expect(refusals { site.call($0, $1, body: $2, fields: fields) } == [.logInRequired])
        #expect(try isUntouched)
    }

    @Test func `no log-in at all is 401 at each route`() throws {
        let statuses = Self.routes.map { site.call($0.method, $0.path, body: $0.body).status }
        #expect(Set(statuses) == [.unauthorized])
    }

    @Test(
        arguments: [
            ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"],
            ["Origin": "https://evil.test"], [:],
        ])
    func `another page is refused, also where it only reads`(_ origin: [String: String]) throws {
        let cookie = try #require(try site.page(of: "root").cookie)
        let fields = HTTPFields(origin.merging(["Cookie": cookie]) { one, _ in one })
        let all = refusals { site.call($0, $1, body: $2, fields: fields) }
        #expect(all == [.crossSite])
        #expect(try isUntouched)
    }

    @Test func `what changes something needs the administrator's own password, whatever it is`() throws {
        let page = try site.page(of: "root")
        // One whom the page could let in again.
        try site.change("bob") { $0.disabledAt = Timestamp(seconds: 1) }
        for route in Self.changing {
            let path = route.path.hasSuffix("/enable") ? Self.users + "/bob/enable" : route.path
            let field = route.path == Self.users ? "AdministratorPassword" : "Password"
            let member = #""\#(field)":"root-secret""#
            func call(_ other: String) throws -> Problem {
                #expect(route.body.contains(member))
                return Problem(try page.call(route.method, path, body: route.body.replacing(member, with: other)))
            }
            let wrong = try call(#""\#(field)":"alice-secret""#)
            #expect(wrong.code == .wrongPassword && wrong.field == field, "\(path)")
            for missing in [#""\#(field)":null"#, #""\#(field)":"""#, #""\#(field)":7"#] {
                let problem = try call(missing)
                #expect(problem.status == .badRequest && problem.field == field, "\(path): \(missing)")
            }
            // Wrong ones of all routes would be counted together.
            site.clock.advance(LoginThrottle.windowSeconds)
        }
        #expect(try isUntouched && site.store.user("bob")?.disabledAt != nil)
    }

    @Test func `wrong passwords are counted as at a log-in`() throws {
        let page = try site.page(of: "root")
        for _ in 0..<LoginThrottle.maximumFailures {
            let wrong = try page.call(.delete, Self.users + "/alice", body: #"{"Password":"x"}"#)
            #expect(wrong.status == .forbidden)
        }
        let braked = try page.call(.delete, Self.users + "/alice", body: #"{"Password":"y"}"#)
        #expect(braked.status == .tooManyRequests && braked.fields[.retryAfter] != nil)
        #expect(try isUntouched)
    }

    @Test func `an administrator neither disables nor removes themself`() throws {
        let page = try site.page(of: "root")
        for (method, path) in [(HTTPRequest.Method.post, "/ROOT/disable"), (.delete, "/root")] {
            let refused = try page.call(method, Self.users + path, body: AdministrationTests.own)
            #expect(Problem(refused).code == .changeNotAllowed)
        }
        #expect(try page.isKnown && isUntouched)
    }

    @Test func `an issuer's user who left something is removed, and a mistyped name makes no record`() throws {
        let page = try site.page(of: "root")
        let token = try issuer.token("7")
        let fields: HTTPFields = [.authorization: "Bearer \(token)", .contentType: "application/json"]
        func remove(_ name: String) throws -> HTTPResponse.Status {
            try page.call(.delete, Self.users + "/" + name, body: AdministrationTests.own).status
        }
        let name = "id.7"
        #expect(try remove(name) == .notFound && remove(name + "1") == .notFound)
        #expect(try site.store.userRecord(name) == nil && site.store.userRecord(name + "1") == nil)
        #expect(site.call(.get, "/api/register", fields: fields).status == .ok)
        let sent = site.call(.post, "/api/notifications", body: #"{"To":"\#(name)","Body":"Hi"}"#, fields: fields)
        #expect(sent.status == .ok)
        #expect(try remove(name) == .ok && remove(name + "1") == .notFound)
        #expect(site.call(.get, "/api/register", fields: fields).status == .unauthorized)
        #expect(try remove(name) == .notFound)
    }

    @Test func `what is not there is 404, and a list that cannot be is 400`() throws {
        let page = try site.page(of: "root")
        for name in ["nosuch", "a%20b", "alice:1"] {
            #expect(try page.call(.get, Self.users + "/" + name).status == .notFound, "\(name)")
        }
        for (query, field) in [("limit=0", "limit"), ("limit=101", "limit"), ("name=%f", "name")] {
            let refused = try page.call(.get, Self.users, query: query)
            #expect(refused.status == .badRequest && Problem(refused).field == field)
        }
    }

    @Test func `the page learns who may administer, and the answers to other users stay`() throws {
        for (user, may) in [("alice", false), ("root", true)] {
            let page = TestPage(site.backend)
            for answer in [try page.logIn(user), try page.call(.get, "/api/session")] {
                let json = try JSONValue(parsing: answer.body)
                #expect(json.members?.map(\.name) == ["User", "ExpiresAt"] + (may ? ["Administer"] : []))
            }
        }
    }
}
