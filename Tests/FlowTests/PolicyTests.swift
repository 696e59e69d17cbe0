// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// From what the backend is made of (`Backend.Parts`) to what its users meet.
struct PolicyTests {
    private func isKept(_ site: TestSite, _ id: Int32) -> Bool {
        site.call(.get, "/api/notifications/\(id)", as: "alice").status == .ok
    }

    private func leave(_ site: TestSite) throws -> Int32 {
        try #require(try SendOutcome(site.call(.post, "/api/notifications", as: "alice")).id)
    }

    @Test(arguments: [nil, 60, 86_400] as [Int64?])
    func `a secret is kept for as long as configured, and not a second longer`(retention: Int64?) throws {
        let site = try TestSite { if let retention { $0.retentionSeconds = retention } }
        let id = try leave(site)
        // Thirty days, when nothing is said.
        site.clock.advance((retention ?? 30 * 86_400) - 1)
        #expect(isKept(site, id))
        site.clock.advance(1)
        #expect(!isKept(site, id))
        #expect(try SecureMessageSummary.list(site.call(.get, "/api/notifications", as: "alice")).isEmpty)
    }

    /// One user, one request, and its answer.
    struct Row: CustomTestStringConvertible, Sendable {
        /// nil: the configuration's defaults.
        var own: [String]?
        let wish: String
        let isAllowed: Bool

        init(_ own: [String]?, _ wish: String, _ isAllowed: Bool) {
            self.own = own
            self.wish = wish
            self.isAllowed = isAllowed
        }

        var testDescription: String { "\(own?.description ?? "default"): \(wish)" }
    }

    private func site(_ row: Row, _ policy: TagPolicy, _ adjust: (inout User) -> Void) throws -> TestSite {
        let site = try TestSite(users: ["bob", "team-lead"], policy: policy)
        var user = User(name: "alice", passwordHash: try PasswordHash.make("alice-secret"))
        adjust(&user)
        _ = try site.store.putUser(user)
        return site
    }

    static let tagRows = [
        Row(nil, "news-sport", true), Row(nil, "NEWS", true), Row(nil, "sport", false), Row(nil, "from:bob", false),
        // A user's own patterns stand in place of the defaults, not beside them.
        Row(["sport"], "sport", true), Row(["sport"], "news", false), Row([], "news", false),
        Row(["from:b*"], "from:bob", true), Row(["*"], "from:bob", false),
        Row(["*", "username:*"], "username:bob", false),
    ]

    @Test(arguments: tagRows) func `the defaults say which tags a user without patterns may claim`(row: Row) throws {
        let site = try site(row, TagPolicy(defaultTags: ["news*"])) { $0.tags = row.own }
        let id = try JSONValue(parsing: site.call(.post, "/api/register", as: "alice").body).string ?? ""
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: [row.wish]).json
        let response = site.call(
            .put, "/api/register/\(id)", as: "alice", body: String(decoding: body, as: UTF8.self))
        #expect(response.status == (row.isAllowed ? .ok : .forbidden))
        #expect(Problem(response).field == (row.isAllowed ? nil : "Tags"))
    }

    static let recipientRows = [
        Row(nil, "team-lead", true), Row(nil, "TEAM-Lead", true), Row(nil, "bob", false), Row(nil, "alice", true),
        Row(["bob"], "bob", true), Row(["bob"], "team-lead", false), Row([], "bob", false), Row([], "alice", true),
    ]

    @Test(arguments: recipientRows) func `the defaults say whom a user without patterns may send to`(
        row: Row
    ) throws {
        let site = try site(row, TagPolicy(defaultSendTo: ["team*"])) { $0.sendTo = row.own }
        for query in ["pns=apns&to_tag=\(row.wish)", "to_tag=\(row.wish)"] {
            let response = site.call(.post, "/api/notifications", query: query, as: "alice", body: #""Hello""#)
            #expect(response.status == (row.isAllowed ? .ok : .forbidden))
            #expect(Problem(response).field == (row.isAllowed ? nil : "to_tag"))
        }
        #expect(site.hub.messages.isEmpty == !row.isAllowed)
    }

    @Test func `the tutorial's own check leaves a user who is in the store the rights that are there`() throws {
        let site = try TestSite(isTestHandler: true)
        try site.change("alice") { $0.sendTo = [] }
        let fields: HTTPFields = [.authorization: "Basic " + Data("alice:alice".utf8).base64EncodedString()]
        let response = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=bob", body: #""Hello""#, fields: fields)
        #expect(response.status == .forbidden)
    }

    @Test func `who is in no store is held to the defaults`() throws {
        let policy = TagPolicy(defaultTags: ["news*"], defaultSendTo: ["team*"])
        let site = try TestSite(users: [], policy: policy, isTestHandler: true)
        let fields: HTTPFields = [.authorization: "Basic " + Data("zoe:zoe".utf8).base64EncodedString()]
        for (recipient, status) in [("team-lead", 200), ("bob", 403), ("zoe", 200)] {
            let response = site.call(
                .post, "/api/notifications", query: "pns=apns&to_tag=\(recipient)", body: #""Hello""#, fields: fields)
            #expect(response.status.code == status)
        }
    }

    @Test func `without a word a user may claim any plain tag and send to anybody`() throws {
        let site = try TestSite()
        _ = try site.register("alice", tags: ["news", "a.b", "team#1"])
        let response = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=alice", as: "bob", body: #""Hello""#)
        #expect(response.status == .ok)
    }

    @Test func `the challenge names the realm`() throws {
        let site = try TestSite(users: []) { $0.realm = "Contoso" }
        let response = site.call(.get, "/api/register")
        #expect(response.fields[.wwwAuthenticate] == #"Basic realm="Contoso", charset="UTF-8""#)
    }
}
