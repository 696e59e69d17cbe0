// SPDX-License-Identifier: Apache-2.0
import AppBackend
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// When a user was seen last: by whichever method, to an hour, and at no request's cost.
struct LastSeenTests {
    private let issuer = TestIssuer("https://id.example")
    private let site: TestSite
    /// An issuer's user without a record.
    private let carol = "id.carol"

    init() throws {
        let issuer = issuer
        site = try TestSite(
            users: ["alice", "root"], policy: TagPolicy(roles: [Role(name: "admin", administers: true)])
        ) { parts in
            parts.authenticationMethods = [.password, .token, .webServer, .session]
            issuer.trust(in: &parts)
        }
        try site.change("root") { $0.roles = ["admin"] }
    }

    private var now: Timestamp { Timestamp(seconds: site.clock.seconds) }

    private func seen(_ user: String = "alice") throws -> Timestamp? { try site.store.user(user)?.lastSeenAt }

    private var carolSeen: Timestamp? {
        get throws { try site.store.lastSeen(carol, now: now)?.seenAt }
    }

    private func get(_ fields: HTTPFields, webServer: String? = nil, on server: Backend? = nil) -> Int {
        var request = Request(
            method: .get, authority: "backend.test", path: "/api/register", fields: fields, id: "test")
        request.authenticatedUser = webServer
        return (server ?? site.backend).respond(to: request).status.code
    }

    private func bearer() throws -> HTTPFields { [.authorization: "Bearer \(try issuer.token("carol"))"] }

    @Test func `each method counts, and a refused request does not`() throws {
        let made = site.call(.post, "/api/tokens", as: "alice", body: #"{"Scopes":["register"]}"#)
        let token = try JSONValue(parsing: made.body)["Token"]?.string ?? ""
        let cookie = try site.page(of: "alice").cookie ?? ""
        let basic: HTTPFields = [.authorization: "Basic YWxpY2U6YWxpY2Utc2VjcmV0"]
        let requests: [(AuthenticationMethod, HTTPFields, String?)] = [
            (.password, basic, nil), (.token, [.authorization: "Bearer \(token)"], nil), (.webServer, [:], "alice"),
            (.session, [.cookie: cookie], nil),
        ]
        for (method, fields, webServer) in requests {
            site.clock.advance(7_200)
            #expect(get([.authorization: "Basic YWxpY2U6d3Jvbmc="]) == 401)
            #expect(try seen() != now)
            #expect(get(fields, webServer: webServer) == 200, "\(method)")
            #expect(try seen() == now, "\(method)")
        }
        site.clock.advance(7_200)
        _ = try site.page(of: "alice")
        #expect(try seen() == now)
        #expect(try carolSeen == nil && get(bearer()) == 200)
        #expect(try carolSeen == now && site.store.userRecord(carol) == nil)
    }

    @Test func `a user is noted once an hour, whether with a record or without`() throws {
        let first = now
        let basic: HTTPFields = [.authorization: "Basic YWxpY2U6YWxpY2Utc2VjcmV0"]
        for _ in 0..<6 {
            for server in [site.backend, site.twin] {
                #expect(try get(basic, on: server) == 200 && get(bearer(), on: server) == 200)
            }
            #expect(try seen() == first)
            site.clock.advance(600)
        }
        #expect(try get(basic) == 200 && get(bearer()) == 200)
        #expect(try seen() == now && carolSeen == now && now.seconds - first.seconds == 3_600)
    }

    @Test(arguments: [StoreError.full, .readOnly, .busy(retryAfterSeconds: 1), .poisoned])
    func `a store that cannot note it refuses nothing, and is tried again after a minute`(_ error: StoreError) throws {
        let (notes, issuer) = (CallCount(), issuer)
        let troubled = try site.neighbour { parts in
            parts.store = TroubledStore(inner: parts.store, errorOfSeen: error, notes: notes)
            issuer.trust(in: &parts)
        }
        let basic: HTTPFields = [.authorization: "Basic YWxpY2U6YWxpY2Utc2VjcmV0"]
        for tries in [2, 4] {
            for _ in 0..<3 { #expect(try get(basic, on: troubled) == 200 && get(bearer(), on: troubled) == 200) }
            #expect(notes.number.load(ordering: .relaxed) == tries)
            site.clock.advance(60)
        }
        #expect(try seen() == nil && carolSeen == nil)
    }

    @Test func `an administrator sees it of an issuer's user, also when a record is made, and it goes with the user`()
        throws
    {
        let page = try site.page(of: "root")
        func shown() throws -> String? {
            try JSONValue(parsing: page.call(.get, AdministrationTests.users + "/" + carol).body)["LastSeenAt"]?.string
        }
        #expect(try shown() == nil && get(bearer()) == 200)
        let first = now
        #expect(try shown() == first.text)
        site.clock.advance(60)
        let own = #"{"Password":"root-secret"}"#
        for change in ["disable", "enable"] {
            let path = AdministrationTests.users + "/" + carol + "/" + change
            #expect(try page.call(.post, path, body: own).status == .ok)
        }
        #expect(try shown() == first.text && seen(carol) == first)
        #expect(try page.call(.delete, AdministrationTests.users + "/" + carol, body: own).status == .ok)
        #expect(try carolSeen == nil)
    }
}
