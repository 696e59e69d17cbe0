// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import FileStore
import Foundation
import HTTP
import HTTPTypes
import JSON
import Store
import Support
import Testing

/// Log-ins by cookie, from their beginning to all of their ends.
struct SessionTests {
    private func changePassword(of name: String, to password: String, in store: FileSiteStore) throws {
        var user = try #require(try store.user(name))
        user.passwordHash = try PasswordHash.make(password)
        _ = try store.putUser(user)
    }

    @Test func `a page logs in, works by its cookie, and logs out`() throws {
        let site = try TestSite()
        let page = TestPage(site.backend)
        #expect(try !page.isKnown)

        let answer = try page.logIn("Alice", password: "alice-secret")
        #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-store")
        // Seven days behind the clock of the tests.
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"User":"alice","ExpiresAt":"2026-12-07T00:53:20Z"}"#)
        let given = try #require(answer.fields[.setCookie])
        let form = /__Host-app_backend=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Strict/
        #expect(given.wholeMatch(of: form) != nil)

        let session = try page.call(.get, "/api/session")
        #expect(session.status == .ok && session.body == answer.body && session.fields[.setCookie] == nil)
        let id = try #require(try JSONValue(parsing: page.call(.post, "/api/register").body).string)
        let device = #"{"Platform":"apns","Handle":"\#(TestSite.token(1))"}"#
        #expect(try page.call(.put, "/api/register/\(id)", body: device).status == .ok)
        let sent = try page.call(.post, "/api/notifications", query: "to_tag=alice", body: #""the secret""#)
        let message = try #require(try SendOutcome(sent).id)
        #expect(try SecureMessage(page.call(.get, "/api/notifications/\(message)")).payload == "the secret")

        let cookie = page.cookie
        let end = try page.call(.delete, "/api/session")
        #expect(end.status == .ok)
        #expect(
            end.fields[.setCookie]
                == "__Host-app_backend=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict")
        page.cookie = cookie
        #expect(try !page.isKnown)
        #expect(try page.call(.get, "/api/session").status == .unauthorized)
        // Again, as for a page that was not told.
        #expect(try page.call(.delete, "/api/session").status == .ok)
        #expect(try page.call(.delete, "/api/session").status == .ok)
    }

    @Test func `credentials in the header begin a session too, and are none themselves`() throws {
        let site = try TestSite()
        #expect(site.call(.get, "/api/session", as: "alice").status == .unauthorized)
        let answer = site.call(.post, "/api/session", as: "alice")
        #expect(answer.status == .ok)
        let cookie = answer.fields[.setCookie]?.split(separator: ";").first.map(String.init)
        #expect(try TestPage(site.backend, cookie: cookie).isKnown)
    }

    @Test func `a new log-in ends the session that it came with, and a failed one ends none`() throws {
        let site = try TestSite()
        let page = try site.page(of: "alice")
        let first = page.cookie
        #expect(try page.logIn("bob", password: "wrong").status == .unauthorized)
        #expect(page.cookie == first)
        #expect(try page.isKnown)
        #expect(try page.logIn("bob").status == .ok)
        #expect(try page.isKnown && page.cookie != first)
        #expect(try !TestPage(site.backend, cookie: first).isKnown)
    }

    @Test func `a session is over when its time is`() throws {
        let site = try TestSite { $0.sessionSeconds = 3_600 }
        let page = try site.page(of: "alice")
        site.clock.advance(3_599)
        #expect(try page.isKnown)
        site.clock.advance(1)
        #expect(try !page.isKnown)
        // Nor does it end others any more.
        let other = try site.page(of: "alice")
        #expect(try page.call(.delete, "/api/session", query: "everywhere=true").status == .ok)
        #expect(try other.isKnown)
    }

    @Test func `everywhere is all of one user's sessions`() throws {
        let site = try TestSite()
        let pages = try (0..<3).map { _ in try site.page(of: "alice") }
        let bob = try site.page(of: "bob")
        #expect(try pages[0].call(.delete, "/api/session", query: "everywhere=false").status == .ok)
        #expect(try pages[1].isKnown && pages[2].isKnown)
        #expect(try pages[1].call(.delete, "/api/session", query: "everywhere=true").status == .ok)
        for page in pages { #expect(try !page.isKnown) }
        #expect(try bob.isKnown)
    }

    @Test func `of more sessions than one user may have the oldest ends`() throws {
        let site = try TestSite()
        var pages: [TestPage] = []
        for _ in 0...Quotas().sessionsPerOwner {
            pages.append(try site.page(of: "alice"))
            site.clock.advance(1)
        }
        let known = try pages.map { page in try page.isKnown }
        #expect(known == [false] + pages.dropFirst().map { _ in true })
    }

    /// Each change is made by another process, as the commands are, and met by both.
    @Test func `a changed password ends all sessions at once, in every process, and so does removal`() throws {
        let site = try TestSite()
        let neighbour = try site.neighbour()
        let operatorsStore = try FileSiteStore.open(path: site.folder.path)
        func pages(_ password: String) throws -> [TestPage] {
            try [site.backend, neighbour].map { backend throws -> TestPage in
                let page = TestPage(backend)
                #expect(try page.logIn("alice", password: password).status == .ok)
                return page
            }
        }
        func expect(_ isKnown: Bool, _ pages: [TestPage]) throws {
            for page in pages {
                for backend in [site.backend, neighbour] {
                    #expect(try TestPage(backend, cookie: page.cookie).isKnown == isKnown)
                }
            }
        }
        let first = try pages("alice-secret")
        try expect(true, first)
        // The same password once more: it has another hash.
        try changePassword(of: "alice", to: "alice-secret", in: operatorsStore)
        try expect(false, first)
        let second = try pages("alice-secret")
        try changePassword(of: "alice", to: "new", in: operatorsStore)
        try expect(false, second)
        let third = try pages("new")
        // Who was logged out by that cannot log out those who came after.
        #expect(try second[0].call(.delete, "/api/session", query: "everywhere=true").status == .ok)
        try expect(true, third)
        #expect(try operatorsStore.removeUser("alice"))
        try expect(false, third)
        #expect(try third[0].logIn("alice", password: "new").status == .unauthorized)
    }

    @Test func `what one process begins and ends, another knows at once`() throws {
        let site = try TestSite()
        let neighbour = try site.neighbour()
        for index in 0..<10 {
            let here = try site.page(of: "alice")
            let there = TestPage(neighbour, cookie: here.cookie)
            for _ in 0..<3 { #expect(try here.isKnown && there.isKnown) }
            let query = index.isMultiple(of: 2) ? "" : "everywhere=true"
            #expect(try there.call(.delete, "/api/session", query: query).status == .ok)
            #expect(try !here.isKnown)
        }
    }

    @Test func `the tutorial's own check has sessions too, which real users do not inherit`() throws {
        let site = try TestSite(isTestHandler: true)
        let page = TestPage(site.backend)
        for name in ["alice", "nosuch"] {
            #expect(try page.logIn(name, password: "other").status == .unauthorized)
            #expect(try page.logIn(name, password: name).status == .ok)
            #expect(try page.isKnown)
            #expect(try !TestPage(site.neighbour(), cookie: page.cookie).isKnown)
        }
        let real = TestPage(try site.neighbour())
        try real.logIn("alice")
        #expect(try real.isKnown && !TestPage(site.backend, cookie: real.cookie).isKnown)
    }

    @Test func `neither the log nor the store ever holds what a cookie holds`() throws {
        let log = CollectedLog()
        let hub = ClosureResponder { _ in throw NoAnswer() }
        let site = try TestSite(hub: hub) { $0.logger = log.logger }
        let page = try site.page(of: "alice")
        let value = try #require(page.cookie?.split(separator: "=").last.map(String.init))
        #expect(try page.call(.post, "/api/register").status == .serviceUnavailable)
        #expect(!log.lines.isEmpty && !log.text.contains(value))
        let files = try FileManager.default.subpathsOfDirectory(atPath: site.folder.path)
        let texts = files.compactMap { try? String(contentsOf: site.folder.appending(path: $0), encoding: .utf8) }
        #expect(texts.contains { $0.contains(#""binding":"#) } && !texts.contains { $0.contains(value) })
    }
}
