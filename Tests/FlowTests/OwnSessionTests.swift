// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

import class System.Lock

/// A user's own sessions, and their password, as the user sees and changes them.
struct OwnSessionTests {
    private func list(_ page: TestPage) throws -> [JSONValue] {
        let answer = try page.call(.get, "/api/sessions")
        #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-store")
        return try #require(try JSONValue(parsing: answer.body).array)
    }

    private func change(_ page: TestPage, _ present: String, _ wanted: String) throws -> Response {
        try page.call(.put, "/api/password", body: #"{"Password":"\#(present)","NewPassword":"\#(wanted)"}"#)
    }

    // MARK: Sessions

    @Test func `a user sees their sessions, which one is this, and ends another`() throws {
        let site = try TestSite()
        let here = try site.page(of: "alice")
        site.clock.advance(60)
        let there = try site.page(of: "alice")
        let bob = try site.page(of: "bob")
        let found = try list(here)
        #expect(found.map { $0["Current"] } == [.bool(true), .bool(false)])
        #expect(found.map { $0["CreatedAt"]?.string } == ["2026-11-30T00:53:20Z", "2026-11-30T00:54:20Z"])
        #expect(found.allSatisfy { $0["ExpiresAt"]?.string != nil })
        let id = try #require(found.last?["Id"]?.string)
        #expect(id.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        // It is not another user's to end.
        #expect(try bob.call(.delete, "/api/sessions/\(id)").status == .notFound)
        #expect(try there.isKnown)
        #expect(try here.call(.delete, "/api/sessions/\(id)").status == .ok)
        #expect(try !there.isKnown && here.isKnown && bob.isKnown)
        let again = try here.call(.delete, "/api/sessions/\(id)")
        #expect(Problem(again).code == .noSuchSession)
        #expect(try list(here).count == 1 && list(bob).count == 1)
    }

    @Test func `with a password no session is the one that asks, and the list never opens one`() throws {
        let site = try TestSite()
        let page = try site.page(of: "alice")
        let answer = site.call(.get, "/api/sessions", as: "alice", fields: [.cookie: page.cookie ?? ""])
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(answer.status == .ok && text.contains(#""Current":false"#) && !text.contains("true"))
        let token = try #require(page.cookie?.split(separator: "=").last)
        #expect(!text.contains(token))
        #expect(site.call(.get, "/api/sessions").status == .unauthorized)
    }

    @Test func `a session that has expired is not listed`() throws {
        let site = try TestSite { $0.sessionSeconds = 3_600 }
        _ = try site.page(of: "alice")
        site.clock.advance(1_800)
        let page = try site.page(of: "alice")
        #expect(try list(page).count == 2)
        site.clock.advance(1_800)
        #expect(try list(page).count == 1)
    }

    @Test func `where there are no sessions there is no list of them`() throws {
        let site = try TestSite { $0.authenticationMethods = [.password] }
        #expect(site.call(.get, "/api/sessions", as: "alice").status == .notFound)
    }

    // MARK: The password

    @Test func `a user changes their password, and this session alone goes on, under another cookie`() throws {
        let site = try TestSite()
        let neighbour = try site.neighbour()
        let (here, there) = (try site.page(of: "alice"), try site.page(of: "alice"))
        let bob = try site.page(of: "bob")
        let former = here.cookie
        let answer = try change(here, "alice-secret", "correct horse")
        #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-store")
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"TokensEnded":0,"TokensKept":0}"#)
        #expect(try here.isKnown && TestPage(neighbour, cookie: here.cookie).isKnown)
        #expect(try !there.isKnown && !TestPage(neighbour, cookie: there.cookie).isKnown)
        #expect(try here.cookie != former && !TestPage(site.backend, cookie: former).isKnown)
        #expect(try bob.isKnown)
        #expect(try list(here).map { $0["Current"] } == [.bool(true)])
        #expect(try there.logIn("alice").status == .unauthorized)
        #expect(try there.logIn("alice", password: "correct horse").status == .ok)
        // The same one once more is a change too.
        #expect(try change(here, "correct horse", "correct horse").status == .ok)
        #expect(try here.isKnown && !there.isKnown)
    }

    /// Counted are those of before, and by an answer.
    @Test(arguments: [(nil, 2, 0), ("false", 2, 0), ("null", 2, 0), ("true", 0, 2)] as [(String?, Int, Int)])
    func `app tokens end with the password, unless they are kept, and the answer says how many`(
        keep: String?, ended: Int, kept: Int
    ) throws {
        let site = try TestSite()
        let twin = try site.neighbour()
        let page = try site.page(of: "alice")
        let tokens = try (0..<2).map { _ in try site.appToken() }
        let bobs = try site.appToken(of: "bob")
        let option = keep.map { #","KeepTokens":\#($0)"# } ?? ""
        let body = #"{"Password":"alice-secret","NewPassword":"correct horse"\#(option)}"#
        let answer = try page.call(.put, "/api/password", body: body)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"TokensEnded":\#(ended),"TokensKept":\#(kept)}"#)
        func isGood(_ token: String) -> [Bool] {
            [site.backend, twin].map { server in
                site.call(.get, "/api/register", fields: [.authorization: "Bearer \(token)"], on: server).status == .ok
            }
        }
        let isKept = kept > 0
        #expect(tokens.map(isGood) == [[isKept, isKept], [isKept, isKept]] && isGood(bobs) == [true, true])
        #expect(try site.store.appTokens(owner: "alice", now: Timestamp(seconds: 0)).count == kept)
        #expect(try page.isKnown)
        let wrong = try page.call(
            .put, "/api/password", body: #"{"Password":"a","NewPassword":"correct horse","KeepTokens":"yes"}"#)
        #expect(wrong.status == .badRequest && Problem(wrong).field == "KeepTokens")
    }

    @Test func `a token that is just being made while the password changes ends as well`() throws {
        let site = try TestSite()
        let former = try #require(try site.store.user("alice"))
        let page = try site.page(of: "alice")
        #expect(try change(page, "alice-secret", "correct horse").status == .ok)
        // A request that was authenticated before keeps its token now.
        let draft = try AppTokenDraft(scopes: ["register"], recipients: nil, label: "", days: nil)
        let (text, _) = try draft.issue(
            owner: former.owner, epoch: former.credentialEpoch, in: site.store, now: Timestamp(seconds: 0))
        let fields: HTTPFields = [.authorization: "Bearer \(text.text.reveal())"]
        #expect(site.call(.get, "/api/register", fields: fields).status == .unauthorized)
        #expect(try page.call(.get, "/api/tokens").body == Array("[]".utf8))
    }

    @Test func `a token that is made right after the password was changed stays`() throws {
        let site = try TestSite()
        let draft = try AppTokenDraft(scopes: ["register"], recipients: nil, label: "", days: nil)
        let (former, made) = (try site.appToken(), Lock<String?>(nil))
        var store = TroubledStore(inner: site.store)
        store.onTokenRemoval = {
            guard let user = try? site.store.user("alice") else { return }
            let issued = try? draft.issue(
                owner: user.owner, epoch: user.credentialEpoch, in: site.store, now: Timestamp(seconds: 0))
            made.withLock { $0 = issued?.text.text.reveal() }
        }
        let change = try UserAdministration(store: store, now: { Timestamp(seconds: 0) })
            .setPassword("", of: "alice", keepingTokens: false) { try #require($0) }
        #expect(change.tokensEnded == 1)
        func isGood(_ token: String?) -> Bool {
            let fields: HTTPFields = [.authorization: "Bearer \(token ?? "")"]
            return site.call(.get, "/api/register", fields: fields).status == .ok
        }
        #expect(isGood(made.withLock(\.self)) && !isGood(former))
    }

    @Test func `with name and password in the header it is changed too, and no cookie is given`() throws {
        let site = try TestSite()
        let page = try site.page(of: "alice")
        let body = #"{"Password":"alice-secret","NewPassword":"new-secret"}"#
        let answer = site.call(.put, "/api/password", as: "alice", body: body)
        #expect(answer.status == .ok && answer.fields[.setCookie] == nil)
        #expect(try !page.isKnown)
        #expect(site.call(.get, "/api/register", as: "alice").status == .unauthorized)
    }

    @Test func `a wrong present password changes nothing, and too many are refused as at a log-in`() throws {
        let site = try TestSite()
        let page = try site.page(of: "alice")
        for _ in 0..<LoginThrottle.maximumFailures {
            let answer = try change(page, "wrong", "new-secret")
            #expect(answer.status == .forbidden && Problem(answer).field == "Password")
        }
        let refused = try change(page, "wrong", "new-secret")
        #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] == "60")
        #expect(try page.logIn("alice", password: "wrong").status == .tooManyRequests)
        #expect(try page.isKnown)
        site.clock.advance(60)
        #expect(try change(page, "alice-secret", "new-secret").status == .ok)
    }

    @Test(arguments: [
        "", "seven77", "äöüäöüä", String(repeating: "x", count: 512), "with-a\\ttab", "with-a\\u0000nul",
    ])
    func `a short new password, or one with which no user could log in, is refused, and costs no try`(wanted: String)
        throws
    {
        let site = try TestSite()
        let page = try site.page(of: "alice")
        for _ in 0...LoginThrottle.maximumFailures {
            let answer = try change(page, "alice-secret", wanted)
            #expect(answer.status == .badRequest && Problem(answer).field == "NewPassword")
        }
        #expect(try page.isKnown && change(page, "alice-secret", String(repeating: "x", count: 511)).status == .ok)
    }

    @Test func `a user without a password gets a 403 that says so, and so do all where passwords do not count`() throws
    {
        let site = try TestSite()
        let page = try site.page(of: "alice")
        let test = try TestSite(isTestHandler: true) { $0.authenticationMethods = [.test, .session] }
        #expect(test.call(.put, "/api/password", as: "alice", body: "{}").status == .unauthorized)
        let stranger = TestPage(test.backend)
        #expect(try stranger.logIn("alice", password: "alice").status == .ok)
        let answer = try change(stranger, "alice", "new-secret")
        #expect(Problem(answer).code == .noPassword)
        // By the web server's word.
        let behind = try site.neighbour { $0.authenticationMethods = [.password, .webServer] }
        func call() -> Response {
            var request = Request(
                method: .put, authority: "backend.test", path: "/api/password",
                fields: [.contentType: "application/json"],
                body: Array(#"{"Password":"alice-secret","NewPassword":"new-secret"}"#.utf8),
                remoteAddress: "192.0.2.1", id: "t")
            request.authenticatedUser = "alice"
            return behind.respond(to: request)
        }
        let hash = try #require(try site.store.user("alice")).passwordHash
        try site.change("alice") { $0.passwordHash = "" }
        let refused = call()
        #expect(Problem(refused).code == .noPassword)
        try site.change("alice") { $0.passwordHash = hash }
        #expect(call().status == .ok)
        #expect(try !page.isKnown)
    }

    @Test func `another site's page reaches none of it by the cookie`() throws {
        let site = try TestSite()
        let page = try site.page(of: "alice")
        let id = try #require(try list(page).first?["Id"]?.string)
        for site_ in ["cross-site", "same-site", "none"] {
            var fields = HTTPFields(["Sec-Fetch-Site": site_])
            fields[.cookie] = page.cookie
            let body = #"{"Password":"alice-secret","NewPassword":"new-secret"}"#
            #expect(site.call(.put, "/api/password", body: body, fields: fields).status == .forbidden)
            #expect(site.call(.delete, "/api/sessions/\(id)", fields: fields).status == .forbidden)
        }
        #expect(try page.isKnown)
    }

    // MARK: Another user than the page shows

    /// The cookie of a browser is one for all its windows.
    @Test func `a call that is meant for another user than the cookie's is not made`() throws {
        let site = try TestSite()
        let page = try site.page(of: "bob")
        func call(_ method: HTTPRequest.Method, _ path: String, query: String = "", body: String = "", as name: String)
            -> Response
        {
            var fields = HTTPFields([
                "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "App-Backend-User": name,
            ])
            fields[.cookie] = page.cookie
            return site.call(method, path, query: query, body: body, fields: fields)
        }
        let message = #"{"To":"bob","Body":"m","Secure":true}"#
        #expect(call(.get, "/api/inbox", as: "alice").status == .unauthorized)
        #expect(call(.post, "/api/notifications", body: message, as: "alice").status == .unauthorized)
        #expect(call(.delete, "/api/session", query: "everywhere=true", as: "alice").status == .unauthorized)
        #expect(call(.delete, "/api/session", as: "%zz").status == .unauthorized)
        #expect(try page.isKnown)
        #expect(call(.get, "/api/inbox", as: "bob").status == .ok)
        #expect(call(.post, "/api/notifications", body: message, as: "b%6Fb").status == .ok)
        let kept = site.call(.get, "/api/notifications", as: "bob")
        #expect(try JSONValue(parsing: kept.body).array?.count == 1)
        // Whose the credentials are does not depend on how they came.
        let fields = HTTPFields(["App-Backend-User": "alice"])
        #expect(site.call(.get, "/api/inbox", as: "bob", fields: fields).status == .unauthorized)
        #expect(call(.delete, "/api/session", as: "bob").status == .ok)
        #expect(try !page.isKnown)
    }
}
