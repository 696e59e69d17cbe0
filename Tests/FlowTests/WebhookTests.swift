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
import Synchronization
import Testing
import Text

/// What others are told of what happens here.
struct WebhookTests {
    private let receiver = Receiver()

    @Test func `a receiver learns that a message was completed, read and opened, and nothing of its text`()
        throws
    {
        let site = try receiver.site()
        _ = try site.register("alice")
        let id = try site.sendMessage(#""Title":"Lunch","Body":"At noon""#)
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
        let site = try receiver.site([.messageRead])
        let id = try site.sendMessage(#""Body":"47 11","Secure":true"#)
        let secret = try JSONValue(parsing: site.call(.get, "/api/notifications", as: "alice").body)
        let number = try #require(secret.array?.first?["Id"]?.integer)
        for _ in 0..<3 { _ = site.call(.get, "/api/notifications/\(number)", as: "alice") }
        let told = try receiver.during(site) { try receiver.await(1) }
        #expect(told.map { $0.data["MessageId"]?.string } == [id] && !told[0].text.contains("47 11"))
    }

    @Test func `no event says who has opened a message to several`() throws {
        let site = try receiver.site([.messageOpened, .messageRead])
        let id = try site.sendMessage(to: #"["alice", "carol"]"#)
        for user in ["alice", "carol", "alice", "bob"] {
            _ = site.call(.post, "/api/notifications/\(id)/opened", as: user)
        }
        let told = try receiver.during(site) { try receiver.await(2) }
        #expect(told.allSatisfy { $0.data["To"]?.string == "alice, carol" && $0.type == "message.opened" })
        #expect(Set(told.map(\.id)).count == 2 && told[0].data == told[1].data)
    }

    @Test func `a receiver learns in its order of what happens in one second`() throws {
        let site = try receiver.site([.messageOpened])
        let ids = try (0..<12).map { _ in try site.sendMessage() }
        for id in ids { _ = site.call(.post, "/api/notifications/\(id)/opened", as: "alice") }
        let told = try receiver.during(site) { try receiver.await(12) }
        #expect(told.map { $0.data["MessageId"]?.string } == ids)
    }

    @Test func `a device that is gone counts against its owner, and the event has its user's name`() throws {
        let site = try receiver.site([])
        let webhooks = Webhooks(
            Receiver.endpoints([.deviceRemoved], 1), queue: site.store, counter: receiver,
            now: { Timestamp(seconds: 1) },
            report: receiver.report)
        // The next user of the name has another share.
        for owner in ["alice", "alice:1", nil] {
            webhooks.tellRemoval(of: "1-2-\(owner ?? "")", platform: .apns, owner: owner)
        }
        let events = try site.store.waiting(in: .webhookEvents).map { event in
            let body = try JSONValue(parsing: Array((event.document["body"]?.string ?? "").utf8))
            return [event.document["source"]?.string, body["data"]?["User"]?.string]
        }
        #expect(Set(events) == [["alice", "alice"], ["alice:1", "alice"], [nil, nil]])
    }

    @Test func `a send of a string is no event, and no call changes for it`() throws {
        let site = try receiver.site()
        let answer = site.call(.post, "/api/notifications", query: "pns=apns&to_tag=alice", as: "bob", body: #""Hi""#)
        #expect(answer.status == .ok)
        #expect(try site.store.waiting(in: .webhookEvents).isEmpty)
    }

    @Test func `each receiver gets what it wants, and what it has not taken another one does not get again`() throws {
        let site = try receiver.site([.messageOpened], receivers: 2)
        let id = try site.sendMessage()
        _ = site.call(.post, "/api/notifications/\(id)/opened", as: "alice")
        receiver.answer = { $0.authority == "r0.example" ? 200 : 500 }
        try receiver.during(site) {
            _ = try receiver.await(2)
            // What was refused gets its next time after the receiver has heard of it, by the clock of then.
            try receiver.awaitRound()
            site.clock.advance(10)
            _ = try receiver.await(3)
        }
        let hosts = receiver.told.map(\.request.authority)
        #expect(hosts.count { $0 == "r0.example" } == 1 && hosts.count { $0 == "r1.example" } == 2)
        #expect(Set(receiver.told.map(\.id)).count == 2)
    }

    @Test func `a message is completed when each platform is, and after a day as it is then`() throws {
        let isKnown = Atomic(false)
        let site = try receiver.site(
            [.messageCompleted],
            surroundingHub: { hub in
                ClosureResponder { request in
                    let asks = request.method == .get && request.path.contains("/messages/")
                    guard asks, !isKnown.load(ordering: .relaxed) else { return try hub.respond(to: request) }
                    return Response(status: .notFound)
                }
            })
        _ = try site.register("alice")
        _ = try site.sendMessage(#""Body":"Hi","Platforms":["apns"]"#)
        try receiver.during(site) {
            for _ in 0..<20 {
                site.clock.advance(60)
                try receiver.awaitRound()
            }
            #expect(receiver.told.isEmpty)
            isKnown.store(true, ordering: .relaxed)
            site.clock.advance(600)
            let told = try receiver.await(1)
            #expect(told[0].data["Outcomes"]?.array?.first?["State"]?.string == "Abandoned")
            isKnown.store(false, ordering: .relaxed)
            _ = try site.sendMessage(#""Body":"Hi","Platforms":["apns"]"#)
            try receiver.awaitRound()
            #expect(receiver.told.count == 1)
            site.clock.advance(86_400)
            let last = try receiver.await(2)[1]
            #expect(last.data["Outcomes"]?.array?.first?["State"]?.string == "Enqueued")
        }
    }
}
