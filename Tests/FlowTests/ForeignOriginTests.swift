// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Testing
import Text

/// Pages of other sites that the operator has listed (CORS), and all others.
struct ForeignOriginTests {
    private static let listed = "https://app.example"

    private func site() throws -> TestSite {
        try TestSite { $0.foreignOrigins = ForeignOrigins([Self.listed, "capacitor://localhost"]) }
    }

    /// What a browser says of a page's request.
    private func fields(_ origin: String, _ more: HTTPFields = [:]) -> HTTPFields {
        var fields = HTTPFields(["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"])
        fields[.origin] = origin
        for field in more { fields[field.name] = field.value }
        return fields
    }

    private func call(
        _ site: TestSite, _ method: HTTPRequest.Method, _ path: String, from origin: String = listed,
        as user: String? = "alice", body: String = "", _ more: HTTPFields = [:]
    ) -> Response {
        site.call(method, path, as: user, body: body, fields: fields(origin, more))
    }

    private func allowed(_ response: Response) -> String? { response.fields[.accessControlAllowOrigin] }

    @Test(arguments: [listed, "capacitor://localhost"])
    func `a listed site's page registers, sends and reads with credentials of its own`(origin: String) throws {
        let site = try site()
        let id = call(site, .post, "/api/register", from: origin, [.contentType: "application/json"])
        #expect(id.status == .ok && allowed(id) == origin && id.fields[.vary] == "Origin")
        let sent = site.call(
            .post, "/api/notifications", query: "to_tag=alice", as: "bob", body: #""secret""#, fields: fields(origin))
        #expect(sent.status == .ok && allowed(sent) == origin)
        let now = Timestamp(seconds: site.clock.seconds)
        let waiting = try site.store.notifications(owner: "alice", unreadOnly: true, after: nil, limit: 1, now: now)
        let kept = try #require(waiting.first)
        #expect(call(site, .get, "/api/notifications/\(kept.id)", from: origin).status == .ok)
        #expect(call(site, .delete, "/api/notifications/\(kept.id)", from: origin).status == .ok)
    }

    @Test func `the browser's question is answered without credentials, on every path`() throws {
        let site = try site()
        for path in ["/api/register", "/api/notifications/7", "/api/config", "/api/none"] {
            let answer = call(site, .options, path, as: nil)
            #expect(answer.status == .noContent && allowed(answer) == Self.listed, "\(path)")
            for name in ["Authorization", "Content-Type", "Idempotency-Key", "If-None-Match"] {
                #expect(answer.fields[.accessControlAllowHeaders]?.contains(name) == true)
            }
            for method in ["PUT", "DELETE"] {
                #expect(answer.fields[.accessControlAllowMethods]?.contains(method) == true)
            }
            #expect(answer.fields[.accessControlAllowCredentials] == nil)
        }
    }

    @Test func `a refusal can be read as well`() throws {
        let site = try site()
        let refusals = [
            call(site, .get, "/api/register", as: nil), call(site, .get, "/api/none"),
            call(site, .post, "/api/notifications", body: "{}"),
        ]
        #expect(refusals.map(\.status.code) == [401, 404, 400])
        #expect(refusals.allSatisfy { allowed($0) == Self.listed })
    }

    @Test func `what a browser adds by itself does not count for a listed site`() throws {
        let site = try TestSite {
            $0.foreignOrigins = ForeignOrigins([Self.listed])
            $0.authenticationMethods = [.password, .webServer, .session]
        }
        let cookie = try #require(try site.page(of: "alice").cookie)
        let byCookie = call(site, .get, "/api/register", as: nil, [.cookie: cookie])
        #expect(byCookie.status == .unauthorized)
        var request = Request(
            method: .get, authority: "backend.test", path: "/api/register", fields: fields(Self.listed), id: "test")
        request.authenticatedUser = "alice"
        #expect(site.backend.respond(to: request).status == .unauthorized)
        request.fields = [:]
        #expect(site.backend.respond(to: request).status == .ok)
    }

    @Test func `a password that a browser may have added does not count in what changes something`() throws {
        let site = try site()
        for type in [nil, "text/plain", "application/x-www-form-urlencoded"] as [String?] {
            var more: HTTPFields = [:]
            more[.contentType] = type
            let answer = call(site, .post, "/api/register", more)
            #expect(answer.status == .forbidden && Problem(answer).field == "Content-Type")
            #expect(allowed(answer) == Self.listed)
        }
        let made = site.call(.post, "/api/tokens", as: "alice", body: #"{"Scopes":["register"]}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        #expect(call(site, .post, "/api/register", as: nil, [.authorization: "Bearer \(token)"]).status == .ok)
    }

    @Test func `this site's own page stays its own where its origin is listed`() throws {
        let site = try TestSite { $0.foreignOrigins = ForeignOrigins(["https://backend.test"]) }
        #expect(try site.page(of: "alice").call(.post, "/api/register").status == .ok)
    }

    @Test func `sessions are for this site's own page`() throws {
        let site = try site()
        let body = #"{"UserName":"alice","Password":"alice-secret"}"#
        let answer = call(site, .post, "/api/session", as: nil, body: body)
        #expect(answer.status == .forbidden && allowed(answer) == nil && answer.fields[.setCookie] == nil)
        #expect(allowed(call(site, .options, "/API/Session", as: nil)) == nil)
    }

    @Test(arguments: [
        "https://app.example:8443", "http://app.example", "https://APP.example", "https://app.example.evil.example",
        "null", "https://other.example", "",
    ])
    func `a page of a site that is not listed reads nothing and changes nothing`(origin: String) throws {
        let site = try site()
        for (method, path) in [
            (HTTPRequest.Method.get, "/api/register"), (.options, "/api/register"), (.get, "/api/config"),
        ] {
            #expect(allowed(call(site, method, path, from: origin)) == nil)
        }
        #expect(call(site, .post, "/api/register", from: origin).status == .forbidden)
        #expect(call(site, .options, "/api/register", from: origin, as: nil).status == .unauthorized)
    }

    @Test func `without a list all is as it was`() throws {
        let site = try TestSite()
        #expect(call(site, .post, "/api/register").status == .forbidden)
        #expect(allowed(call(site, .get, "/api/config")) == nil)
    }

    @Test func `the answer to a send that waits for the hub can be read as well`() throws {
        let site = try site()
        let body = Array(#"{"To":"bob","Body":"x"}"#.utf8)
        var request = Request(
            method: .post, authority: "backend.test", path: "/api/notifications",
            fields: fields(Self.listed, [.contentType: "application/json"]), body: body, id: "test")
        request.fields[.authorization] = "Basic " + Data("alice:alice-secret".utf8).base64EncodedString()
        var response = site.backend.respond(to: request)
        if let continuation = response.continuation { response = try continuation.answer() }
        #expect(response.status == .ok && allowed(response) == Self.listed)
    }

    @Test(arguments: [
        "https://app.example", "https://app.example:8443", "http://localhost", "http://localhost:3000",
        "http://127.0.0.1:8080", "http://[::1]:8080", "capacitor://localhost", "https://[2001:db8::1]",
    ])
    func `what a browser writes is an origin`(text: String) { #expect(ForeignOrigins.isOrigin(text)) }

    @Test(arguments: [
        "", "*", "null", "app.example", "https://", "https://app.example/", "https://app.example/path",
        "https://App.example", "http://app.example", "http://localhost.example", "https://app.example:443",
        "https://user@app.example", "https://app.example?x", "://x", "https://*.example", "https://a,b",
    ])
    func `a browser writes no origin in another way`(text: String) { #expect(!ForeignOrigins.isOrigin(text)) }
}
