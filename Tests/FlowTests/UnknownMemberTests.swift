// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Testing

/// A member that a request may not have: refused, so that `Tag` is not taken for no `Tags`.
struct UnknownMemberTests {
    /// A request that is well, and of which an unknown member is the only fault.
    struct Row: CustomTestStringConvertible, Sendable {
        let method: HTTPRequest.Method
        /// As the document has it; `name` and `id` are alice and anything.
        let path: String
        let body: String
        /// Why it takes any member; nil: it takes none.
        var reason: String?

        var testDescription: String { "\(method) \(path)" }

        var withSurplus: String { String(body.dropLast()) + #","Surplus":"1"}"# }
    }

    private static let users = "/api/admin/users/{name}"
    private static let own = #"{"Password":"root-secret"}"#

    static let rows: [Row] = [
        Row(method: .post, path: "/api/session", body: #"{"UserName":"alice","Password":"alice-secret"}"#),
        Row(method: .put, path: "/api/password", body: #"{"Password":"root-secret","NewPassword":"root-secret"}"#),
        Row(method: .post, path: "/api/tokens", body: #"{"Scopes":["send"],"Password":"root-secret"}"#),
        Row(
            method: .put, path: "/api/register/{id}",
            body: #"{"Platform":"apns","Handle":"\#(TestSite.token(1))"}"#),
        Row(method: .post, path: "/api/notifications", body: #"{"To":"alice","Body":"Hi"}"#),
        Row(
            method: .post, path: "/api/register",
            body: #"{"platform":"ios","instId":"one","deviceToken":"\#(TestSite.token(2))"}"#,
            reason: "the apps of the older tutorial, which are installed already"),
        Row(
            method: .put, path: "/api/notifications/installations",
            body: #"{"installationId":"one","platform":"apns","pushChannel":"\#(TestSite.token(3))"}"#,
            reason: "apps of the tutorial for .NET MAUI, which may send all that Azure's installations have"),
        Row(
            method: .post, path: "/api/notifications/requests", body: #"{"text":"Hi"}"#,
            reason: "tools of the tutorial for .NET MAUI, whose backend ignores what it does not know"),
        Row(
            method: .post, path: "/api/admin/users",
            body: #"{"UserName":"carol","Password":"carol-secret","AdministratorPassword":"root-secret"}"#),
        Row(method: .delete, path: "/api/admin/users/{name}/devices/{id}", body: own),
        Row(method: .delete, path: "/api/admin/users/{name}/sessions/{id}", body: own),
        Row(method: .delete, path: "/api/admin/users/{name}/sessions", body: own),
        Row(method: .delete, path: "/api/admin/messages/scheduled/{id}", body: own),
        Row(method: .post, path: "/api/admin/users/{name}/disable", body: own),
        Row(method: .post, path: "/api/admin/users/{name}/enable", body: own),
        Row(method: .delete, path: "/api/admin/users/{name}", body: own),
    ]

    private func call(_ row: Row, _ body: String) throws -> Response {
        let site = try TestSite(
            users: ["alice", "root"], policy: TagPolicy(roles: [Role(name: "admin", administers: true)]))
        try site.change("root") { $0.roles = ["admin"] }
        let path = row.path.replacing("{name}", with: "alice").replacing("{id}", with: "7")
        return try site.page(of: "root").call(row.method, path, body: body)
    }

    @Test(arguments: rows.filter { $0.reason == nil })
    func `a member that there is not is refused, and named`(_ row: Row) throws {
        let refused = try call(row, row.withSurplus)
        #expect(refused.status == .badRequest && Problem(refused).field == "Surplus")
        // Nor does it count without a value.
        let well = try call(row, row.withSurplus.replacing(#""1""#, with: "null"))
        #expect(well.status == .ok || well.status == .notFound, "\(Problem(well).detail)")
    }

    @Test(arguments: rows.filter { $0.reason != nil })
    func `the tutorials' apps may send more than is read`(_ row: Row) throws {
        #expect(try call(row, row.withSurplus).status == .ok)
    }

    @Test func `the list of requests with a body is whole`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let document = try JSONValue(parsing: Array(Data(contentsOf: root.appending(path: "nginx/html/openapi.json"))))
        let documented = (document["paths"]?.members ?? []).flatMap { path -> [String] in
            // The document tells a route's two calls by a slash at the end.
            let route = path.name.hasSuffix("/") ? path.name.dropLast() : path.name[...]
            return (path.value.members ?? []).filter { $0.value["requestBody"] != nil }
                .map { "\($0.name.uppercased()) \(route)" }
        }
        let known = Self.rows.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(known).symmetricDifference(documented).isEmpty)
    }

    @Test func `a token that is asked for with misspelt bounds is not made`() throws {
        let site = try TestSite()
        for body in [#"{"Scopes":["send"],"Recipients":["alice"]}"#, #"{"Scopes":["send"],"ExpiresIn":90}"#] {
            #expect(site.call(.post, "/api/tokens", as: "alice", body: body).status == .badRequest)
        }
        #expect(site.call(.get, "/api/tokens", as: "alice").body == Array("[]".utf8))
    }

    @Test func `an id is asked for with null as well as without a body, and counts once by its key`() throws {
        let site = try TestSite()
        let key = HTTPFields(["Idempotency-Key": "one"])
        let answers = (0..<2).map { _ in
            site.call(.post, "/api/register", as: "alice", body: "null\n", fields: key)
        }
        let id = try JSONValue(parsing: answers[0].body).string
        #expect(answers[0].status == .ok && id?.isEmpty == false)
        answers[0].expectRepeated(answers[1])
    }
}
