// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// To whom a send goes: the tag expression that the hub gets, and the devices that it finds by it.
struct AudienceTests {
    private func send(_ site: TestSite, as sender: String, to recipient: String, secure: Bool = false) throws -> Int {
        let query = (secure ? "" : "pns=apns&") + "to_tag=\(recipient)"
        let response = site.call(.post, "/api/notifications", query: query, as: sender, body: #""Hello""#)
        #expect(response.status == .ok)
        return try site.devices(of: SendOutcome(response), on: "apns")
    }

    @Test func `a message is for its recipient and for those who may hear the sender`() throws {
        let site = try TestSite()
        _ = try send(site, as: "bob", to: "alice")
        #expect(site.hub.messages.map(\.tags) == ["username:alice || from:bob"])
    }

    @Test func `recipient names are lowercased before they become tags`() throws {
        let site = try TestSite()
        _ = try send(site, as: "bob", to: "ALICE")
        #expect(site.hub.messages.map(\.tags) == ["username:alice || from:bob"])
    }

    @Test func `a secure push is for its recipient alone, and for the caller when none is named`() throws {
        let site = try TestSite()
        #expect(site.call(.post, "/api/notifications", query: "to_tag=alice", as: "bob").status == .ok)
        #expect(site.call(.post, "/api/notifications", as: "bob").status == .ok)
        #expect(
            site.hub.messages.map(\.tags)
                == ["username:alice", "username:bob"].flatMap { Array(repeating: $0, count: 4) })
    }

    @Test func `a user who was granted a sender's tag is among the targets, and one who was not is not`() throws {
        let site = try TestSite(users: ["alice", "bob", "dave"])
        let hash = try PasswordHash.make("carol-secret")
        _ = try site.store.putUser(User(name: "carol", passwordHash: hash, tags: ["from:bob"]))
        _ = try site.register("alice", handle: TestSite.token(1))
        #expect(try send(site, as: "bob", to: "alice") == 1)

        // Without a grant: neither by asking, nor by being registered at all.
        #expect(throws: Problem.self) { try site.register("dave", handle: TestSite.token(2), tags: ["from:bob"]) }
        _ = try site.register("dave", handle: TestSite.token(2))
        #expect(try send(site, as: "bob", to: "alice") == 1)

        _ = try site.register("carol", handle: TestSite.token(3), tags: ["From:Bob"])
        #expect(try send(site, as: "bob", to: "alice") == 2)
        // Another sender was not granted, and a secret is its recipient's alone.
        #expect(try send(site, as: "dave", to: "alice") == 1)
        #expect(try send(site, as: "bob", to: "alice", secure: true) == 1)
    }

    @Test func `a device that is both the recipient's and a listener is one target`() throws {
        let site = try TestSite(users: ["bob"])
        let hash = try PasswordHash.make("carol-secret")
        _ = try site.store.putUser(User(name: "carol", passwordHash: hash, tags: ["from:*"]))
        _ = try site.register("carol", tags: ["from:bob"])
        #expect(try send(site, as: "bob", to: "carol") == 1)
    }
}
