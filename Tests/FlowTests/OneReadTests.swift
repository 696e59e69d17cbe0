// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Store
import Testing

@testable import AppBackend

/// What one request looks up: its route once, its user's record once.
struct OneReadTests {
    private let reads = UserReads()
    private let issuer = TestIssuer("https://id.example")
    private let site: TestSite
    private static let secure = "to_tag=bob"
    private static let toOneself = #"{"To":"alice","Body":"Hi","Secure":true}"#

    init() throws {
        let (reads, issuer) = (reads, issuer)
        site = try TestSite {
            let (store, now) = (TroubledStore(inner: $0.store, userReads: reads), $0.now)
            $0.store = store
            $0.authenticator = UserAuthenticator(store: store, now: now)
            issuer.trust(in: &$0)
        }
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, query: String = "", body: String, _ more: HTTPFields = [:]
    ) -> Request {
        var fields = more
        fields[.contentType] = "application/json"
        if !fields.contains(.authorization), !fields.contains(.cookie) {
            fields[.authorization] = "Basic " + Data("alice:alice-secret".utf8).base64EncodedString()
        }
        return Request(
            method: method, authority: "backend.test", path: path, query: query, fields: fields,
            body: Array(body.utf8), id: "test")
    }

    private func registration() throws -> Request {
        let id = try JSONValue(parsing: site.call(.post, Path.register, as: "alice").body).string ?? ""
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1)).json
        return request(.put, "\(Path.register)/\(id)", body: String(decoding: body, as: UTF8.self))
    }

    /// Whose records a request reads that comes after a log-in.
    private func reads(of request: Request) throws -> [String] {
        _ = reads.take()
        let response = site.backend.respond(to: request)
        guard response.status == .ok else { throw Problem(response) }
        return reads.take()
    }

    @Test func `a secure send reads its sender once, and its recipient once`() throws {
        let send = request(.post, Path.notifications, query: Self.secure, body: #""Hi""#)
        // The password of the first one is hashed, which takes a while: the user may have been removed meanwhile.
        #expect(try reads(of: send) == ["alice", "alice", "bob"])
        #expect(try reads(of: send) == ["alice", "bob"])
    }

    @Test func `a secure send to oneself reads one record once`() throws {
        _ = site.call(.get, Path.register, as: "alice")
        #expect(try reads(of: request(.post, Path.notifications, body: #""Hi""#)) == ["alice"])
        let named = request(.post, Path.notifications, query: "to_tag=alice", body: #""Hi""#)
        #expect(try reads(of: named) == ["alice"])
        #expect(try reads(of: request(.post, Path.notifications, body: Self.toOneself)) == ["alice"])
    }

    @Test func `a token and a cookie read the sender once, too`() throws {
        let made = site.call(
            .post, Path.tokens, as: "alice", body: #"{"Scopes":["send"]}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        let query = Self.secure
        let byToken = request(
            .post, Path.notifications, query: query, body: #""Hi""#, [.authorization: "Bearer \(token)"])
        #expect(try reads(of: byToken) == ["alice", "bob"])
        let page = try site.page(of: "alice")
        _ = reads.take()
        #expect(try page.call(.post, Path.notifications, query: query, body: #""Hi""#).status == .ok)
        #expect(reads.take() == ["alice", "bob"])
    }

    @Test func `a token of an issuer reads its user once, whether there is a record or not`() throws {
        let token = try issuer.token("carol")
        let send = request(
            .post, Path.notifications, query: Self.secure, body: #""Hi""#, [.authorization: "Bearer \(token)"])
        #expect(try reads(of: send) == ["id.carol", "bob"])
        _ = try site.store.putUser(User(name: "id.carol", passwordHash: ""))
        #expect(try reads(of: send) == ["id.carol", "bob"])
    }

    @Test func `a registration reads its user once before it writes, and once afterwards`() throws {
        let registration = try registration()
        // Afterwards: a user who was removed meanwhile must not keep the device.
        #expect(try reads(of: registration) == ["alice", "alice"])
        #expect(try reads(of: registration) == ["alice", "alice"])
    }

    @Test func `a path is open for all methods or for none, so that the first table that knows it is right`() throws {
        var open: Set<String> = []
        var users: Set<String> = []
        _ = try TestSite {
            let sessions = Sessions(store: $0.store, authenticator: $0.authenticator, lifetime: 1, now: $0.now)
            let challenge = Challenge(realm: "", methods: $0.authenticationMethods)
            let seen = SeenUsers(store: $0.store, now: $0.now)
            open = Set($0.openRoutes(sessions, challenge, seen).map(\.name))
            users = Set($0.userRoutes($0.users, sessions).map(\.name))
        }
        #expect(open.contains(Path.session) && users.contains(Path.register) && open.isDisjoint(with: users))
    }

    /// With a path that has no route: a second look at it would find nothing.
    @Test func `a request is carried out by the match that it came with, and its path is not looked up again`() throws {
        let backend = site.backend
        for request in [
            try registration(), request(.post, Path.notifications, query: Self.secure, body: #""Hi""#),
            request(.get, Path.config, body: ""),
        ] {
            let elsewhere = self.request(
                request.method, "/nowhere", query: request.query, body: String(decoding: request.body, as: UTF8.self))
            #expect(backend.respond(to: elsewhere).status != .ok)
            let response = backend.respond(to: elsewhere, at: backend.destination(of: request))
            #expect(response.status == .ok && response.route != nil)
        }
    }
}
