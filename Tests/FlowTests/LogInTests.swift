// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import Metrics
import Store
import Support
import Testing
import Text

import class System.Semaphore

/// Log-ins that wait for their password to be hashed.
struct LogInTests {
    private let metrics = SiteMetrics(version: "1.2.3", startedAt: 1_796_000_000)

    private func site(users: [String] = ["alice", "bob"]) throws -> TestSite {
        try TestSite(users: users) { parts in
            parts.authenticator = UserAuthenticator(
                store: parts.store, metrics: metrics.logIns, limits: LogInLimits(seconds: TestSite.patience),
                now: parts.now, clock: parts.clock)
        }
    }

    private func request(_ pair: String, from address: String = "192.0.2.1") -> Request {
        let value = "Basic " + Data(pair.utf8).base64EncodedString()
        var request = Request(
            method: .get, path: "/api/register", fields: [.authorization: value], remoteAddress: address, id: "test")
        request.postponing = .available
        return request
    }

    /// Makes it again when its postponement has ended, where it is put off.
    private func answer(_ site: TestSite, _ request: Request, meanwhile: () throws -> Void = {}) throws -> Response {
        var request = request
        let first = site.backend.respond(to: request)
        guard let postponement = first.postponement else { return first }
        try meanwhile()
        let ended = Semaphore()
        postponement.onEnd { ended.signal() }
        #expect(ended.wait(for: .seconds(TestSite.patience)))
        request.postponing = .resumed(postponement)
        return site.backend.respond(to: request)
    }

    private func count(_ series: String) -> Double? {
        let lines = String(decoding: metrics.exposition(), as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix(series + " ") }.flatMap { Double($0.dropFirst(series.utf8.count + 1)) }
    }

    private func logIns(_ result: String) -> Double? { count("app_backend_logins_total{result=\"\(result)\"}") }

    @Test func `a log-in waits without a thread, and is remembered for a day`() throws {
        let site = try site()
        let bob = site.backend.respond(to: request("bob:bob-secret"))
        #expect(bob.postponement != nil && bob.route == "/api/register")
        #expect(try answer(site, request("bob:bob-secret")).status == .ok)
        #expect(try answer(site, request("alice:alice-secret")).status == .ok)
        site.clock.advance(CredentialCache.lifetimeSeconds - 1)
        let known = site.backend.respond(to: request("alice:alice-secret"))
        #expect(known.status == .ok && known.postponement == nil)
        #expect(logIns("verified") == 2)
        site.clock.advance(1)
        #expect(try answer(site, request("alice:alice-secret")).status == .ok)
        #expect(logIns("verified") == 3)
    }

    @Test func `a wrong password is 401 after the wait, and counts once`() throws {
        let site = try site()
        for name in ["alice", "nosuch", "no such name"] {
            let answer = try answer(site, request("\(name):wrong"))
            #expect(answer.status == .unauthorized && answer.fields[.wwwAuthenticate] != nil)
        }
        #expect(logIns("failed") == 3)
    }

    @Test func `a password that is changed while its log-in waits lets no user in, and one that was remembered ends`()
        throws
    {
        let site = try site()
        func change(_ hash: String) throws {
            try site.change("alice") { $0.passwordHash = hash }
        }
        let changed = try answer(site, request("alice:alice-secret")) {
            try change(TestSite.passwordHash(of: "bob"))
        }
        #expect(changed.status == .unauthorized)
        #expect(try answer(site, request("alice:bob-secret")).status == .ok)
        #expect(site.backend.respond(to: request("alice:bob-secret")).status == .ok)
        try change(TestSite.passwordHash(of: "alice"))
        #expect(try answer(site, request("alice:bob-secret")).status == .unauthorized)
    }

    @Test func `a page's log-in waits in the same way`() throws {
        let site = try site()
        var request = Request(
            method: .post, path: Path.session, fields: [.contentType: "application/json"],
            body: Array(#"{"UserName":"alice","Password":"alice-secret"}"#.utf8), remoteAddress: "192.0.2.1", id: "test"
        )
        request.postponing = .available
        let answer = try answer(site, request)
        #expect(answer.status == .ok && answer.fields[.setCookie] != nil)
    }

    @Test func `an app token that a page asks for waits for the password without a thread, and is made once`() throws {
        let site = try site()
        var fields = HTTPFields(["Sec-Fetch-Site": "same-origin"])
        fields[.cookie] = try site.page(of: "alice").cookie
        fields[.contentType] = "application/json"
        site.clock.advance(CredentialCache.sharedSeconds)
        var request = Request(
            method: .post, path: Path.tokens, fields: fields,
            body: Array(#"{"Scopes":["read"],"Password":"alice-secret"}"#.utf8), remoteAddress: "198.51.100.7",
            id: "test")
        request.postponing = .available
        func tokens() throws -> Int { try site.store.appTokens(owner: "alice", now: Timestamp(seconds: 0)).count }
        var before: Int?
        let made = try answer(site, request) { before = try tokens() }
        #expect(made.status == .ok && before == 0)
        #expect(try tokens() == 1)
    }

    @Test func `a thousand users who come at once are let in, all of them`() throws {
        let site = try site()
        // Of "alice-secret", of a kind that takes little to check.
        let hash = """
            $6$rounds=1000$quick$3J7Ncwt2CJBemAuZBlnV./rVyMR5EFhiZAyjf3.\
            fDNSRWXkHFTcAuJACe9/cwKeL5EuzweAIyAeW/uH2sWOPk/
            """
        let names = (1...1_000).map { "user\($0)" }
        for name in names { _ = try site.store.putUser(User(name: name, passwordHash: hash)) }
        let ended = Semaphore()
        // No request of these waits on this thread.
        let waiting = try names.map { name in
            var request = request("\(name):alice-secret")
            let postponement = try #require(site.backend.respond(to: request).postponement)
            postponement.onEnd { ended.signal() }
            request.postponing = .resumed(postponement)
            return request
        }
        for _ in waiting { #expect(ended.wait(for: .seconds(TestSite.patience))) }
        #expect(waiting.allSatisfy { site.backend.respond(to: $0).status == .ok })
        #expect(logIns("verified") == 1_000 && logIns("busy") == 0)
    }

    @Test func `one user with many connections is let in on all of them`() throws {
        let site = try site()
        let calls = (1...64).map { _ in
            Background { [site] in site.call(.get, "/api/register", as: "alice").status }
        }
        for call in calls { #expect(try call.outcome(seconds: TestSite.patience) == .ok) }
        #expect(logIns("busy") == 0 && logIns("throttled") == 0)
    }

    @Test func `where a password is guessed, what is remembered tells no more than an attempt would`() throws {
        let site = try site()
        #expect(try answer(site, request("alice:alice-secret")).status == .ok)
        site.clock.advance(CredentialCache.sharedSeconds)
        for number in 1...30 {
            _ = try answer(site, request("alice:guess\(number)", from: "198.51.100.\(number)"))
        }
        // At home the password is remembered; from elsewhere each try is counted as a guess would be.
        #expect(site.backend.respond(to: request("alice:alice-secret")).status == .ok)
        let elsewhere = site.backend.respond(to: request("alice:alice-secret", from: "203.0.113.1"))
        #expect(elsewhere.status == .tooManyRequests)

        // And at home, where ten guesses come from there.
        for number in 1...LoginThrottle.maximumFailures {
            #expect(try answer(site, request("alice:mine\(number)")).status == .unauthorized)
        }
        #expect(site.backend.respond(to: request("alice:alice-secret")).status == .tooManyRequests)
        site.clock.advance(LoginThrottle.windowSeconds)
        #expect(site.backend.respond(to: request("alice:alice-secret")).status == .ok)
        #expect(logIns("verified") == 1)
    }

    @Test func `a new network is checked once after five minutes, and then no stranger locks the user out there`()
        throws
    {
        let site = try site()
        #expect(try answer(site, request("alice:alice-secret")).status == .ok)
        site.clock.advance(CredentialCache.sharedSeconds)
        let mobile = request("alice:alice-secret", from: "203.0.113.1")
        #expect(try answer(site, mobile).status == .ok)
        #expect(logIns("verified") == 2)
        for number in 1...30 {
            _ = try answer(site, request("alice:guess\(number)", from: "198.51.100.\(number)"))
        }
        site.clock.advance(CredentialCache.sharedSeconds)
        #expect(site.backend.respond(to: mobile).status == .ok)
        #expect(logIns("verified") == 2)
    }

    @Test func `guesses that wait count, so that what is remembered does not answer the next one`() throws {
        let site = try site()
        #expect(try answer(site, request("alice:alice-secret")).status == .ok)
        site.clock.advance(CredentialCache.sharedSeconds)
        let waiting = (1...LoginThrottle.maximumFailures).compactMap { number in
            site.backend.respond(to: request("alice:mine\(number)")).postponement
        }
        let wrong = site.backend.respond(to: request("alice:next")).status
        let right = site.backend.respond(to: request("alice:alice-secret")).status
        // Some may have ended meanwhile; then they count as failures, and the status is another one.
        #expect([.serviceUnavailable, .tooManyRequests].contains(wrong))
        #expect([.serviceUnavailable, .tooManyRequests].contains(right))
        let ended = Semaphore()
        for attempt in waiting { attempt.onEnd { ended.signal() } }
        for _ in waiting { #expect(ended.wait(for: .seconds(TestSite.patience))) }
    }

    @Test func `while strangers wait, one who is remembered does not`() throws {
        let site = try site()
        #expect(try answer(site, request("alice:alice-secret")).status == .ok)
        let strangers = (1...200).compactMap { number in
            site.backend.respond(to: request("nosuch\(number):wrong", from: "198.51.100.\(number)")).postponement
        }
        #expect(strangers.count == 200)
        let answer = site.backend.respond(to: request("alice:alice-secret"))
        #expect(answer.status == .ok && answer.postponement == nil)
        let ended = Semaphore()
        for stranger in strangers { stranger.onEnd { ended.signal() } }
        for _ in strangers { #expect(ended.wait(for: .seconds(TestSite.patience))) }
    }
}
