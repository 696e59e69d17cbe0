// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Crypto
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Support
import Synchronization
import Testing
import Text

import class System.Lock

/// What others are told of what happens here.
struct WebhookTests {
    private let receiver = Receiver()

    private func site(
        _ kinds: Set<WebhookKind> = Set(WebhookKind.allCases), receivers: Int = 1,
        surroundingHub: (any Responder) -> any Responder = { $0 }
    ) throws -> TestSite {
        try TestSite(
            users: ["alice", "bob", "carol"],
            adjusting: {
                $0.plainSeconds = 86_400
                $0.webhooks = try? receiver.webhooks($0, kinds, receivers: receivers)
            }, surroundingHub: surroundingHub)
    }

    private func send(_ site: TestSite, _ members: String = #""Body":"Hi""#, to: String = #""alice""#) throws -> String
    {
        let answer = site.call(.post, "/api/notifications", as: "bob", body: "{\"To\":\(to),\(members)}")
        return try #require(try SendOutcome(answer).messageID)
    }

    // MARK: The whole way

    @Test func `a receiver learns that a message was completed, read and opened, and nothing of its text`()
        throws
    {
        let site = try site()
        _ = try site.register("alice")
        let id = try send(site, #""Title":"Lunch","Body":"At noon""#)
        let inbox = try Inbox(site.call(.get, "/api/inbox", as: "alice"))
        let number = try #require(inbox.messages.first?.id)
        for _ in 0..<2 {
            #expect(site.call(.post, "/api/inbox/\(number)/read", as: "alice").status == .ok)
            #expect(site.call(.post, "/api/notifications/\(id)/opened", as: "alice").status == .ok)
        }
        let told = try receiver.during(site) { try receiver.await(3) }
        #expect(
            told.map(\.type).sorted() == ["message.completed", "message.opened", "message.read"]
                && Set(told.map(\.id)).count == 3)
        let timeline = site.call(.get, "/api/notifications/\(id)/timeline", as: "bob").body
        for event in told {
            #expect(event.isSigned && !event.text.contains("noon") && !event.text.contains("Lunch"))
            #expect(event.data["MessageId"]?.string == id && event.data["Sender"]?.string == "bob")
            #expect(event.data["To"]?.string == "alice")
        }
        let completed = try #require(told.first { $0.type == "message.completed" })
        let outcomes = try JSONValue(parsing: timeline)["Outcomes"]
        #expect(completed.data["Outcomes"] == outcomes && outcomes != nil)
        #expect(try site.store.waiting(in: .webhookEvents).isEmpty)
        #expect(receiver.count("delivered") == 3 && receiver.reports.isEmpty)
    }

    @Test func `a secure message is an event like any other, at its reader's first call alone`() throws {
        let site = try site([.messageRead])
        let id = try send(site, #""Body":"4711","Secure":true"#)
        let secret = try JSONValue(parsing: site.call(.get, "/api/notifications", as: "alice").body)
        let number = try #require(secret.array?.first?["Id"]?.integer)
        for _ in 0..<3 { _ = site.call(.get, "/api/notifications/\(number)", as: "alice") }
        let told = try receiver.during(site) { try receiver.await(1) }
        #expect(told.map { $0.data["MessageId"]?.string } == [id] && !told[0].text.contains("4711"))
    }

    @Test func `no event says who has opened a message to several`() throws {
        let site = try site([.messageOpened, .messageRead])
        let id = try send(site, to: #"["alice", "carol"]"#)
        for user in ["alice", "carol", "alice", "bob"] {
            _ = site.call(.post, "/api/notifications/\(id)/opened", as: user)
        }
        let told = try receiver.during(site) { try receiver.await(2) }
        #expect(told.allSatisfy { $0.data["To"]?.string == "alice, carol" && $0.type == "message.opened" })
        #expect(Set(told.map(\.id)).count == 2 && told[0].data == told[1].data)
    }

    @Test func `a send of a string is no event, and no call changes for it`() throws {
        let site = try site()
        let answer = site.call(.post, "/api/notifications", query: "pns=apns&to_tag=alice", as: "bob", body: #""Hi""#)
        #expect(answer.status == .ok)
        #expect(try site.store.waiting(in: .webhookEvents).isEmpty)
    }

    @Test func `each receiver gets what it wants, and what it has not taken another one does not get again`() throws {
        let site = try site([.messageOpened], receivers: 2)
        let id = try send(site)
        _ = site.call(.post, "/api/notifications/\(id)/opened", as: "alice")
        receiver.answer = { $0.authority == "r0.example" ? 200 : 500 }
        try receiver.during(site) {
            _ = try receiver.await(2)
            site.clock.advance(10)
            _ = try receiver.await(3)
        }
        let hosts = receiver.told.map(\.request.authority)
        #expect(hosts.count { $0 == "r0.example" } == 1 && hosts.count { $0 == "r1.example" } == 2)
        #expect(Set(receiver.told.map(\.id)).count == 2)
    }

    // MARK: Outcomes

    @Test func `a message is completed when each platform is, and after a day as it is then`() throws {
        let isKnown = Atomic(false)
        let site = try site(
            [.messageCompleted],
            surroundingHub: { hub in
                ClosureResponder { request in
                    let asks = request.method == .get && request.path.contains("/messages/")
                    guard asks, !isKnown.load(ordering: .relaxed) else { return try hub.respond(to: request) }
                    return Response(status: .notFound)
                }
            })
        _ = try site.register("alice")
        _ = try send(site, #""Body":"Hi","Platforms":["apns"]"#)
        try receiver.during(site) {
            for _ in 0..<20 {
                site.clock.advance(60)
                Thread.sleep(forTimeInterval: 0.02)
            }
            #expect(receiver.told.isEmpty)
            isKnown.store(true, ordering: .relaxed)
            site.clock.advance(600)
            let told = try receiver.await(1)
            #expect(told[0].data["Outcomes"]?.array?.first?["State"]?.string == "Abandoned")
            isKnown.store(false, ordering: .relaxed)
            _ = try send(site, #""Body":"Hi","Platforms":["apns"]"#)
            Thread.sleep(forTimeInterval: 0.1)
            #expect(receiver.told.count == 1)
            site.clock.advance(86_400)
            let last = try receiver.await(2)[1]
            #expect(last.data["Outcomes"]?.array?.first?["State"]?.string == "Enqueued")
        }
    }

    // MARK: Tries

    @Test func `what is not taken is tried again with growing pauses and the same id, then dropped and said`() throws {
        let site = try site([.messageOpened])
        _ = site.call(.post, "/api/notifications/\(try send(site))/opened", as: "alice")
        receiver.answer = { _ in 503 }
        let began = site.clock.seconds
        try receiver.during(site) {
            _ = try receiver.await(1)
            var pauses: [Int64] = []
            for number in 2...10 {
                var waited: Int64 = 0
                while receiver.told.count < number, waited < 200_000 {
                    let step: Int64 = pauses.isEmpty ? 1 : 600
                    site.clock.advance(step)
                    waited += step
                    Thread.sleep(forTimeInterval: 0.02)
                }
                pauses.append(waited)
            }
            #expect((5...20).contains(pauses[0]) && (86_400...130_000).contains(pauses[8]))
            try receiver.wait { receiver.count("dropped") == 1 }
        }
        #expect((3 * 86_400...6 * 86_400).contains(site.clock.seconds - began))
        #expect(Set(receiver.told.map(\.id)).count == 1 && receiver.told.allSatisfy(\.isSigned))
        // Each try is signed with its own time.
        #expect(Set(receiver.told.map { $0.request.fields[named: "webhook-timestamp"] ?? "" }).count == 10)
        #expect(receiver.count("failed") == 10 && receiver.count("delivered") == 0)
        #expect(receiver.reports.count == 2 && !receiver.reports.joined().contains("r0.example"))
        #expect(try site.store.waiting(in: .webhookEvents).isEmpty)
    }

    @Test func `a receiver that is gone is not tried again`() throws {
        let site = try site([.messageOpened])
        _ = site.call(.post, "/api/notifications/\(try send(site))/opened", as: "alice")
        _ = site.call(.post, "/api/notifications/\(try send(site))/opened", as: "alice")
        receiver.answer = { _ in 410 }
        try receiver.during(site) { try receiver.wait { receiver.count("dropped") == 2 } }
        site.clock.advance(86_400)
        try receiver.during(site) { Thread.sleep(forTimeInterval: 0.1) }
        #expect(receiver.told.count == 2 && receiver.reports.count == 1)
    }

    @Test func `a redirect is no delivery, and what a worker has not finished the next one does`() throws {
        let site = try site([.messageOpened])
        _ = site.call(.post, "/api/notifications/\(try send(site))/opened", as: "alice")
        receiver.answer = { _ in 307 }
        try receiver.during(site) { try receiver.wait { receiver.count("failed") == 1 } }
        receiver.answer = { _ in 204 }
        // The pause outlives the worker.
        try receiver.during(site) { Thread.sleep(forTimeInterval: 0.1) }
        #expect(receiver.told.count == 1)
        site.clock.advance(7)
        let told = try receiver.during(site) { try receiver.await(2) }
        #expect(told[0].id == told[1].id && receiver.count("delivered") == 1)
    }

    @Test func `what waits for a receiver that was taken out of the configuration is dropped after hours`() throws {
        let site = try site([.messageOpened], receivers: 2)
        _ = site.call(.post, "/api/notifications/\(try send(site))/opened", as: "alice")
        try receiver.during(site, receivers: 1) {
            _ = try receiver.await(1)
            site.clock.advance(5 * 3_600)
            Thread.sleep(forTimeInterval: 0.1)
            #expect(receiver.count("dropped") == 0)
            site.clock.advance(3_600)
            try receiver.wait { receiver.count("dropped") == 1 }
        }
        #expect(receiver.told.map(\.request.authority) == ["r0.example"])
        #expect(receiver.reports.contains { $0.contains("not in the configuration any more") })
        #expect(try site.store.waiting(in: .webhookEvents).isEmpty)
    }

    @Test func `a site that does not know a receiver yet leaves its events to the one that does`() throws {
        let site = try site([.messageOpened], receivers: 2)
        _ = site.call(.post, "/api/notifications/\(try send(site))/opened", as: "alice")
        try receiver.during(site, receivers: 1) {
            _ = try receiver.await(1)
            Thread.sleep(forTimeInterval: 0.1)
        }
        let told = try receiver.during(site, receivers: 2) { try receiver.await(2) }
        #expect(told.map(\.request.authority) == ["r0.example", "r1.example"] && receiver.count("dropped") == 0)
    }

    @Test func `a try that the end of the site cancels does not count, and the next site makes it`() throws {
        let site = try site([.messageOpened])
        _ = site.call(.post, "/api/notifications/\(try send(site))/opened", as: "alice")
        let before = try site.store.waiting(in: .webhookEvents)
        receiver.failure = Cancellation()
        try receiver.during(site) { _ = try receiver.await(1) }
        #expect(try site.store.waiting(in: .webhookEvents) == before)
        #expect(receiver.count("failed") == 0 && receiver.reports.isEmpty)
        receiver.failure = nil
        let told = try receiver.during(site) { try receiver.await(2) }
        #expect(told[0].id == told[1].id && receiver.count("delivered") == 1)
    }

    @Test func `an outcome whose message is forgotten is dropped and said`() throws {
        let site = try site([.messageCompleted])
        _ = try send(site)
        let stored = try #require(try site.store.waiting(in: .webhookEvents).first)
        try site.store.removeWaiting([stored.id], from: .webhookEvents)
        let document = JSONValue.object(
            (stored.document.members ?? []).map { $0.name == "message" ? .init("message", .string("unknown")) : $0 })
        try site.store.putWaiting(
            [
                HubMessage(id: "evt", document: document, createdAt: stored.createdAt, expiresAt: stored.expiresAt)
            ], in: .webhookEvents)
        try receiver.during(site) { try receiver.wait { receiver.count("dropped") == 1 } }
        #expect(receiver.told.isEmpty && receiver.reports.count == 1 && receiver.reports[0].contains("forgotten"))
        #expect(try site.store.waiting(in: .webhookEvents).isEmpty)
    }

    @Test func `of too many that wait the oldest are dropped, and one receiver's wait is not another's`() throws {
        let site = try site([.messageOpened], receivers: 2)
        let ids = try (0..<9).map { _ in
            site.clock.advance(1)
            let id = try send(site)
            _ = site.call(.post, "/api/notifications/\(id)/opened", as: "alice")
            return id
        }
        receiver.answer = { $0.authority == "r0.example" ? 500 : 200 }
        var options = Receiver.options
        (options.waiting, options.inFlight) = (6, 1)
        let told = try receiver.during(site, options) {
            try receiver.wait { receiver.count("delivered") == 3 && receiver.count("failed") == 3 }
            return receiver.told
        }
        #expect(receiver.count("dropped") == 12)
        #expect(Set(told.map { $0.data["MessageId"]?.string ?? "" }) == Set(ids.suffix(3)))
    }

    @Test func `of two workers on one store one tells`() throws {
        let site = try site([.messageOpened])
        try receiver.during(site) {
            try receiver.during(site) {
                for _ in 0..<5 { _ = site.call(.post, "/api/notifications/\(try send(site))/opened", as: "alice") }
                _ = try receiver.await(5)
                Thread.sleep(forTimeInterval: 0.1)
            }
        }
        #expect(receiver.told.count == 5)
    }

    @Test func `a store that cannot keep events lets the calls go on, and it is counted`() throws {
        let site = try TestSite(
            users: ["alice", "bob"],
            adjusting: {
                $0.webhooks = Webhooks(
                    Receiver.endpoints(Set(WebhookKind.allCases), 1), queue: FullQueue(), counter: receiver,
                    now: $0.now, report: receiver.report)
            })
        let id = try send(site)
        #expect(site.call(.post, "/api/notifications/\(id)/opened", as: "alice").status == .ok)
        #expect(receiver.count("dropped") == 2 && receiver.reports.allSatisfy { $0.contains("not kept") })
    }
}

private struct Cancellation: TransportFailure {
    let isTransient = false
    let isUnsent = false
    let isPermanent = false
    let kind = "cancelled"
}

private struct FullQueue: WaitingStore {
    func putWaiting(_ entries: [HubMessage], in list: WaitingList) throws(StoreError) { throw .quotaExceeded }
    func waiting(in list: WaitingList, except ids: Set<String>) -> [HubMessage] { [] }
    func removeWaiting(_ ids: [String], from list: WaitingList) {}
    func changeWaiting(_ entry: HubMessage, to new: HubMessage?, in list: WaitingList) -> Bool { false }
    func acquireLease(of list: WaitingList) -> DeliveryLease? { nil }
}
