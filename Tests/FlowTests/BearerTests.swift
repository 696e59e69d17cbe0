// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import JWT
import Store
import Support
import Testing
import Text

/// Tokens of issuers, from `Authorization` to what their users may.
struct BearerTests {
    private let issuer = TestIssuer("https://id.example")
    private let site: TestSite

    init() throws {
        let issuer = issuer
        site = try TestSite(adjusting: { issuer.trust(in: &$0) })
    }

    private func call(
        _ method: HTTPRequest.Method, _ path: String, query: String = "", token: String, body: String = "",
        on server: Backend? = nil
    ) -> Response {
        site.call(
            method, path, query: query, body: body, fields: [.authorization: "Bearer \(token)"], on: server)
    }

    private func registerDevice(_ token: String, tags: [String] = []) throws {
        let id = try JSONValue(parsing: call(.post, "/api/register", token: token).body).string ?? ""
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: tags).json
        try #require(
            call(.put, "/api/register/\(id)", token: token, body: String(decoding: body, as: UTF8.self)).status == .ok)
    }

    private func status(_ token: String, on server: Backend? = nil) -> Int {
        call(.get, "/api/register", token: token, on: server).status.code
    }

    // MARK: users

    @Test func `a token is a user without a record, and none is made`() throws {
        #expect(status(try issuer.token("carol")) == 200)
        #expect(try site.store.userRecord("id.carol") == nil)
        #expect(try site.store.users().map(\.name).sorted() == ["alice", "bob"])
    }

    @Test func `an issuer's user is not the store's of that name, nor another issuer's`() throws {
        let other = TestIssuer("https://other.example")
        let both = try site.neighbour {
            TestIssuer.trust([(issuer, "id", nil), (other, "other", nil)], in: &$0)
        }
        _ = try site.register("alice", handle: TestSite.token(1))
        for token in [try issuer.token("alice"), try other.token("alice")] {
            #expect(call(.get, "/api/register", token: token, on: both).body == Array("[]".utf8))
        }
        #expect(status(try other.token("alice")) == 401)
        #expect(status(try other.token("alice", issuer: issuer.name), on: both) == 401)
    }

    @Test func `the operator's record counts where there is one: its rights and that its user is disabled or removed`()
        throws
    {
        let token = try issuer.token("carol")
        var user = try site.store.putUser(
            User(name: "id.carol", passwordHash: try TestSite.passwordHash(of: "id.carol"), sendTo: []))
        let send = { self.call(.post, "/api/notifications", query: "pns=apns&to_tag=bob", token: token, body: "\"m\"") }
        #expect(status(token) == 200 && send().status == .forbidden)
        user.disabledAt = Timestamp(seconds: 0)
        user = try site.store.putUser(user)
        let refused = call(.get, "/api/register", token: token)
        #expect(Problem(refused).code == .invalidToken)
        (user.disabledAt, user.removedAt, user.passwordHash) = (nil, Timestamp(seconds: 1), "")
        _ = try site.store.putUser(user)
        #expect(status(token) == 401)
    }

    @Test func `a record that is added takes from the user's devices what it does not grant`() throws {
        let token = try issuer.token("carol")
        try registerDevice(token, tags: ["news", "sport"])
        let hash = try TestSite.passwordHash(of: "id.carol")
        let added = try User(
            name: "id.carol", passwordHash: hash, tags: ["news"], after: nil,
            now: Timestamp(seconds: site.clock.seconds))
        _ = try site.store.putUser(#require(added))
        try site.keepUp(for: 10)
        #expect(try site.store.devices(owner: "id.carol").map(\.tags) == [["news"]])
        // One without patterns of its own takes nothing.
        let plain = try User(
            name: "id.dan", passwordHash: hash, after: nil, now: Timestamp(seconds: site.clock.seconds))
        #expect(plain?.upkeep.isEmpty == true)
    }

    @Test func `a record without a password lets no password in, and ends with its user's tokens`() throws {
        let token = try issuer.token("carol")
        var user = try site.store.putUser(User(name: "id.carol", passwordHash: ""))
        #expect(status(token) == 200)
        for password in ["", "id.carol", "alice-secret", "bob-secret"] {
            let basic = Data("id.carol:\(password)".utf8).base64EncodedString()
            let fields: HTTPFields = [.authorization: "Basic \(basic)"]
            #expect(site.call(.get, "/api/register", fields: fields).status == .unauthorized)
        }
        user.disabledAt = Timestamp(seconds: 0)
        _ = try site.store.putUser(user)
        #expect(status(token) == 401)
    }

    @Test func `no password and no word of the web server is one of an issuer's users`() throws {
        #expect(site.call(.get, "/api/register", as: "id.carol").status == .unauthorized)
        let trusting = try site.neighbour {
            $0.authenticationMethods = [.webServer, .bearer]
            issuer.trust(in: &$0)
        }
        var request = Request(method: .get, authority: "backend.test", path: "/api/register", id: "test")
        request.authenticatedUser = "id.carol"
        #expect(trusting.respond(to: request).status == .unauthorized)
    }

    @Test func `an app token is for those whom the operator has added, with a password that they show as well`() throws
    {
        let token = try issuer.token("carol")
        let body = #"{"Scopes":["send"]}"#
        let refused = call(.post, "/api/tokens", token: token, body: body)
        #expect(Problem(refused).code == .userNotAdded)
        #expect(call(.get, "/api/tokens", token: token).body == Array("[]".utf8))
        var user = try site.store.putUser(User(name: "id.carol", passwordHash: ""))
        for body in [body, #"{"Scopes":["send"],"Password":"id.carol-secret"}"#] {
            let without = call(.post, "/api/tokens", token: token, body: body)
            #expect(Problem(without).code == .noPassword)
        }
        user.passwordHash = try TestSite.passwordHash(of: "id.carol")
        _ = try site.store.putUser(user)
        let alone = call(.post, "/api/tokens", token: token, body: body)
        #expect(alone.status == .badRequest && Problem(alone).field == "Password")
        let wrong = call(.post, "/api/tokens", token: token, body: #"{"Scopes":["send"],"Password":"alice-secret"}"#)
        #expect(wrong.status == .forbidden && Problem(wrong).field == "Password")
        let right = #"{"Scopes":["send"],"Password":"id.carol-secret"}"#
        #expect(call(.post, "/api/tokens", token: token, body: right).status == .ok)
    }

    // MARK: messages

    @Test func `a secret between the store's users and an issuer's reaches its owner alone`() throws {
        let carol = try issuer.token("carol")
        let send = {
            site.call(.post, "/api/notifications", query: "to_tag=id.carol", as: "alice", body: #""for carol""#)
        }
        // Whether an account has the name is not known before it has a device.
        #expect(send().status == .badRequest)
        #expect(call(.post, "/api/notifications", query: "to_tag=id.carol", token: carol).status == .ok)
        try registerDevice(carol)
        let toCarol = send()
        let toAlice = call(.post, "/api/notifications", query: "to_tag=alice", token: carol, body: #""for alice""#)
        for (sent, text, mine) in [(toCarol, "for carol", true), (toAlice, "for alice", false)] {
            let id = try #require(try SendOutcome(sent).id)
            let path = "/api/notifications/\(id)"
            let answers = [call(.get, path, token: carol), site.call(.get, path, as: "alice")]
            let (owner, stranger) = mine ? (answers[0], answers[1]) : (answers[1], answers[0])
            #expect(owner.status == .ok && String(decoding: owner.body, as: UTF8.self).contains(text))
            #expect(stranger.status == .notFound)
        }
    }

    @Test func `a secret for a name that no user can have is refused, to issuers' users too`() throws {
        for name in ["nosuch", "other.carol", "id"] {
            let query = "to_tag=\(name)"
            #expect(site.call(.post, "/api/notifications", query: query, as: "alice").status == .badRequest)
            #expect(call(.post, "/api/notifications", query: query, token: try issuer.token("x")).status == .badRequest)
        }
    }

    @Test func `a device of an issuer's user is registered and sent to under the user's name`() throws {
        let token = try issuer.token("auth0|5F7c")
        try registerDevice(token)
        let name = "id.auth0%237c5%23467c"
        #expect(
            site.call(.post, "/api/notifications", query: "pns=apns&to_tag=\(name)", as: "bob", body: "\"m\"").status
                == .ok)
        #expect(site.hub.messages.last?.tags.contains("username:id.auth0#7c5#467c") == true)
    }

    // MARK: refusals

    @Test
    func `a token that is not accepted is answered with a challenge for tokens, and no browser asks for a password`()
        throws
    {
        let expired = try issuer.token("carol", expires: site.clock.seconds - 61)
        for (token, code) in [(expired, ProblemCode.tokenExpired), ("x", .invalidToken), ("", .invalidToken)] {
            for mode in ["cors", "navigate", nil] {
                var fields = HTTPFields(mode.map { ["Sec-Fetch-Mode": $0] } ?? [:])
                fields[.authorization] = token.isEmpty ? "Bearer" : "Bearer \(token)"
                let answer = site.call(.get, "/api/register", fields: fields)
                #expect(Problem(answer).code == code)
                let challenges = answer.fields[values: .wwwAuthenticate]
                #expect(challenges.count == 1 && challenges[0].hasPrefix("Bearer realm=\"AppBackend\", error="))
                #expect(
                    challenges[0].contains(#"error="invalid_token""#) && challenges[0].contains(Problem(answer).detail))
            }
        }
    }

    @Test func `an app token that is wrong is answered so, whether tokens of issuers are a method or not`() throws {
        let wrong = "abt_0123456789abcdef_" + String(repeating: "A", count: 43)
        let answer = call(.get, "/api/register", token: wrong)
        #expect(answer.fields[values: .wwwAuthenticate] == [#"Bearer realm="AppBackend", error="invalid_token""#])
        let without = try site.neighbour { _ in }
        #expect(call(.get, "/api/register", token: wrong, on: without).fields == answer.fields)
    }

    @Test func `without credentials the challenges are those of the methods, and a page gets its own`() throws {
        let basic = #"Basic realm="AppBackend", charset="UTF-8""#
        let bearer = #"Bearer realm="AppBackend""#
        #expect(site.call(.get, "/api/register").fields[values: .wwwAuthenticate] == [basic, bearer])
        let tokensOnly = try site.neighbour {
            issuer.trust(in: &$0)
            $0.authenticationMethods = [.bearer]
        }
        #expect(site.call(.get, "/api/register", on: tokensOnly).fields[values: .wwwAuthenticate] == [bearer])
        let page = HTTPFields(["Sec-Fetch-Mode": "cors"])
        #expect(
            site.call(.get, "/api/register", fields: page, on: tokensOnly).fields[values: .wwwAuthenticate]
                == [#"Session realm="AppBackend""#])
    }

    @Test func `a wrong token is not made good by a cookie, and a right one needs none`() throws {
        let cookie = try site.page(of: "alice").cookie ?? ""
        #expect(site.call(.get, "/api/register", fields: [.cookie: cookie]).status == .ok)
        let fields: HTTPFields = [.cookie: cookie, .authorization: "Bearer x.y.z"]
        #expect(site.call(.get, "/api/register", fields: fields).status == .unauthorized)
        let foreign = HTTPFields([
            "Sec-Fetch-Site": "cross-site", "Authorization": "Bearer \(try issuer.token("carol"))",
        ])
        #expect(site.call(.post, "/api/register", fields: foreign).status == .forbidden)
    }

    // MARK: keys

    @Test func `a request is put off until the keys are there, and holds no thread`() throws {
        let keys = HeldKeys(issuer.keySet)
        let backend = try site.neighbour { issuer.trust(in: &$0, keys: keys) }
        let token = try issuer.token("carol")
        var request = Request(
            method: .get, authority: "backend.test", path: "/api/register",
            fields: [.authorization: "Bearer \(token)"], id: "test")
        request.postponing = .available
        let postponement = try #require(backend.respond(to: request).postponement)
        // Where it cannot be put off, or was already, it is to come again.
        for postponing in [Postponing.unavailable, .resumed(postponement)] {
            request.postponing = postponing
            let answer = backend.respond(to: request)
            #expect(answer.status == .serviceUnavailable && answer.fields[.retryAfter] == "1")
        }
        keys.release()
        request.postponing = .resumed(postponement)
        #expect(backend.respond(to: request).status == .ok)
    }

    @Test func `without keys of its issuer a token is answered 503, and other users are not`() throws {
        let backend = try site.neighbour {
            issuer.trust(in: &$0, keys: KeyFile { nil })
        }
        let answer = call(.get, "/api/register", token: try issuer.token("carol"), on: backend)
        #expect(answer.status == .serviceUnavailable && answer.fields[.retryAfter] != nil)
        #expect(site.call(.get, "/api/register", as: "alice", on: backend).status == .ok)
    }

    @Test func `tokens that wait for keys write no line each, because anybody can make them up`() throws {
        let log = CollectedLog()
        let backend = try site.neighbour {
            $0.logger = log.logger
            issuer.trust(in: &$0, keys: KeyFile { nil })
        }
        for number in 0..<20 {
            let forged = try issuer.token("user\(number)")
            #expect(call(.get, "/api/register", token: forged, on: backend).status == .serviceUnavailable)
        }
        #expect(log.lines.isEmpty)
    }
}
