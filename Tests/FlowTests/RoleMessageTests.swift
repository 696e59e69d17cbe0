// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// A message object to a role: whom it reaches as roles come and go, and who may send it.
struct RoleMessageTests {
    private static let roles = [
        Role(name: "oncall"), Role(name: "Desk.2", tags: ["press"]), Role(name: "all", mayBroadcast: true),
    ]

    /// - Parameter sendTo: bob's patterns.
    private func site(
        _ sendTo: [String]? = ["role:*", "alice", "tag:*"], policy: TagPolicy = TagPolicy(roles: Self.roles),
        road: TestSite.Road = .wire, issuer: TestIssuer? = nil, hub: HubHandle? = nil
    ) throws -> TestSite {
        let site = try TestSite(
            users: ["alice", "bob", "carol"], policy: policy, road: road,
            adjusting: { parts in issuer?.trust(in: &parts) }, surroundingHub: { hub?.surround($0) ?? $0 })
        try site.change("bob") { $0.sendTo = sendTo }
        return site
    }

    /// As the operator gives roles.
    private func give(_ roles: [String], to name: String, on site: TestSite) throws -> UserRemains {
        var user = try #require(try site.store.user(name))
        user.roles = roles
        return try #require(try site.upkeep(TagPolicy(roles: Self.roles)).change(user))
    }

    /// How many devices of Apple's a message finds.
    private func devices(_ to: PushMessage.Recipients, on site: TestSite) throws -> Int {
        try site.devices(of: site.send(PushMessage(to: to, body: "Hi", platforms: ["apns"])))
    }

    @Test func `a user who is secure-only is in no role's reach, from the change on and back`() throws {
        let site = try site()
        _ = try give(["oncall"], to: "alice", on: site)
        _ = try site.register("alice", handle: TestSite.token(1))
        #expect(try devices("role:oncall", on: site) == 1)
        for (isSecureOnly, reached) in [(true, 0), (false, 1)] {
            try site.change("alice") { $0.isSecureOnly = isSecureOnly }
            _ = try give(["oncall"], to: "alice", on: site)
            #expect(try devices("role:oncall", on: site) == reached)
        }
        try site.change("alice") { $0.isSecureOnly = true }
        _ = try site.register("alice", handle: TestSite.token(2))
        #expect(try devices("role:oncall", on: site) == 1)
    }

    @Test(arguments: TestSite.Road.allCases)
    func `it reaches all devices of the users who have the role, and of no others`(road: TestSite.Road) throws {
        let site = try site(road: road)
        for name in ["alice", "carol"] { try site.change(name) { $0.roles = ["oncall", "gone"] } }
        try site.change("bob") { $0.roles = ["Desk.2"] }
        _ = try site.register("alice", handle: TestSite.token(1))
        let id = try site.register("alice", handle: TestSite.token(2), tags: ["news"])
        _ = try site.register("carol", handle: TestSite.token(3))
        _ = try site.register("bob", handle: TestSite.token(4))
        #expect(try devices("role:oncall", on: site) == 3)
        #expect(try devices("ROLE:OnCall", on: site) == 3)
        #expect(try devices("role:desk.2", on: site) == 1)
        if road == .wire { #expect(site.hub.messages.first?.tags == "role:oncall || from:bob") }
        // The list of a user's devices has what the user has claimed.
        #expect(try site.hubTags(id) == ["news", "role:oncall", "username:alice"])
        let shown = try site.registrations(of: "alice").first { $0["RegistrationId"]?.string == id }
        #expect(shown?["Tags"]?.array?.compactMap(\.string) == ["news"])
    }

    @Test func `devices follow at once when the operator gives a role and takes it away`() throws {
        let site = try site()
        let id = try site.register("alice", tags: ["news"])
        #expect(try devices("role:oncall", on: site) == 0)
        #expect(try give(["oncall"], to: "alice", on: site).devices == 0)
        #expect(try devices("role:oncall", on: site) == 1)
        #expect(try give(["Desk.2", "oncall"], to: "alice", on: site).devices == 0)
        #expect(try site.hubTags(id) == ["news", "role:oncall", "role:Desk.2", "username:alice"])
        #expect(try give(["Desk.2"], to: "alice", on: site).devices == 1)
        #expect(try devices("role:oncall", on: site) == 0 && devices("role:Desk.2", on: site) == 1)
        #expect(try give(["Desk.2"], to: "alice", on: site).devices == 0)
        #expect(try give([], to: "alice", on: site).devices == 1)
        #expect(try site.hubTags(id) == ["news", "username:alice"])
    }

    @Test func `after a change that was interrupted the next registration has the roles`() throws {
        let hub = HubHandle()
        let site = try site(hub: hub)
        let id = try site.register("alice")
        for roles in [["oncall"], []] {
            hub.setAway(true)
            #expect(try give(roles, to: "alice", on: site).unreachable == 1)
            hub.setAway(false)
            let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: []).json
            let again = site.call(
                .put, "\(Path.register)/\(id)", as: "alice", body: String(decoding: body, as: UTF8.self))
            #expect(again.status == .ok)
            #expect(try site.hubTags(id)?.contains("role:oncall") == (roles == ["oncall"]))
        }
        // And without one the service goes on with it.
        hub.setAway(true)
        _ = try give(["oncall"], to: "alice", on: site)
        hub.setAway(false)
        for _ in 0..<30 {
            site.clock.advance(10)
            try site.upkeep(TagPolicy(roles: Self.roles)).run()
        }
        #expect(try devices("role:oncall", on: site) == 1)
    }

    @Test func `a registration that overlaps with the change is well, and has the roles that the user has then`() throws
    {
        let hub = HubHandle()
        let site = try site(hub: hub)
        let id = try site.newID("alice")
        var user = try #require(try site.store.user("alice"))
        user.roles = ["oncall"]
        let (upkeep, changed) = (site.upkeep(TagPolicy(roles: Self.roles)), user)
        hub.interrupt {
            #expect(throws: Never.self) { _ = try upkeep.change(changed) }
        }
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: ["news"]).json
        let answer = site.call(.put, "\(Path.register)/\(id)", as: "alice", body: String(decoding: body, as: UTF8.self))
        #expect(answer.status == .ok)
        #expect(try site.hubTags(id) == ["news", "role:oncall", "username:alice"])
    }

    @Test func `a device that changes hands is of its new user's roles`() throws {
        let site = try site()
        try site.change("alice") { $0.roles = ["oncall"] }
        _ = try site.register("alice")
        #expect(try devices("role:oncall", on: site) == 1)
        _ = try site.register("carol")
        #expect(try devices("role:oncall", on: site) == 0)
    }

    @Test func `every way to register, and every credential, gives the roles of its user`() throws {
        let issuer = TestIssuer("https://id.example")
        let site = try site(issuer: issuer)
        try site.change("alice") { $0.roles = ["oncall"] }
        let made = site.call(.post, Path.tokens, as: "alice", body: #"{"Scopes":["register"]}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        let rows: [(String, String, String)] = [
            ("Bearer \(token)", "apns", TestSite.token(1)),
            ("Bearer \(try issuer.token("dora", roles: ["oncall", "unknown"]))", "apns", TestSite.token(2)),
            ("Bearer \(try issuer.token("emil", roles: []))", "apns", TestSite.token(3)),
        ]
        for (credentials, platform, handle) in rows {
            let body = DeviceRegistration(platform: platform, handle: handle, tags: []).json
            let answer = site.call(
                .put, Path.register + "/phone", body: String(decoding: body, as: UTF8.self),
                fields: [.authorization: credentials])
            #expect(answer.status == .ok)
        }
        let older = #"{"platform":"ios","instId":"i-1","deviceToken":"\#(TestSite.token(4))"}"#
        #expect(site.call(.post, Path.register, as: "alice", body: older).status == .ok)
        let installation =
            #"{"installationId":"i-2","platform":"apns","pushChannel":"\#(TestSite.token(5))","tags":["news"]}"#
        #expect(site.call(.put, Path.installations, as: "alice", body: installation).status == .ok)
        #expect(try devices("role:oncall", on: site) == 3)
        let templates = try site.hubClient.registrations(channel: TestSite.token(4)).map(\.tagTexts)
        #expect(templates == [["i-1", "role:oncall", "username:alice"]])
    }

    typealias Row = RecipientRow

    static let rows = [
        Row(["role:*"], "role:oncall", 200), Row(["Role:onCALL"], "role:oncall", 200),
        // A pattern for users or tags grants no role, and one for roles neither of them.
        Row(nil, "role:oncall", 403), Row(["*"], "role:oncall", 403), Row(["tag:*"], "role:oncall", 403),
        Row(["role:desk*"], "role:oncall", 403), Row(["role:*"], "alice", 403), Row(["role:*"], "tag:news", 403),
        // By no other way.
        Row(["role:*", "tag:*"], "tag:role:oncall", 403), Row(["role:*", "tag:*"], "tags:news && role:oncall", 403),
        Row(["role:*", "tag:*"], "tag:device:1-2-1", 403), Row(["tag:*"], "tags:a && !device:1-2-1", 403),
        // Only those who may send there learn whether there is such a role.
        Row(["role:oncall"], "role:nosuch", 403), Row(["role:*"], "role:nosuch", 400),
        Row(["role:*"], "role:", 400), Row(["role:*"], "role:a b", 400),
        Row(["role:*"], "role:" + String(repeating: "a", count: 200), 400),
    ]

    @Test(arguments: rows) func `a pattern that begins with it grants a role, and nothing else does`(row: Row) throws {
        let site = try site(row.patterns)
        let response = row.expect(at: site)
        if row.status == 403 { #expect(Problem(response).detail.contains("sendTo")) }
    }

    @Test func `in a list it is one recipient beside users and tags, and is refused by its name`() throws {
        let site = try site()
        try site.change("alice") { $0.roles = ["oncall"] }
        _ = try site.register("alice", handle: TestSite.token(1), tags: ["news"])
        _ = try site.register("carol", handle: TestSite.token(2), tags: ["news"])
        let to = PushMessage.Recipients.several(["alice", "role:oncall", "ROLE:oncall", "tag:news"])
        #expect(try devices(to, on: site) == 2)
        #expect(site.hub.messages.last?.tags == "username:alice || news || role:oncall || from:bob")
        let rows: [([String], Int, String)] = [
            (["alice", "role:nosuch"], 400, "There is no role nosuch in the configuration."),
            (["alice", "role:"], 400, "To names no role: it is role: and a role, as in role:oncall."),
            ((1...20).map { "role:r\($0)" }, 400, "A list in To must name 1 to 19 recipients."),
        ]
        for (texts, status, detail) in rows {
            let problem = Problem(site.send(PushMessage(to: .several(texts), body: "Hi")))
            #expect(problem.status.code == status && problem.field == "To" && problem.detail == detail)
        }
        let narrow = try self.site(["alice"])
        let refused = Problem(narrow.send(PushMessage(to: .several(["alice", "role:oncall"]), body: "Hi")))
        #expect(refused.detail == "You may not send to role:oncall (the user's own sendTo).")
        #expect(narrow.hub.messages.isEmpty)
    }

    @Test func `it is never secure, also in a list, and no app token that is limited to users sends it`() throws {
        let site = try site()
        for to: PushMessage.Recipients in ["role:oncall", .several(["alice", "role:oncall"])] {
            let secure = Problem(site.send(PushMessage(to: to, body: "Hi", isSecure: true)))
            #expect(secure.status == .badRequest && secure.field == "Secure")
            #expect(secure.detail == "A message to a role cannot be secure: a text is kept for one user.")
        }
        let made = site.call(.post, Path.tokens, as: "bob", body: #"{"Scopes":["send"],"To":["alice"]}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        let body = String(decoding: PushMessage(to: "role:oncall", body: "Hi").json, as: UTF8.self)
        let limited = Problem(
            site.call(.post, Path.notifications, body: body, fields: [.authorization: "Bearer \(token)"]))
        #expect(limited.status == .forbidden && limited.detail.contains("app token"))
        try site.change("alice") { $0.isSecureOnly = true }
        let careful = Problem(site.send(PushMessage(to: .several(["alice", "role:oncall"]), body: "Hi")))
        #expect(careful.status == .forbidden)
        #expect(careful.detail == "Only secure messages may be sent to alice, and a role beside them gets none.")
        try site.change("bob") { $0.isSecureOnly = true }
        let refused = Problem(site.send(PushMessage(to: "role:oncall", body: "Hi")))
        #expect(refused.status == .forbidden && refused.field == "To")
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `devices of the older call get it, unless platforms are named`() throws {
        let site = try site()
        #expect(site.send(PushMessage(to: "role:oncall", body: "Hi")).status == .ok)
        #expect(site.hub.messages.filter { $0.format == "template" }.map(\.tags) == ["role:oncall"])
    }

    @Test(arguments: ["role:oncall", "Role:x", "ROLE:", "device:1-2-1", "Device:x"])
    func `no user can claim such a tag, whatever is granted`(tag: String) throws {
        let site = try site()
        try site.change("alice") { $0.tags = ["*", "role:*", "device:*"] }
        let problem = #expect(throws: Problem.self) { _ = try site.register("alice", tags: [tag]) }
        #expect(problem?.status == .forbidden && problem?.field == "Tags")
        #expect(problem?.detail == "You may not claim the tag \(tag) (it is the server's own).")
    }

    @Test func `a user's roles leave less room for tags, and without roles there is as much as ever`() throws {
        let site = try site()
        let tags = (1...59).map { "t\($0)" }
        let id = try site.register("alice", tags: tags)
        #expect(try site.hubTags(id)?.count == 60)
        // One that is given later has no room, and the hub takes what there is room for.
        #expect(try give(["oncall"], to: "alice", on: site).failure == nil)
        #expect(try site.hubTags(id)?.count == 60)
        let problem = #expect(throws: Problem.self) { _ = try site.register("alice", tags: tags) }
        #expect(problem?.detail == "A device has at most 58 tags.")
        let fewer = try site.register("alice", tags: Array(tags.prefix(58)))
        #expect(try site.hubTags(fewer)?.contains("role:oncall") == true)
    }
}
