// SPDX-License-Identifier: Apache-2.0
import AppBackend
import HTTP
import HTTPTypes
import JSON
import Metrics
import NotificationHub
import Store
import Testing
import Text

/// What the numbers say of what really happened.
struct MonitoringTests {
    /// A site that counts, as the executable puts it together.
    private struct CountedSite {
        let metrics = SiteMetrics(version: "1.2.3", startedAt: 1_796_000_000)
        let site: TestSite
        let responder: any Responder

        init(road: TestSite.Road = .wire, hub: (any Responder)? = nil) throws {
            let metrics = metrics
            site = try TestSite(road: road, hub: hub) { parts in
                if road == .direct {
                    parts.notifications = Notifications(
                        hub: metrics.hub.measuring(parts.notifications.hub), platforms: parts.notifications.platforms)
                }
                parts.authenticator = UserAuthenticator(
                    store: parts.store, metrics: metrics.logIns, now: parts.now, clock: parts.clock)
                parts.metrics = MetricsResponder { metrics.exposition() }
            } surroundingHub: {
                metrics.hub.measuring($0)
            }
            responder = metrics.requests.measuring(site.backend)
        }

        func call(
            _ method: HTTPRequest.Method, _ path: String, query: String = "", as user: String? = nil,
            password: String = "alice-secret", body: String = ""
        ) throws -> Response {
            var fields: HTTPFields = [:]
            if let user {
                fields[.authorization] = "Basic " + Base64.standard.encode(Array("\(user):\(password)".utf8))
            }
            if !body.isEmpty { fields[.contentType] = "application/json" }
            return try responder.respond(
                to: Request(
                    method: method, path: path, query: query, fields: fields, body: Array(body.utf8), id: "test"))
        }

        /// What a series says now; nil when there is no such series.
        func value(_ series: String) -> Double? {
            let text = String(decoding: metrics.exposition(), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
            return line.flatMap { Double($0.dropFirst(series.utf8.count + 1)) }
        }

        func requests(_ route: String, _ method: String, _ code: Int) -> Double? {
            value("app_backend_requests_total{route=\"\(route)\",method=\"\(method)\",code=\"\(code)\"}")
        }
    }

    @Test func `three requests are three, under their route's pattern and nothing of their path`() throws {
        let counted = try CountedSite()
        for id in ["7-a", "7-b", "7-c"] {
            #expect(try counted.call(.delete, "/api/register/\(id)", as: "alice").status == .ok)
        }
        #expect(counted.requests("/api/register/{id}", "DELETE", 200) == 3)
        let count = #"app_backend_request_duration_seconds_count{route="/api/register/{id}",method="DELETE"}"#
        #expect(counted.value(count) == 3)
        #expect(!String(decoding: counted.metrics.exposition(), as: UTF8.self).contains("7-a"))
    }

    @Test func `a refused request is counted under its route`() throws {
        let counted = try CountedSite()
        _ = try counted.call(.get, "/api/register")
        _ = try counted.call(.patch, "/API/Register/", as: "alice")
        _ = try counted.call(.get, "/api/session")
        #expect(counted.requests("/api/register", "GET", 401) == 1)
        #expect(counted.requests("/api/register", "PATCH", 405) == 1)
        #expect(counted.requests("/api/session", "GET", 401) == 1)
    }

    @Test func `paths and methods that strangers invent make one series, not many`() throws {
        let counted = try CountedSite()
        for number in 0..<20 {
            _ = try counted.call(try #require(HTTPRequest.Method("X\(number)")), "/wp-login/\(number)", as: "alice")
        }
        #expect(counted.requests("other", "other", 404) == 20)
    }

    @Test(arguments: TestSite.Road.allCases)
    func `an answer of the hub counts under its operation and status`(road: TestSite.Road) throws {
        let counted = try CountedSite(road: road)
        let answer = try counted.call(.post, "/api/register", as: "alice")
        let id = try #require(try JSONValue(parsing: answer.body).string)
        let body = #"{"Platform":"apns","Handle":"\#(TestSite.token(1))","Tags":[]}"#
        #expect(try counted.call(.put, "/api/register/\(id)", as: "alice", body: body).status == .ok)
        #expect(
            try counted.call(.post, "/api/notifications", query: "pns=apns&to_tag=alice", as: "alice", body: "\"x\"")
                .status == .ok)
        let calls = "app_backend_hub_calls_total"
        #expect(counted.value("\(calls){operation=\"create_registration_id\",result=\"201\"}") == 1)
        #expect(counted.value("\(calls){operation=\"put_registration\",result=\"200\"}") == 1)
        #expect(counted.value("\(calls){operation=\"send\",result=\"201\"}") == 1)
        #expect(try counted.call(.delete, "/api/register/\(id)", as: "alice").status == .ok)
        #expect(counted.value("\(calls){operation=\"delete_registration\",result=\"200\"}") == 1)
        #expect(counted.value("app_backend_hub_call_duration_seconds_count{operation=\"send\"}") == 1)
    }

    @Test(arguments: TestSite.Road.allCases)
    func `a hub whose storage is full counts as one that answers 503`(road: TestSite.Road) throws {
        let counted = try CountedSite(road: road)
        counted.site.hubStore.begin(.full)
        let query = "pns=apns&to_tag=alice"
        let answer = try counted.call(.post, "/api/notifications", query: query, as: "alice", body: "\"x\"")
        #expect(answer.status == .serviceUnavailable)
        #expect(counted.value("app_backend_hub_calls_total{operation=\"send\",result=\"503\"}") == 1)
    }

    @Test func `a hub that does not answer counts by the reason, each try for itself`() throws {
        struct TimedOut: TransportFailure {
            let isTransient = false
            let isUnsent = false
            let isPermanent = false
            let kind = "timeout"
        }
        let counted = try CountedSite(hub: ClosureResponder { _ in throw TimedOut() })
        #expect(try counted.call(.post, "/api/register", as: "alice").status == .serviceUnavailable)
        let calls = "app_backend_hub_calls_total{operation=\"create_registration_id\","
        #expect(counted.value("\(calls)result=\"timeout\"}") == 1)
        #expect(counted.requests("/api/register", "POST", 503) == 1)

        let other = try CountedSite(hub: ClosureResponder { _ in throw NoAnswer() })
        _ = try other.call(.post, "/api/register", as: "alice")
        #expect(other.value("\(calls)result=\"failed\"}") == 2)
    }

    @Test func `a password is checked once, and remembered after that`() throws {
        let counted = try CountedSite()
        for _ in 1...3 { _ = try counted.call(.get, "/api/register", as: "alice") }
        #expect(counted.value("app_backend_credential_cache_lookups_total{result=\"miss\"}") == 1)
        #expect(counted.value("app_backend_credential_cache_lookups_total{result=\"hit\"}") == 2)
        #expect(counted.value("app_backend_logins_total{result=\"verified\"}") == 1)
        #expect(counted.value("app_backend_logins_total{result=\"failed\"}") == 0)
    }

    @Test func `wrong passwords are counted, and those that were not tried any more`() throws {
        let counted = try CountedSite()
        for _ in 0..<LoginThrottle.maximumFailures {
            #expect(try counted.call(.get, "/api/register", as: "alice", password: "wrong").status == .unauthorized)
        }
        #expect(try counted.call(.get, "/api/register", as: "alice", password: "wrong").status == .tooManyRequests)
        #expect(try counted.call(.get, "/api/register", as: "nosuch", password: "wrong").status == .unauthorized)
        let failed = Double(LoginThrottle.maximumFailures) + 1
        #expect(counted.value("app_backend_logins_total{result=\"failed\"}") == failed)
        #expect(counted.value("app_backend_logins_total{result=\"throttled\"}") == 1)
    }

    @Test(arguments: [nil, "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    func `a caller of this host gets the numbers without a password`(address: String?) throws {
        let counted = try CountedSite()
        let answer = counted.site.backend.respond(
            to: Request(method: .get, path: "/metrics", remoteAddress: address))
        #expect(answer.status == .ok)
        #expect(answer.fields[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.fields[.cacheControl] == "no-store")
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#"app_backend_build_info{version="1.2.3"} 1"#))
    }

    @Test(arguments: ["192.0.2.1", "::2", "10.0.0.1", "::ffff:192.0.2.1", "?", "localhost"])
    func `to any other caller there is nothing`(address: String) throws {
        let counted = try CountedSite()
        for path in ["/metrics", "/health"] {
            let request = Request(method: .get, path: path, remoteAddress: address)
            #expect(counted.site.backend.respond(to: request).status == .notFound, "\(path)")
        }
    }

    @Test func `numbers are read and not written`() throws {
        let counted = try CountedSite()
        let answer = try counted.call(.post, "/metrics")
        #expect(answer.status == .methodNotAllowed && answer.fields[.allow] == "GET, HEAD")
    }
}
