// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// Secure messages that wait for their owner: who left them, how many one sender may leave, and how they go.
struct MailboxTests {
    private static let users = ["alice", "bob", "mallory"]
    /// What is kept when nothing else is configured, in seconds.
    private static let retention: Int64 = 30 * 86_400

    private func leave(_ text: String, from sender: String, to recipient: String, _ site: TestSite) -> Response {
        site.call(.post, "/api/notifications", query: "to_tag=\(recipient)", as: sender, body: "\"\(text)\"")
    }

    private func member(_ name: String, _ response: Response) throws -> JSONValue? {
        try JSONValue(parsing: response.body)[name]
    }

    /// Fills what one sender may leave.
    /// - Returns: the answer that refuses.
    private func fill(from sender: String, _ site: TestSite) throws -> Response {
        let large = String(repeating: "x", count: 65_000)
        for _ in 0..<32 {
            let answer = leave(large, from: sender, to: "alice", site)
            if answer.status != .ok { return answer }
            site.clock.advance(1)
        }
        throw Problem(.internalError, "Nothing was refused.")
    }

    @Test func `a stranger who leaves as much as they may closes the mailbox to no other`() throws {
        let site = try TestSite(users: Self.users)
        let beginning = site.clock.seconds
        let refused = try fill(from: "mallory", site)
        for _ in 0..<20 { _ = leave("y", from: "mallory", to: "alice", site) }
        #expect(refused.status == .tooManyRequests)
        // Room appears when their oldest message expires.
        #expect(refused.fields[.retryAfter] == String(beginning + Self.retention - site.clock.seconds))
        #expect(leave("from bob", from: "bob", to: "alice", site).status == .ok)
        #expect(site.call(.post, "/api/notifications", as: "alice", body: #""a note""#).status == .ok)
        // Two of them together close it neither.
        #expect(try fill(from: "bob", site).status == .tooManyRequests)
        #expect(site.call(.post, "/api/notifications", as: "alice", body: #""a note""#).status == .ok)
    }

    @Test func `what its owner has read makes room at once`() throws {
        let site = try TestSite(users: Self.users)
        _ = try fill(from: "mallory", site)
        let large = String(repeating: "x", count: 65_000)
        let list = site.call(.get, "/api/notifications", query: "limit=1", as: "alice")
        let id = try #require(try JSONValue(parsing: list.body).array?.first?["Id"]?.integer)
        #expect(leave(large, from: "mallory", to: "alice", site).status == .tooManyRequests)
        #expect(site.call(.get, "/api/notifications/\(id)", as: "alice").status == .ok)
        #expect(leave(large, from: "mallory", to: "alice", site).status == .ok)
        #expect(leave(large, from: "mallory", to: "alice", site).status == .tooManyRequests)
    }

    @Test func `the owner removes a message, by id or token, and no other does`() throws {
        let site = try TestSite(users: Self.users)
        let ids = try (0..<2).map { number in
            try #require(try SendOutcome(leave("\(number)", from: "bob", to: "alice", site)).id)
        }
        let now = Timestamp(seconds: site.clock.seconds)
        let token = try #require(try site.store.notification(ids[1], owner: "alice", now: now)?.token)
        #expect(site.call(.delete, "/api/notifications/\(ids[0])", as: "bob").status == .notFound)
        #expect(site.call(.get, "/api/notifications/\(ids[0])", as: "alice").status == .ok)
        for name in ["\(ids[0])", token] {
            #expect(site.call(.delete, "/api/notifications/\(name)", as: "alice").status == .ok)
            #expect(site.call(.delete, "/api/notifications/\(name)", as: "alice").status == .notFound)
        }
        for id in ids { #expect(site.call(.get, "/api/notifications/\(id)", as: "alice").status == .notFound) }
        #expect(site.call(.get, "/api/notifications", as: "alice").body == Array("[]".utf8))
    }

    @Test func `a secure message says who has left it and when, behind the tutorial's members`() throws {
        let site = try TestSite(users: Self.users)
        let id = try #require(try SendOutcome(leave("text", from: "mallory", to: "alice", site)).id)
        let time = Timestamp(seconds: site.clock.seconds).text
        site.clock.advance(60)
        let message = site.call(.get, "/api/notifications/\(id)", as: "alice")
        #expect(
            String(decoding: message.body, as: UTF8.self)
                == #"{"Id":\#(id),"Payload":"text","Read":false,"From":"mallory","SentAt":"\#(time)"}"#)
        let list = site.call(.get, "/api/notifications", as: "alice")
        #expect(
            String(decoding: list.body, as: UTF8.self)
                == #"[{"Id":\#(id),"Read":true,"From":"mallory","SentAt":"\#(time)"}]"#)
    }

    @Test(arguments: ["same-site", "cross-site"])
    func `another page's GET is refused, and marks nothing as read`(site origin: String) throws {
        let site = try TestSite(users: Self.users)
        let id = try #require(try SendOutcome(leave("text", from: "bob", to: "alice", site)).id)
        let field = try #require(HTTPField.Name("Sec-Fetch-Site"))
        let path = "/api/notifications/\(id)"
        #expect(site.call(.get, path, as: "alice", fields: [field: origin]).status == .forbidden)
        #expect(site.call(.get, path, as: "alice", fields: [.origin: "https://other.test"]).status == .forbidden)
        for own in ["none", "same-origin"] {
            let answer = site.call(.get, path, as: "alice", fields: [field: own])
            #expect(answer.status == .ok)
            #expect(try member("Read", answer)?.bool == (own == "same-origin"))
        }
    }
}
