// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Testing

/// What a role adds to what its users may anyway, by a record or by a token.
struct RoleTests {
    private static let policy = TagPolicy(
        defaultTags: ["news"], defaultSendTo: ["team-*"],
        roles: [
            Role(name: "editor", tags: ["press", "from:bob"], sendTo: ["tag:news"]),
            Role(name: "helper", sendTo: ["bob"]),
        ])
    private let issuer = TestIssuer("https://id.example")
    private let site: TestSite

    init() throws {
        let issuer = issuer
        site = try TestSite(
            policy: Self.policy,
            adjusting: { issuer.trust(in: &$0) })
    }

    private func give(_ roles: [String], to name: String = "alice", sendTo: [String]? = nil) throws {
        try site.change(name) { ($0.roles, $0.sendTo) = (roles, sendTo) }
    }

    private func sendToTag(_ tag: String) -> Response {
        site.call(.post, Path.notifications, as: "alice", body: #"{"To":"tag:\#(tag)","Title":"t"}"#)
    }

    private func sendToBob(_ token: String? = nil) -> Response {
        let fields: HTTPFields = token.map { [.authorization: "Bearer \($0)"] } ?? [:]
        return site.call(
            .post, Path.notifications, query: "pns=apns&to_tag=bob", as: token == nil ? "alice" : nil, body: #""m""#,
            fields: fields)
    }

    @Test func `a role adds recipients, and counts from the next request on`() throws {
        #expect(sendToTag("news").status == .forbidden && sendToBob().status == .forbidden)
        try give(["editor"])
        #expect(sendToTag("news").status == .ok && sendToTag("press").status == .forbidden)
        #expect(sendToBob().status == .forbidden)
        try give(["helper", "editor"])
        #expect(sendToTag("news").status == .ok && sendToBob().status == .ok)
        try give([])
        #expect(sendToTag("news").status == .forbidden)
    }

    @Test func `a role is beside the user's own patterns`() throws {
        try give(["helper"], sendTo: [])
        #expect(sendToBob().status == .ok)
    }

    @Test func `a role that the configuration does not have is nothing`() throws {
        try give(["gone", "Editor"])
        #expect(sendToTag("news").status == .forbidden)
    }

    @Test func `a refusal names the rules that were asked`() throws {
        #expect(Problem(sendToBob()).detail.contains("(policy.sendTo)"))
        try give(["gone", "editor"], sendTo: ["x"])
        let refused = Problem(sendToBob())
        #expect(refused.detail.contains("(the user's own sendTo, role editor)"))
        #expect(refused.code == .recipientNotAllowed && refused.field == "to_tag")
        for (tag, rule) in [("sport", "policy.tags, role editor"), ("username:bob", "it is the server's own")] {
            let error = #expect(throws: Problem.self) { _ = try site.register("alice", tags: [tag]) }
            #expect(error?.code == .tagNotAllowed && error?.detail.contains("\(tag) (\(rule))") == true)
        }
    }

    @Test func `a role adds tags, which a device loses with the role`() throws {
        try give(["editor"])
        let id = try site.register("alice", tags: ["news", "press", "from:bob"])
        #expect(try site.hubTags(id) == ["news", "press", "from:bob", "role:editor", "username:alice"])
        var user = try #require(try site.store.user("alice"))
        user.roles = ["helper"]
        _ = try site.upkeep(Self.policy).change(user)
        #expect(try site.hubTags(id) == ["news", "role:helper", "username:alice"])
    }

    @Test func `the next user of a name has no role of the former one`() throws {
        try give(["editor"])
        _ = try site.upkeep(Self.policy).remove("alice")
        try site.addAgain("alice")
        #expect(try site.store.user("alice")?.roles == [])
    }

    // MARK: tokens

    @Test func `a token gives roles by their names, for its own request alone`() throws {
        #expect(sendToBob(try issuer.token("carol", roles: ["helper", "unknown"])).status == .ok)
        for roles in [[], ["Helper"], ["editor"]] {
            #expect(sendToBob(try issuer.token("carol", roles: roles)).status == .forbidden)
        }
    }

    @Test func `a device keeps the tags of its token's roles, and a later registration has those of its own`() throws {
        let call = { (roles: [String], tags: [String]) throws -> Response in
            let fields: HTTPFields = [.authorization: "Bearer \(try issuer.token("carol", roles: roles))"]
            let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: tags).json
            return site.call(
                .put, Path.register + "/my-phone", body: String(decoding: body, as: UTF8.self), fields: fields)
        }
        #expect(try call(["editor"], ["press"]).status == .ok)
        #expect(try site.store.devices(owner: "id.carol").map(\.tags) == [["press", "role:editor"]])
        #expect(try call([], ["press"]).status == .forbidden)
        #expect(try call([], ["news"]).status == .ok)
        #expect(try site.store.devices(owner: "id.carol").map(\.tags) == [["news"]])
    }
}
