// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// How often events are tried, by whom, and which are dropped.
struct WebhookTryTests {
    private let receiver = Receiver()

    @Test func `what is not taken is tried again with growing pauses and the same id, then dropped and said`() throws {
        let site = try receiver.site([.messageOpened])
        _ = site.call(.post, "/api/notifications/\(try site.sendMessage())/opened", as: "alice")
        receiver.answer = { _ in 503 }
        let began = site.clock.seconds
        try receiver.during(site) {
            _ = try receiver.await(1)
            var pauses: [Int64] = []
            for number in 2...10 {
                var waited: Int64 = 0
                while receiver.told.count < number, waited < 200_000 {
                    let step: Int64 = pauses.isEmpty ? 1 : 1_800
                    site.clock.advance(step)
                    waited += step
                    try receiver.awaitRound()
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
        let site = try receiver.site([.messageOpened])
        _ = site.call(.post, "/api/notifications/\(try site.sendMessage())/opened", as: "alice")
        _ = site.call(.post, "/api/notifications/\(try site.sendMessage())/opened", as: "alice")
        receiver.answer = { _ in 410 }
        try receiver.during(site) { try receiver.wait { receiver.count("dropped") == 2 } }
        site.clock.advance(86_400)
        try receiver.during(site) { try receiver.awaitRound() }
        #expect(receiver.told.count == 2 && receiver.reports.count == 1)
    }

    @Test func `a redirect is no delivery, and what a worker has not finished the next one does`() throws {
        let site = try receiver.site([.messageOpened])
        _ = site.call(.post, "/api/notifications/\(try site.sendMessage())/opened", as: "alice")
        receiver.answer = { _ in 307 }
        try receiver.during(site) { try receiver.wait { receiver.count("failed") == 1 } }
        receiver.answer = { _ in 204 }
        // The pause outlives the worker.
        try receiver.during(site) { try receiver.awaitRound() }
        #expect(receiver.told.count == 1)
        site.clock.advance(7)
        let told = try receiver.during(site) { try receiver.await(2) }
        #expect(told[0].id == told[1].id && receiver.count("delivered") == 1)
    }

    @Test func `what waits for a receiver that was taken out of the configuration is dropped after hours`() throws {
        let site = try receiver.site([.messageOpened], receivers: 2)
        _ = site.call(.post, "/api/notifications/\(try site.sendMessage())/opened", as: "alice")
        try receiver.during(site, receivers: 1) {
            _ = try receiver.await(1)
            site.clock.advance(5 * 3_600)
            try receiver.awaitRound()
            #expect(receiver.count("dropped") == 0)
            site.clock.advance(3_600)
            try receiver.wait { receiver.count("dropped") == 1 }
        }
        #expect(receiver.told.map(\.request.authority) == ["r0.example"])
        #expect(receiver.reports.contains { $0.contains("not in the configuration any more") })
        #expect(try site.store.waiting(in: .webhookEvents).isEmpty)
    }

    @Test func `a site that does not know a receiver yet leaves its events to the one that does`() throws {
        let site = try receiver.site([.messageOpened], receivers: 2)
        _ = site.call(.post, "/api/notifications/\(try site.sendMessage())/opened", as: "alice")
        try receiver.during(site, receivers: 1) {
            _ = try receiver.await(1)
            try receiver.awaitRound()
        }
        let told = try receiver.during(site, receivers: 2) { try receiver.await(2) }
        #expect(told.map(\.request.authority) == ["r0.example", "r1.example"] && receiver.count("dropped") == 0)
    }

    @Test func `a try that the end of the site cancels does not count, and the next site makes it`() throws {
        let site = try receiver.site([.messageOpened])
        _ = site.call(.post, "/api/notifications/\(try site.sendMessage())/opened", as: "alice")
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
        let site = try receiver.site([.messageCompleted])
        _ = try site.sendMessage()
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
        let site = try receiver.site([.messageOpened], receivers: 2)
        let ids = try (0..<9).map { _ in
            site.clock.advance(1)
            let id = try site.sendMessage()
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

    @Test func `a sender of many messages costs no other sender's events`() throws {
        let site = try receiver.site([.messageOpened], receivers: 2)
        func open(_ id: String) { _ = site.call(.post, "/api/notifications/\(id)/opened", as: "alice") }
        let few = try site.sendMessage(from: "bob")
        open(few)
        for _ in 0..<9 {
            site.clock.advance(1)
            open(try site.sendMessage(from: "alice"))
        }
        receiver.answer = { _ in 500 }
        var options = Receiver.options
        options.waiting = 6
        let told = try receiver.during(site, options) {
            try receiver.wait { receiver.count("dropped") == 14 && receiver.count("failed") == 6 }
            return receiver.told
        }
        let ids = told.map { $0.data["MessageId"]?.string ?? "" }
        #expect(ids.count { $0 == few } == 2)
        #expect(Set(told.map(\.request.authority)).count == 2 && ids.count == 6)
    }

    @Test func `of two workers on one store one tells`() throws {
        let site = try receiver.site([.messageOpened])
        try receiver.during(site) {
            try receiver.during(site) {
                for _ in 0..<5 {
                    _ = site.call(.post, "/api/notifications/\(try site.sendMessage())/opened", as: "alice")
                }
                _ = try receiver.await(5)
                try receiver.awaitRound()
                // The other one has asked for the lease meanwhile, and has not got it.
                try receiver.wait { receiver.refusedLeases > 0 }
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
        let id = try site.sendMessage()
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
    func waiting(in list: WaitingList, of owner: String) -> [HubMessage] { [] }
    func waitingEntry(_ id: String, in list: WaitingList) -> HubMessage? { nil }
    func removeWaiting(_ ids: [String], from list: WaitingList) {}
    func changeWaiting(_ entry: HubMessage, to new: HubMessage?, in list: WaitingList) -> Bool { false }
    func acquireLease(of list: WaitingList) -> DeliveryLease? { nil }
}
