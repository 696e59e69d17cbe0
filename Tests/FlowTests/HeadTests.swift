// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Testing

/// HEAD is answered wherever GET is, with the same status and fields. The server leaves the body out.
struct HeadTests {
    static let paths = [
        "/api/config", "/api/session", "/api/sessions", "/api/tokens", "/api/register", "/api/notifications",
        "/api/notifications/scheduled", "/api/notifications/7", "/api/notifications/7/timeline",
        "/api/notifications/outcomes/7", "/api/inbox", "/api/admin/users", "/health", "/metrics", "/api/unknown",
    ]

    @Test(arguments: paths) func `HEAD has the status and the fields of GET`(path: String) throws {
        let site = try TestSite { $0.metrics = ClosureResponder { _ in Response(body: [1]) } }
        for user in ["alice", nil] {
            let (head, get) = (site.call(.head, path, as: user), site.call(.get, path, as: user))
            #expect(head.status == get.status && head.fields == get.fields && head.body.count == get.body.count)
        }
        let refused = site.call(.patch, path, as: "alice")
        #expect((refused.fields[.allow]?.contains("GET, HEAD") ?? false) == (refused.status == .methodNotAllowed))
    }

    @Test func `HEAD of a message does not mark it as read`() throws {
        let site = try TestSite()
        let sent = site.call(.post, "/api/notifications", query: "to_tag=bob", as: "alice", body: "\"secret\"")
        let id = try #require(try JSONValue(parsing: sent.body)["Id"]?.integer)
        func isUnread() -> Bool {
            site.call(.get, "/api/notifications", query: "unread=true", as: "bob").body != Array("[]".utf8)
        }
        #expect(site.call(.head, "/api/notifications/\(id)", as: "bob").status == .ok && isUnread())
        #expect(site.call(.get, "/api/notifications/\(id)", as: "bob").status == .ok && !isUnread())
    }

    @Test func `an app token may ask by HEAD for what it may get`() throws {
        let site = try TestSite()
        let made = site.call(.post, "/api/tokens", as: "alice", body: #"{"Scopes":["read"]}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        let fields: HTTPFields = [.authorization: "Bearer \(token)"]
        #expect(site.call(.head, "/api/inbox", fields: fields).status == .ok)
        #expect(site.call(.head, "/api/register", fields: fields).status == .forbidden)
    }
}
