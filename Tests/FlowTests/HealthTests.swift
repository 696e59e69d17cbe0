// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// `GET /health` as a monitor on the host sees it.
struct HealthTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let store: StoreHealth
        let busy: Int
        let workers: Int
        let isWell: Bool

        var testDescription: String { "\(store), \(busy) of \(workers) -> \(isWell ? "ok" : "unavailable")" }
    }

    static let rows = [
        Row(store: .writable, busy: 0, workers: 0, isWell: true),
        Row(store: .writable, busy: 3, workers: 4, isWell: true),
        Row(store: .writable, busy: 4, workers: 4, isWell: false),
        // The only worker is the one that answers.
        Row(store: .writable, busy: 1, workers: 1, isWell: true),
        Row(store: .full, busy: 1, workers: 4, isWell: false),
        Row(store: .readOnly, busy: 1, workers: 4, isWell: false),
        Row(store: .poisoned, busy: 1, workers: 4, isWell: false),
        Row(store: .poisoned, busy: 4, workers: 4, isWell: false),
    ]

    @Test(arguments: rows) func `health is 503 without a store that can be written, and without workers`(row: Row)
        throws
    {
        let site = try TestSite(users: []) {
            $0.store = TroubledStore(inner: $0.store, reportedHealth: row.store)
            $0.version = "1.2.3"
            $0.load = { HealthController.Load(workersBusy: row.busy, workers: row.workers) }
        }
        let response = site.backend.respond(to: Request(method: .get, path: "/health", remoteAddress: "127.0.0.1"))
        #expect(response.status.code == (row.isWell ? 200 : 503))
        #expect(response.fields[.retryAfter] == (row.isWell ? nil : "5"))
        #expect(response.fields[.cacheControl] == "no-store")
        let body = try JSONValue(parsing: response.body)
        #expect(body["status"]?.string == (row.isWell ? "ok" : "unavailable"))
        #expect(body["version"]?.string == "1.2.3")
        #expect(body["store"]?.string == "\(row.store)")
        #expect(body["workers"]?["busy"]?.integer == row.busy)
        #expect(body["workers"]?["total"]?.integer == row.workers)
        #expect(body["waiting"] == .array([]))
        #expect(body["reload"]?["count"]?.integer == 0 && body["reload"]?["refused"] == nil)
    }

    @Test func `health tells which channel waits for a credential, and is no worse for it`() throws {
        let site = try TestSite(users: []) {
            $0.waiting = {
                let since = Timestamp(seconds: 1_800_000_000)
                return [
                    .init(name: "apns", cause: .credential, since: since, reason: "InvalidProviderToken"),
                    .init(name: "fcm", cause: .connection, since: since, reason: "not trusted"),
                ]
            }
        }
        let response = site.backend.respond(to: Request(method: .get, path: "/health", remoteAddress: "127.0.0.1"))
        #expect(response.status == .ok)
        let body = try JSONValue(parsing: response.body)
        let channel = try #require(body["waiting"]?.array?.first)
        #expect(channel["channel"]?.string == "apns" && channel["reason"]?.string == "InvalidProviderToken")
        #expect(channel["since"]?.string == "2027-01-15T08:00:00Z" && channel["cause"]?.string == "credential")
        #expect(body["waiting"]?.array?.last?["cause"]?.string == "connection")
    }

    @Test func `health tells why the last reload was refused, and is no worse for it`() throws {
        let site = try TestSite(users: []) {
            $0.reload = { HealthController.Reload(count: 2, refusal: "configuration: workers: must be a number") }
        }
        let response = site.backend.respond(to: Request(method: .get, path: "/health", remoteAddress: "127.0.0.1"))
        let body = try JSONValue(parsing: response.body)
        #expect(response.status == .ok && body["reload"]?["count"]?.integer == 2)
        #expect(body["reload"]?["refused"]?.string == "configuration: workers: must be a number")
    }
}
