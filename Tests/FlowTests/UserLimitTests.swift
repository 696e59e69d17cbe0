// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Metrics
import Support
import System
import Testing

/// What one user may do, and what of it others notice.
struct UserLimitTests {
    /// A site where each kind of request may be made twice at once, and six times a minute.
    private func site(adjusting adjust: (inout UserLimits) -> Void = { _ in }) throws -> TestSite {
        let rate = UserLimits.Rate(perMinute: 6, atOnce: 2)
        var limits = UserLimits()
        (limits.sends, limits.registrations, limits.lists) = (rate, rate, rate)
        adjust(&limits)
        return try TestSite { $0.limits = limits }
    }

    private func send(_ site: TestSite, as user: String, fields: HTTPFields = [:]) -> Response {
        site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=bob", as: user, body: "\"Hello\"", fields: fields)
    }

    @Test func `a user who sends too often must wait, and no other user`() throws {
        let site = try site()
        for _ in 1...2 { #expect(send(site, as: "alice").status == .ok) }
        let refused = send(site, as: "alice")
        #expect(Problem(refused).code == .tooManySends)
        #expect(site.hub.messages.count == 2)
        #expect(send(site, as: "bob").status == .ok)
    }

    @Test func `the seconds to wait are the truth`() throws {
        let site = try site()
        for _ in 1...2 { #expect(send(site, as: "alice").status == .ok) }
        site.clock.advance(3)
        let seconds = try #require(send(site, as: "alice").fields[.retryAfter].flatMap { Int64($0) })
        #expect(seconds == 7)
        site.clock.advance(seconds - 1)
        #expect(send(site, as: "alice").fields[.retryAfter] == "1")
        site.clock.advance(1)
        #expect(send(site, as: "alice").status == .ok)
        #expect(send(site, as: "alice").fields[.retryAfter] == "10")
        // A pause gives back as many as there were, and no more.
        site.clock.advance(3_600)
        #expect((1...5).map { _ in send(site, as: "alice").status.code } == [200, 200, 429, 429, 429])
    }

    @Test func `each kind of request has a limit of its own`() throws {
        let site = try site()
        let kinds: [(HTTPRequest.Method, String, ProblemCode)] = [
            (.post, "/api/register", .tooManyRegistrations), (.get, "/api/register", .tooManyLists),
        ]
        for _ in 1...3 { _ = send(site, as: "alice") }
        for (method, path, code) in kinds {
            let answers = (1...3).map { _ in site.call(method, path, as: "alice") }
            #expect(answers.map(\.status.code) == [200, 200, 429])
            #expect(answers.last.map { Problem($0).code } == code)
        }
        // The same as the list of devices, and as a new id.
        #expect(site.call(.get, "/API/Notifications/", as: "alice").status == .tooManyRequests)
        #expect(site.call(.get, "/api/inbox", as: "alice").status == .tooManyRequests)
        #expect(site.call(.delete, "\(Path.scheduled)/AAAAAAAAAAAAAAAAAAAAAA", as: "alice").status == .tooManyRequests)
        #expect(site.call(.delete, "/api/register/1-2-3", as: "alice").status == .tooManyRequests)
        #expect(site.call(.put, "/api/register/1-2-3", as: "alice", body: "{}").status == .tooManyRequests)
        // One message is no list.
        #expect(site.call(.get, "/api/notifications/7", as: "alice").status == .notFound)
    }

    @Test func `a page's log-in and a password count together`() throws {
        let site = try site()
        let page = try site.page(of: "alice")
        #expect(try page.call(.get, "/api/register").status == .ok)
        #expect(site.call(.get, "/api/register", as: "alice").status == .ok)
        #expect(try page.call(.get, "/api/register").status == .tooManyRequests)
        #expect(site.call(.get, "/api/register", as: "alice").status == .tooManyRequests)
    }

    @Test func `what is made again counts again, and what was refused may be made later`() throws {
        let site = try site()
        let key = HTTPFields(["Idempotency-Key": "first"])
        let first = send(site, as: "alice", fields: key)
        #expect(send(site, as: "alice", fields: key).body == first.body)
        let second = HTTPFields(["Idempotency-Key": "second"])
        #expect(send(site, as: "alice", fields: second).status == .tooManyRequests)
        site.clock.advance(10)
        #expect(send(site, as: "alice", fields: second).status == .ok)
        #expect(site.hub.messages.count == 2)
    }

    @Test func `a limit may be switched off`() throws {
        let site = try site { $0.sends.perMinute = 0 }
        for _ in 1...30 { #expect(send(site, as: "alice").status == .ok) }
    }

    @Test func `of one user only so many bytes are worked on at once`() throws {
        let (arrivals, opened) = (Semaphore(), Latch())
        let site = try TestSite {
            $0.limits.bytesUnderWay = 20_000
        } surroundingHub: { hub in
            ClosureResponder { request in
                arrivals.signal()
                opened.wait(for: .seconds(TestSite.patience))
                return try hub.respond(to: request)
            }
        }
        let body = "\"" + String(repeating: "x", count: 12_000) + "\""
        let secret = { @Sendable (sender: String) in
            site.call(.post, "/api/notifications", query: "to_tag=bob", as: sender, body: body)
        }
        let slow = Background { secret("alice") }
        #expect(arrivals.wait(for: .seconds(TestSite.patience)))
        let refused = secret("alice")
        #expect(Problem(refused).code == .tooManyBytes && refused.fields[.retryAfter] == "1")
        #expect(site.call(.get, "/api/register", as: "alice").status == .tooManyRequests)
        // What has neither a body nor a long answer passes; and others are untouched.
        #expect(site.call(.get, "/api/notifications/7", as: "alice").status == .notFound)
        #expect(site.call(.get, "/api/register", as: "bob").status == .ok)
        opened.open()
        #expect(try slow.outcome(seconds: TestSite.patience).status == .ok)
        // One alone is let in, however large.
        #expect(site.call(.get, "/api/register", as: "alice").status == .ok)
        #expect(secret("alice").status == .ok)
    }

    @Test func `refusals are counted by limit, without names`() throws {
        let metrics = SiteMetrics(version: "1.2.3", startedAt: 1_796_000_000)
        let site = try TestSite {
            $0.meter = UserMeter(metrics: metrics.limits)
            $0.limits.sends = UserLimits.Rate(perMinute: 1, atOnce: 1)
        }
        for _ in 1...3 { _ = send(site, as: "alice") }
        let text = String(decoding: metrics.exposition(), as: UTF8.self)
        #expect(text.contains("app_backend_user_limit_refusals_total{limit=\"sends\"} 2\n"))
        #expect(text.contains("app_backend_user_limit_refusals_total{limit=\"lists\"} 0\n"))
        #expect(!text.contains("alice"))
    }
}
