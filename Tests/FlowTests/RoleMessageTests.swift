// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// A message object to a role: the devices that it reaches as roles come and go, and the tags by which it reaches them.
struct RoleMessageTests {
    /// Bob may send to alice and to all roles.
    private func site(
        road: TestSite.Road = .wire, issuer: TestIssuer? = nil, hub: HubHandle? = nil
    ) throws -> TestSite {
        let site = try TestSite(
            users: ["alice", "bob", "carol"], policy: TagPolicy(roles: TestSite.roles), road: road,
            adjusting: { parts in issuer?.trust(in: &parts) }, surroundingHub: { hub?.surround($0) ?? $0 })
        try site.change("bob") { $0.sendTo = ["role:*", "alice"] }
        return site
    }

    /// As the operator gives roles.
    private func give(_ roles: [String], to name: String, on site: TestSite) throws -> UserRemains {
        var user = try #require(try site.store.user(name))
        user.roles = roles
        return try #require(try site.upkeep(TagPolicy(roles: TestSite.roles)).change(user))
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
    func `a device has the tags of its user's roles at the hub, and not in the user's list of devices`(
        road: TestSite.Road
    ) throws {
        let site = try site(road: road)
        try site.change("alice") { $0.roles = ["oncall", "gone"] }
        let id = try site.register("alice", tags: ["news"])
        #expect(try site.hubTags(id) == ["news", "role:oncall", "username:alice"])
        let tags = try site.registrations(of: "alice").map { $0["Tags"]?.array?.compactMap(\.string) }
        #expect(tags == [["news"]])
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
            #expect(site.put(id, as: "alice", handle: TestSite.token(1)).status == .ok)
            #expect(try site.hubTags(id)?.contains("role:oncall") == (roles == ["oncall"]))
        }
        // And without one the service goes on with it.
        hub.setAway(true)
        _ = try give(["oncall"], to: "alice", on: site)
        hub.setAway(false)
        for _ in 0..<30 {
            site.clock.advance(10)
            try site.upkeep(TagPolicy(roles: TestSite.roles)).run()
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
        let (upkeep, changed) = (site.upkeep(TagPolicy(roles: TestSite.roles)), user)
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
        let tokens = [
            token, try issuer.token("dora", roles: ["oncall", "unknown"]), try issuer.token("emil", roles: []),
        ]
        for (number, token) in tokens.enumerated() {
            let body = #"{"Platform":"apns","Handle":"\#(TestSite.token(number + 1))"}"#
            let fields: HTTPFields = [.authorization: "Bearer \(token)"]
            #expect(site.call(.put, Path.register + "/phone", body: body, fields: fields).status == .ok)
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

    @Test(arguments: ["role:oncall", "Role:x", "ROLE:", "device:1-2-1", "Device:x"])
    func `no user can claim such a tag, whatever is granted`(tag: String) throws {
        let site = try site()
        try site.change("alice") { $0.tags = ["*", "role:*", "device:*"] }
        let problem = #expect(throws: Problem.self) { _ = try site.register("alice", tags: [tag]) }
        #expect(problem?.code == .tagNotAllowed && problem?.field == "Tags")
        #expect(problem?.detail.contains("\(tag) (it is the server's own)") == true)
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
        #expect(problem?.code == .tooManyTags && problem?.detail.contains("58") == true)
        // Of thousands no more are looked at than there is room for.
        let more = #expect(throws: Problem.self) { _ = try site.register("alice", tags: tags + ["not legal"]) }
        #expect(more?.code == .tooManyTags)
        let fewer = try site.register("alice", tags: Array(tags.prefix(58)))
        #expect(try site.hubTags(fewer)?.contains("role:oncall") == true)
    }
}
