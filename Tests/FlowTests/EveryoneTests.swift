// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// A message object to everyone: which devices it reaches, and who may send it.
struct EveryoneTests {
    private static let policy = TagPolicy(
        defaultSendTo: ["*", "tag:*"],
        roles: [Role(name: "crier", mayBroadcast: true), Role(name: "editor", sendTo: ["*", "tag:*", "tags:*"])])

    private func site(
        _ roles: [String] = ["crier"], policy: TagPolicy = policy, road: TestSite.Road = .wire
    ) throws -> TestSite {
        let site = try TestSite(
            users: ["alice", "bob", "carol"], policy: policy, road: road, adjusting: { $0.plainSeconds = 86_400 })
        try give(roles, on: site)
        return site
    }

    private func give(_ roles: [String], on site: TestSite) throws {
        try site.change("bob") { $0.roles = roles }
    }

    private func send(_ message: PushMessage, on site: TestSite, bearer: String? = nil) -> Response {
        site.send(message, fields: bearer.map { [.authorization: "Bearer \($0)"] } ?? [:])
    }

    @Test(arguments: TestSite.Road.allCases)
    func `it reaches all devices, whatever tags they have, and no inbox has it`(road: TestSite.Road) throws {
        let site = try site(road: road)
        for (number, name) in ["alice", "carol", "carol", "bob"].enumerated() {
            _ = try site.register(name, handle: TestSite.token(number + 1), tags: number == 1 ? ["x"] : [])
        }
        let outcome = try SendOutcome(send(PushMessage(to: .everyone, body: "Hi", platforms: ["apns"]), on: site))
        #expect(outcome.outcomes.map(\.platform) == ["apns"])
        if road == .wire { #expect(site.hub.messages.map { $0.fields[.tags] } == [nil]) }
        let id = try #require(outcome.outcomes.first?.notificationID)
        #expect(try site.devices(of: outcome) == 4)
        #expect(try Inbox(site.call(.get, Path.inbox, as: "alice")).messages.isEmpty)
        #expect(site.call(.get, "\(Path.outcomes)/\(id)", as: "bob").status == .ok)
        #expect(site.call(.get, "\(Path.outcomes)/\(id)", as: "alice").status == .notFound)
    }

    @Test func `devices of the older call get it, unless platforms are named or nothing is to be shown`() throws {
        let site = try site()
        let body = InstallationRegistration(platform: .ios, installationID: "phone", handle: TestSite.token(1)).json
        let made = site.call(.post, Path.register, as: "alice", body: String(decoding: body, as: UTF8.self))
        #expect(made.status == .ok)
        func template(_ message: PushMessage) throws -> String? {
            try SendOutcome(send(message, on: site)).outcomes.first { $0.platform == "template" }?.state
        }
        #expect(try template(PushMessage(to: .everyone, body: "Hi")) != nil)
        #expect(site.hub.messages.allSatisfy { $0.fields[.tags] == nil })
        #expect(try template(PushMessage(to: .everyone, body: "Hi", platforms: ["apns"])) == nil)
        #expect(try template(PushMessage(to: .everyone, isSilent: true)) == nil)
    }

    @Test(arguments: [[], ["editor"], ["gone"]] as [[String]])
    func `no pattern grants it, only a role does`(roles: [String]) throws {
        let site = try site(roles)
        let problem = Problem(send(PushMessage(to: .everyone, body: "Hi"), on: site))
        #expect(problem.status == .forbidden && problem.field == "To")
        #expect(problem.detail == "You may not send to everyone (roles.broadcast).")
        #expect(site.hub.messages.isEmpty)
        try give(roles + ["crier"], on: site)
        #expect(send(PushMessage(to: .everyone, body: "Hi"), on: site).status == .ok)
        let sent = site.hub.messages.count
        try give(roles, on: site)
        #expect(send(PushMessage(to: .everyone, body: "Hi"), on: site).status == .forbidden)
        #expect(site.hub.messages.count == sent)
    }

    @Test func `an app token that is limited to users cannot, and another one can`() throws {
        let site = try site()
        func token(_ members: String) throws -> String {
            let made = site.call(.post, Path.tokens, as: "bob", body: #"{"Scopes":["send"]\#(members)}"#)
            return try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        }
        let limited = try token(#","To":["alice"]"#)
        let problem = Problem(send(PushMessage(to: .everyone, body: "Hi"), on: site, bearer: limited))
        #expect(problem.status == .forbidden && problem.detail.contains("app token"))
        #expect(site.hub.messages.isEmpty)
        #expect(send(PushMessage(to: .everyone, body: "Hi"), on: site, bearer: try token("")).status == .ok)
        #expect(
            site.call(.post, Path.tokens, as: "bob", body: #"{"Scopes":["send"],"To":["*"]}"#).status == .badRequest)
    }

    @Test func `it is never secure, and no list, string call or user's name means it`() throws {
        let site = try site()
        let secure = Problem(send(PushMessage(to: .everyone, body: "Hi", isSecure: true), on: site))
        #expect(secure.status == .badRequest && secure.field == "Secure")
        #expect(send(PushMessage(to: .several(["*"]), body: "Hi"), on: site).status == .badRequest)
        for query in ["pns=apns&to_tag=*", "to_tag=*"] {
            let call = site.call(.post, Path.notifications, query: query, as: "bob", body: #""Hi""#)
            #expect(call.status == .badRequest)
        }
        for text in ["**", " *", "tag:*"] {
            #expect(send(PushMessage(to: .one(text), body: "Hi"), on: site).status == .badRequest)
        }
        var policy = Self.policy
        policy.isSecureOnly = true
        let careful = Problem(send(PushMessage(to: .everyone, body: "Hi"), on: try self.site(policy: policy)))
        #expect(careful.status == .forbidden && careful.field == "To")
        #expect(site.hub.messages.isEmpty)
    }
}
