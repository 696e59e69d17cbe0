// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing
import Text

/// The roles that a new user has for whom none are named.
struct NewUserRoleTests {
    private static let policy = {
        var policy = TagPolicy(roles: [Role(name: "staff"), Role(name: "helper", sendTo: ["bob"])])
        (policy.newUserRoles, policy.defaultSendTo) = (["staff", "helper"], [])
        return policy
    }()
    private let issuer = TestIssuer("https://id.example")

    private func administration(_ site: TestSite) -> UserAdministration {
        let clock = site.clock
        return UserAdministration(
            store: site.store, policy: Self.policy, hasIssuer: { $0.hasPrefix("id.") },
            now: { Timestamp(seconds: clock.seconds) })
    }

    @Test func `a user who is added without roles has them, and one with roles has those alone`() throws {
        let site = try TestSite(users: [], policy: Self.policy)
        let administration = administration(site)
        let hash = try TestSite.passwordHash(of: "alice")
        _ = try administration.add("alice", passwordHash: hash)
        _ = try administration.add("carol", passwordHash: hash, roles: ["helper"])
        #expect(try site.store.user("alice")?.roles == ["staff", "helper"])
        #expect(try site.store.user("carol")?.roles == ["helper"])
        let id = try site.register("alice")
        #expect(try site.hubTags(id) == ["role:staff", "role:helper", "username:alice"])
        // The next of that name, too.
        _ = try site.upkeep(Self.policy).remove("alice")
        _ = try administration.add("alice", passwordHash: hash)
        #expect(try site.store.user("alice")?.roles == ["staff", "helper"])
    }

    @Test func `an issuer's user without a record has them, and keeps them when one is made`() throws {
        let issuer = issuer
        let site = try TestSite(users: ["bob"], policy: Self.policy, adjusting: { issuer.trust(in: &$0) })
        let fields: HTTPFields = [.authorization: "Bearer \(try issuer.token("carol"))"]
        let send = {
            site.call(.post, Path.notifications, body: #"{"To":"bob","Title":"t"}"#, fields: fields).status
        }
        #expect(send() == .ok)
        let body = String(
            decoding: DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: []).json, as: UTF8.self)
        #expect(site.call(.put, Path.register + "/phone", body: body, fields: fields).status == .ok)
        #expect(try site.store.devices(owner: "id.carol").map(\.tags) == [["role:staff", "role:helper"]])
        // As `user change --secure-only` begins.
        var user = try administration(site).existing("id.carol")
        #expect(user.roles == ["staff", "helper"])
        user.roles = ["staff"]
        _ = try site.upkeep(Self.policy).change(user)
        #expect(send() == .forbidden)
        #expect(try site.store.devices(owner: "id.carol").map(\.tags) == [["role:staff"]])
        let record = try #require(try site.store.user("id.carol"))
        user = record
        user.roles = []
        _ = try site.upkeep(Self.policy).change(user)
        #expect(site.call(.put, Path.register + "/phone", body: body, fields: fields).status == .ok)
        #expect(try site.store.devices(owner: "id.carol").map(\.tags) == [[]])
    }

    @Test func `devices that an issuer's user has already get the roles with which the user is added`() throws {
        let issuer = issuer
        let site = try TestSite(users: [], adjusting: { issuer.trust(in: &$0) })
        let fields: HTTPFields = [.authorization: "Bearer \(try issuer.token("carol"))"]
        let body = String(
            decoding: DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: []).json, as: UTF8.self)
        #expect(site.call(.put, Path.register + "/phone", body: body, fields: fields).status == .ok)
        _ = try administration(site).add("id.carol", passwordHash: "", roles: ["staff"])
        site.clock.advance(10)
        try site.upkeep(Self.policy).run()
        #expect(try site.store.devices(owner: "id.carol").map(\.tags) == [["role:staff"]])
    }
}
