// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import Store
import Testing

/// A message object to a tag: which devices it reaches, and who may send it.
struct TagMessageTests {
    /// - Parameter sendTo: bob's patterns.
    private func site(_ sendTo: [String]? = ["tag:news*"], secureOnly: Bool = false) throws -> TestSite {
        let site = try TestSite(users: ["alice", "bob", "carol"], policy: TagPolicy(isSecureOnly: secureOnly))
        try site.change("bob") { $0.sendTo = sendTo }
        return site
    }

    @Test func `it reaches all devices that claimed the tag, and no other`() throws {
        let site = try site()
        _ = try site.register("alice", handle: TestSite.token(1), tags: ["news"])
        _ = try site.register("carol", handle: TestSite.token(2), tags: ["News", "sport"])
        _ = try site.register("carol", handle: TestSite.token(3), tags: ["sport"])
        let outcome = try SendOutcome(site.send(PushMessage(to: "tag:news", body: "Hi", platforms: ["apns"])))
        #expect(outcome.outcomes.map(\.platform) == ["apns"])
        #expect(site.hub.messages.map(\.tags) == ["news || from:bob"])
        #expect(try site.devices(of: outcome) == 2)
    }

    @Test func `its outcome is the sender's to ask for`() throws {
        let site = try site()
        let outcome = try SendOutcome(site.send(PushMessage(to: "tag:news", body: "Hi", platforms: ["apns"])))
        let id = try #require(outcome.outcomes.first?.notificationID)
        #expect(site.call(.get, "\(Path.outcomes)/\(id)", as: "bob").status == .ok)
        #expect(site.call(.get, "\(Path.outcomes)/\(id)", as: "alice").status == .notFound)
    }

    @Test func `devices of the older call get it, unless platforms are named or nothing is to be shown`() throws {
        let site = try site()
        func hasTemplate(_ message: PushMessage) throws -> Bool {
            try SendOutcome(site.send(message)).outcomes.contains { $0.platform == "template" }
        }
        #expect(try hasTemplate(PushMessage(to: "tag:news", body: "Hi")))
        #expect(site.hub.messages.filter { $0.format == "template" }.map(\.tags) == ["news"])
        #expect(try !hasTemplate(PushMessage(to: "tag:news", body: "Hi", platforms: ["apns"])))
        #expect(try !hasTemplate(PushMessage(to: "tag:news", isSilent: true)))
    }

    typealias Row = RecipientRow

    static let rows = [
        // A pattern for users grants no tag, whatever it matches.
        Row(nil, "tag:news", 403), Row(["*"], "tag:news", 403), Row([], "tag:news", 403),
        Row(["tag:*"], "tag:news", 200), Row(["TAG:News"], "tag:NEWS", 200), Row(["tag:news"], "tag:sport", 403),
        // Nor does one for tags grant a user.
        Row(["tag:*"], "alice", 403), Row(["tag:*", "al*"], "alice", 200),
        // Tags of the server's own are no way round the patterns for users.
        Row(["tag:*"], "tag:username:alice", 403), Row(["tag:*"], "tag:UserName:alice", 403),
        Row(["tag:*"], "tag:from:alice", 403), Row(["tag:*"], "tag:app:com.example", 403),
        Row(["tag:*"], "tag:", 400), Row(["tag:*"], "tag:a || b", 400), Row(["tag:*"], "tag:$UserId:{alice}", 400),
        Row(["tag:*"], "tag:" + String(repeating: "a", count: 121), 400),
    ]

    @Test(arguments: rows) func `a pattern that begins with it grants a tag, and nothing else does`(row: Row) throws {
        let site = try site(row.patterns)
        _ = row.expect(at: site)
    }

    @Test func `a secure message is for one user, and where nothing else may be sent, none goes to a tag`() throws {
        let site = try site()
        let secure = Problem(site.send(PushMessage(to: "tag:news", body: "Hi", isSecure: true)))
        #expect(secure.status == .badRequest && secure.field == "Secure")
        try site.change("bob") { $0.isSecureOnly = true }
        for site in [site, try self.site(secureOnly: true)] {
            let refused = Problem(site.send(PushMessage(to: "tag:news", body: "Hi")))
            #expect(refused.status == .forbidden && refused.field == "To")
            #expect(site.hub.messages.isEmpty)
        }
    }

    @Test func `the parameter of the string calls is a user's name as ever`() throws {
        let site = try site(["tag:*"])
        for query in ["pns=apns&to_tag=tag:news", "to_tag=tag:news"] {
            let problem = Problem(site.call(.post, "/api/notifications", query: query, as: "bob", body: #""Hi""#))
            #expect(problem.status == .badRequest && problem.field == "to_tag")
        }
        #expect(site.hub.messages.isEmpty)
    }
}
