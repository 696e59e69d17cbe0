// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing
import Text

/// `POST /api/notifications/{MessageId}/opened`: a recipient's app says that a message was opened.
struct OpeningTests {
    private func site(plainSeconds: Int64 = 0, policy: TagPolicy = TagPolicy()) throws -> TestSite {
        let site = try TestSite(
            users: ["alice", "bob", "carol"], policy: policy, adjusting: { $0.plainSeconds = plainSeconds })
        try site.change("bob") { $0.sendTo = ["tag:*", "*"] }
        return site
    }

    private func send(_ members: String, to recipient: String = "alice", on site: TestSite) throws -> SendOutcome {
        try SendOutcome(
            site.call(.post, "/api/notifications", as: "bob", body: #"{"To":"\#(recipient)",\#(members)}"#))
    }

    private func open(_ id: String, as user: String, on site: TestSite) -> Response {
        site.call(.post, "/api/notifications/\(id)/opened", as: user)
    }

    private func opened(_ id: String, on site: TestSite) throws -> Int {
        try MessageTimeline(site.call(.get, "/api/notifications/\(id)/timeline", as: "bob")).opened
    }

    /// The id that the pushes to devices bear.
    private func pushed(_ name: String, on site: TestSite) throws -> Set<String> {
        let pattern = try Regex("\"\(name)\":\"([A-Za-z0-9_-]{22})\"", as: (Substring, Substring).self)
        return Set(site.hub.messages.compactMap { $0.body.firstMatch(of: pattern).map { String($0.1) } })
    }

    @Test(arguments: [0, 86_400])
    func `the id in the push counts its recipient once, and no other user`(plainSeconds: Int64) async throws {
        let site = try site(plainSeconds: plainSeconds)
        let id = try #require(try send(#""Body":"Hi""#, on: site).messageID)
        #expect(try pushed("messageId", on: site) == [id])
        #expect(site.hub.messages.count { $0.body.contains(id) } == 3)
        for other in ["bob", "carol"] { #expect(open(id, as: other, on: site).status == .notFound) }
        #expect(try opened(id, on: site) == 0)
        let reader = try site.device(of: "alice").notifications
        for _ in 0..<3 { try await reader.noteOpening(of: id) }
        #expect(try opened(id, on: site) == 1)
        #expect(open(String(id.reversed()), as: "alice", on: site).status == .notFound)
        site.clock.advance(7 * 86_400)
        #expect(open(id, as: "alice", on: site).status == .notFound)
    }

    @Test func `a user who is reached by a role, or on one device, may say so, and no other`() throws {
        let site = try TestSite(
            users: ["alice", "bob", "carol"], policy: TagPolicy(roles: [Role(name: "oncall"), Role(name: "desk")]))
        for (name, roles, sendTo) in [("alice", ["oncall"], []), ("bob", [], ["role:*", "*"])] {
            try site.change(name) { ($0.roles, $0.sendTo) = (roles, sendTo) }
        }
        let device = try site.register("alice", handle: TestSite.token(1))
        _ = try site.register("carol", handle: TestSite.token(2))
        for recipient in ["role:OnCall", "device:\(device)"] {
            let id = try #require(try send(#""Body":"Hi""#, to: recipient, on: site).messageID)
            #expect(open(id, as: "carol", on: site).status == .notFound)
            #expect(open(id, as: "alice", on: site).status == .ok)
            #expect(try opened(id, on: site) == 1)
        }
        let other = try #require(try send(#""Body":"Hi""#, to: "role:desk", on: site).messageID)
        #expect(open(other, as: "alice", on: site).status == .notFound)
    }

    @Test func `of a secure message the token is the id, and nothing more travels than for a string`() throws {
        let site = try site()
        let outcome = try send(#""Body":"47 11","Secure":true"#, on: site)
        let id = try #require(outcome.messageID)
        #expect(try pushed("secureToken", on: site) == [id])
        func shape(_ messages: some Sequence<HubLog.Message>) -> [String] {
            messages.map { "\($0.format) " + $0.body.replacing(/[A-Za-z0-9_-]{22}|\d{3,}/, with: "…") }.sorted()
        }
        let count = site.hub.messages.count
        _ = site.call(.post, "/api/notifications", query: "to_tag=alice", as: "bob", body: #""47 11""#)
        #expect(shape(site.hub.messages.prefix(count)) == shape(site.hub.messages.dropFirst(count)))
        #expect(open(id, as: "carol", on: site).status == .notFound)
        #expect(open(id, as: "alice", on: site).status == .ok)
        #expect(try opened(id, on: site) == 1)
        // Deleted or not, it was opened; and to open it is not to read it.
        #expect(site.call(.delete, "/api/notifications/\(id)", as: "alice").status == .ok)
        #expect(open(id, as: "alice", on: site).status == .ok)
        #expect(try opened(id, on: site) == 1)
    }

    @Test func `a secure string has no sender who could ask, so its opening is not noted`() throws {
        let site = try site()
        _ = site.call(.post, "/api/notifications", query: "to_tag=alice", as: "bob", body: #""47 11""#)
        let token = try #require(try pushed("secureToken", on: site).first)
        #expect(open(token, as: "alice", on: site).status == .notFound)
    }

    @Test func `of a message to a tag each user with such a device counts`() throws {
        let site = try site()
        _ = try site.register("alice", handle: TestSite.token(1), tags: ["News"])
        _ = try site.register("alice", handle: TestSite.token(2), tags: ["news"])
        let carols = try site.register("carol", handle: TestSite.token(3), tags: ["sport", "news"])
        let id = try #require(try send(#""Body":"Hi""#, to: "tag:NEWS", on: site).messageID)
        #expect(open(id, as: "bob", on: site).status == .notFound)
        for user in ["alice", "carol", "alice"] { #expect(open(id, as: user, on: site).status == .ok) }
        #expect(try opened(id, on: site) == 2)
        let sport = try #require(try send(#""Body":"Hi""#, to: "tag:sport", on: site).messageID)
        #expect(open(sport, as: "alice", on: site).status == .notFound)
        #expect(open(sport, as: "carol", on: site).status == .ok)
        // Without the device the user is no recipient any more; what was counted stays.
        #expect(site.call(.delete, "/api/register/\(carols)", as: "carol").status == .ok)
        #expect(open(sport, as: "carol", on: site).status == .notFound)
        #expect(try opened(sport, on: site) == 1)
    }

    @Test(arguments: [
        (#"["ALICE","tag:news"]"#, ["alice", "carol"]), (#"["tag:sport","tag:none"]"#, ["carol"]),
        (#""tags:news && !sport""#, ["alice"]), (#""*""#, ["alice", "carol"]),
    ])
    func `of a message to several, to an expression and to everyone each recipient counts, and no other user`(
        to: String, recipients: [String]
    ) throws {
        let policy = TagPolicy(roles: [Role(name: "speaker", mayBroadcast: true)])
        let site = try site(plainSeconds: 86_400, policy: policy)
        try site.change("bob") { $0.roles = ["speaker"] }
        _ = try site.register("alice", handle: TestSite.token(1), tags: ["News"])
        _ = try site.register("carol", handle: TestSite.token(3), tags: ["sport", "news"])
        let sent = site.call(.post, "/api/notifications", as: "bob", body: #"{"To":\#(to),"Body":"Hi"}"#)
        let id = try #require(try SendOutcome(sent).messageID)
        #expect(try pushed("messageId", on: site) == [id])
        for user in ["alice", "bob", "carol"] {
            #expect(open(id, as: user, on: site).status == (recipients.contains(user) ? .ok : .notFound), "\(user)")
        }
        #expect(try opened(id, on: site) == recipients.count)
    }

    @Test func `a later user of the recipient's name is no recipient`() throws {
        let site = try site()
        let id = try #require(try send(#""Body":"Hi""#, on: site).messageID)
        try site.change("alice") { $0.generation += 1 }
        #expect(open(id, as: "alice", on: site).status == .notFound)
    }
}
