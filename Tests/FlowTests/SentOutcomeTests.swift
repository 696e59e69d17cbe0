// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Support
import Testing
import Text

/// `GET /api/notifications/outcomes/{NotificationId}`: what became of a send, for who sent it.
struct SentOutcomeTests {
    /// Alice sends Bob, who has a device, a message.
    /// - Returns: the hub's id of it.
    private func send(_ site: TestSite) throws -> String {
        _ = try site.register("bob")
        let answer = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=bob", as: "alice", body: #""Hello""#)
        return try #require(try SendOutcome(answer).outcomes.first?.notificationID)
    }

    private func ask(_ site: TestSite, _ id: String, as user: String = "alice") -> Response {
        site.call(.get, "/api/notifications/outcomes/\(id)", as: user)
    }

    /// How often the hub was asked for a message.
    private func questions(_ site: TestSite) -> Int {
        site.hub.requests.count { $0.method == .get && $0.path.contains("/messages/") }
    }

    @Test func `the sender gets the outcome of a send in numbers`() async throws {
        let site = try TestSite()
        let id = try send(site)
        let answer = ask(site, id)
        #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-store")
        let outcomes = #"[{"Platform":"apns","Counts":{"Skipped":1}}]"#
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"NotificationId":"\#(id)","State":"Abandoned","Outcomes":\#(outcomes)}"#)
        let details = try await site.device(of: "alice").notifications.outcome(of: id)
        #expect(details.isFinal)
        #expect(details.outcomes == [.init(platform: "apns", counts: [.init("Skipped", 1)])])
        // The tracking id leads from the request to the hub.
        #expect(site.hub.requests.last { $0.path.contains(id) } != nil)
    }

    @Test func `a message that waits for a credential says so, and not why`() throws {
        let id = try #require(NotificationID("a-b"))
        var waiting = NotificationDetails(id: "a-b", state: "Processing")
        #expect(!SendOutcomeDetails(id, waiting).waitsForCredential)
        waiting.waitReason = "InvalidProviderToken"
        let details = SendOutcomeDetails(id, waiting)
        #expect(
            String(decoding: details.json, as: UTF8.self)
                == #"{"NotificationId":"a-b","State":"Processing","WaitsFor":"credential","Outcomes":[]}"#)
        #expect(try SendOutcomeDetails(Response.json(details.json)) == details && details.waitsForCredential)
    }

    @Test func `what is kept of a finished send does not grow with its devices`() throws {
        let site = try TestSite()
        func size(_ id: String) throws -> Int {
            let message = try #require(try site.store.hubMessage(id, now: Timestamp(seconds: site.clock.seconds)))
            return StoredRecord.hubMessage(message).line.count
        }
        let one = try size(try send(site))
        for number in 2...60 { _ = try site.register("bob", handle: TestSite.token(number)) }
        let answer = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=bob", as: "alice", body: #""Hello""#)
        let id = try #require(try SendOutcome(answer).outcomes.first?.notificationID)
        #expect(try size(id) <= one + 8)
        #expect(try size(id) < 500)
        #expect(String(decoding: ask(site, id).body, as: UTF8.self).contains(#"{"Skipped":60}"#))
    }

    @Test func `only the sender gets it, and for others the hub is not even asked`() throws {
        let site = try TestSite()
        let id = try send(site)
        let unknown = String(id.reversed())
        let refused = [ask(site, id, as: "bob"), ask(site, unknown), ask(site, unknown, as: "bob")]
        for answer in refused { #expect(answer.status == .notFound && answer.body == refused[0].body) }
        #expect(questions(site) == 0)
        #expect(ask(site, id).status == .ok)
    }

    @Test func `a secure send can be asked after on each of its platforms`() throws {
        let site = try TestSite()
        let answer = site.call(.post, "/api/notifications", query: "to_tag=bob", as: "alice", body: #""x""#)
        let ids = try SendOutcome(answer).outcomes.compactMap(\.notificationID)
        #expect(ids.count == 4)
        for id in ids {
            #expect(try SendOutcomeDetails(ask(site, id)).state == "NoTargetFound")
            #expect(ask(site, id, as: "bob").status == .notFound)
        }
    }

    @Test func `after seven days it is forgotten`() throws {
        let site = try TestSite()
        let id = try send(site)
        site.clock.advance(7 * 86_400 - 1)
        #expect(ask(site, id).status == .ok)
        site.clock.advance(1)
        #expect(ask(site, id).status == .notFound)
        #expect(questions(site) == 1)
    }

    @Test(arguments: ["..", "%2e%2e", "a%2Fb", "a%3Fb", "a%20b", "a.b", "%00", "é", String(repeating: "a", count: 129)])
    func `what is no id goes into no path`(id: String) throws {
        let site = try TestSite()
        // As if it had been sent, which the store would believe.
        for name in ["..", "a/b", "a?b", "a b", "a.b", "\u{0}", "é", String(repeating: "a", count: 129)] {
            try site.store.rememberSent(
                [name], owner: "alice", now: Timestamp(seconds: 0), expiresAt: Timestamp(seconds: .max))
        }
        #expect(ask(site, id).status == .notFound)
        #expect(questions(site) == 0)
    }

    /// What the hub answers, and what the caller gets.
    struct Row: CustomTestStringConvertible, Sendable {
        let answer: Response?
        let status: Int
        var retryAfter: String?

        var testDescription: String { "\(answer?.status.code ?? 0) -> \(status)" }
    }

    static let rows = [
        Row(answer: Response(status: .notFound), status: 404),
        Row(answer: Response(status: .tooManyRequests, fields: [.retryAfter: "9"]), status: 429, retryAfter: "9"),
        Row(answer: Response(status: .forbidden), status: 502),
        Row(answer: Response(body: Array("<x/>".utf8)), status: 502),
        Row(answer: nil, status: 503, retryAfter: "5"),
    ]

    @Test(arguments: rows) func `trouble with the hub is answered as everywhere`(row: Row) throws {
        let site = try TestSite(surroundingHub: { hub in
            ClosureResponder { request in
                guard request.method == .get, request.path.contains("/messages/") else {
                    return try hub.respond(to: request)
                }
                guard let answer = row.answer else { throw NoAnswer() }
                return answer
            }
        })
        let answer = ask(site, try send(site))
        #expect(answer.status.code == row.status && answer.fields[.retryAfter] == row.retryAfter)
    }

    @Test func `a send that cannot be remembered is still a send`() throws {
        let log = CollectedLog()
        let site = try TestSite {
            $0.store = TroubledStore(inner: $0.store, error: .full)
            $0.logger = log.logger
        }
        let answer = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=bob", as: "alice", body: #""Hello""#)
        #expect(try answer.status == .ok && SendOutcome(answer).isAccepted)
        #expect(log.lines.allSatisfy { $0.request == "test" } && log.text.contains("store: \(StoreError.full)"))
    }

    static let policy = TagPolicy(defaultSendTo: ["*", "tag:*"])
    static let unwritable: [StoreHealth] = [.full, .readOnly, .poisoned]

    @Test(arguments: unwritable, ["bob", "tag:news"])
    func `a message that cannot be recorded is refused before a push is on its way`(
        health: StoreHealth, to: String
    ) throws {
        let log = CollectedLog()
        let site = try TestSite(policy: Self.policy) {
            $0.plainSeconds = 86_400
            $0.store = TroubledStore(inner: $0.store, error: health.trouble, reportedHealth: health)
            $0.logger = log.logger
        }
        let answer = site.call(.post, "/api/notifications", as: "alice", body: #"{"To":"\#(to)","Body":"Hello"}"#)
        #expect(Problem(answer).code == .storeUnavailable)
        #expect(site.hub.requests.isEmpty)
        let trouble = try #require(health.trouble)
        #expect(log.text.contains("store: \(trouble)"))
    }

    @Test(arguments: [("bob", 0), ("tag:news", 1)])
    func `only a message that no inbox keeps asks whether the store takes writes, and once a second`(
        to: String, looks: Int
    ) throws {
        let count = CallCount()
        let site = try TestSite(policy: Self.policy) {
            $0.plainSeconds = 86_400
            $0.store = TroubledStore(inner: $0.store, looks: count)
        }
        func send() -> Response {
            site.call(.post, "/api/notifications", as: "alice", body: #"{"To":"\#(to)","Body":"Hello"}"#)
        }
        #expect(send().status == .ok && send().status == .ok && count.number.load(ordering: .relaxed) == looks)
        site.clock.advance(1)
        #expect(send().status == .ok && count.number.load(ordering: .relaxed) == 2 * looks)
    }

    @Test func `a store that has failed to write is looked at before the next message`() throws {
        let count = CallCount()
        let site = try TestSite(policy: Self.policy) {
            $0.store = TroubledStore(inner: $0.store, error: .full, looks: count)
        }
        for _ in 1...2 {
            let answer = site.call(
                .post, "/api/notifications", as: "alice", body: #"{"To":"tag:news","Body":"Hello"}"#)
            #expect(try answer.status == .ok && SendOutcome(answer).messageID == nil)
        }
        #expect(count.number.load(ordering: .relaxed) == 2)
    }

    @Test func `a message whose record is lost at the last moment gets no id`() throws {
        let site = try TestSite { $0.store = TroubledStore(inner: $0.store, error: .full) }
        let answer = site.call(
            .post, "/api/notifications", as: "alice", body: #"{"To":"bob","Body":"Hello"}"#)
        let outcome = try SendOutcome(answer)
        #expect(answer.status == .ok && outcome.isAccepted && outcome.messageID == nil)
    }

    @Test func `a token of a secure notification is not one of these ids, nor the other way round`() throws {
        let site = try TestSite()
        let id = try send(site)
        #expect(site.call(.get, "/api/notifications/\(id)", as: "alice").status == .notFound)
        #expect(site.call(.get, "/api/notifications/outcomes", as: "alice").status == .notFound)
        #expect(site.call(.post, "/api/notifications/outcomes/\(id)", as: "alice").status == .methodNotAllowed)
        #expect(site.call(.get, "/api/notifications/outcomes/\(id)/x", as: "alice").status == .notFound)
    }
}
