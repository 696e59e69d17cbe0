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

/// `SendAt`, and `/api/notifications/scheduled`: messages for later, until they are sent.
struct ScheduledMessageTests {
    private func site(policy: TagPolicy = TagPolicy(), road: TestSite.Road = .wire) throws -> TestSite {
        try TestSite(
            users: ["alice", "bob", "carol"], policy: policy, road: road, adjusting: { $0.plainSeconds = 30 * 86_400 })
    }

    @Test(arguments: TestSite.Road.allCases)
    func `a message for later reaches the device and the inbox at its time, under the id that its sender has`(
        road: TestSite.Road
    ) throws {
        let site = try site(road: road)
        _ = try site.register("alice")
        let answer = site.send(PushMessage(to: "alice", title: "Dinner", body: "At eight", sendAt: site.time(60)))
        let (status, sent) = (answer.status, try SendOutcome(answer))
        let id = try #require(sent.messageID)
        #expect(status == .ok && sent.sendAt == site.time(60) && sent.outcomes.isEmpty)
        site.clock.advance(59)
        #expect(try site.sendDue() == .seconds(1))
        #expect(site.hub.messages.isEmpty)
        #expect(try Inbox(site.call(.get, Path.inbox, as: "alice")).messages.isEmpty)
        #expect(site.timeline(id).status == .notFound)
        #expect(
            String(decoding: site.call(.get, Path.scheduled, as: "bob").body, as: UTF8.self)
                == #"[{"MessageId":"\#(id)","To":"alice","Title":"Dinner","Body":"At eight","SendAt":"\#(site.time(1))"}]"#
        )

        site.clock.advance(1)
        #expect(try site.sendDue() == .seconds(10))
        let inbox = try Inbox(site.call(.get, Path.inbox, as: "alice")).messages
        #expect(inbox.count == 1 && inbox[0].sender == "bob" && inbox[0].body == "At eight")
        #expect(inbox[0].sentAt == site.time(0))
        #expect(site.call(.post, "\(Path.inbox)/\(inbox[0].id)/read", as: "alice").status == .ok)
        let timeline = try MessageTimeline(site.timeline(id))
        #expect(
            timeline.isKept && timeline.isRead == true && timeline.sentAt == site.time(0)
                && timeline.outcomes.count == 4)
        if road == .wire { #expect(site.hub.messages.count == 4) }
        #expect(try site.scheduled().isEmpty)
        _ = try site.sendDue()
        #expect(try Inbox(site.call(.get, Path.inbox, as: "alice")).messages.count == 1)
    }

    @Test func `a secure message can be read from its time on, and nothing of it is listed before`() throws {
        let site = try site()
        let sent = try SendOutcome(
            site.send(PushMessage(to: "alice", body: "47 11", isSecure: true, sendAt: site.time(60))))
        let id = try #require(sent.messageID)
        #expect(sent.id == nil)
        #expect(try JSONValue(parsing: site.call(.get, Path.notifications, as: "alice").body).array?.isEmpty == true)
        let listed = site.call(.get, Path.scheduled, as: "bob")
        #expect(!String(decoding: listed.body, as: UTF8.self).contains("47 11"))
        #expect(try JSONValue(parsing: listed.body).array?.first?["Secure"]?.bool == true)
        #expect(listed.fields[.cacheControl] == "no-store")
        site.clock.advance(60)
        _ = try site.sendDue()
        let waiting = try JSONValue(parsing: site.call(.get, Path.notifications, as: "alice").body).array
        let number = try #require(waiting?.first?["Id"]?.integer)
        let read = site.call(.get, "\(Path.notifications)/\(number)", as: "alice")
        #expect(try JSONValue(parsing: read.body)["Payload"]?.string == "47 11")
        #expect(try MessageTimeline(site.timeline(id)).isSecure)
        #expect(site.hub.messages.allSatisfy { !$0.body.contains("47 11") })
    }

    @Test func `a message for later goes to tags, to several and to everyone as one that is sent at once`() throws {
        let policy = TagPolicy(roles: [Role(name: "all", sendTo: ["*", "tag:*"], mayBroadcast: true)])
        let site = try site(policy: policy)
        try site.change("bob") { $0.roles = ["all"] }
        let recipients: [PushMessage.Recipients] = [
            "tag:news", "tags:news && !beta", .several(["alice", "carol"]), .everyone,
        ]
        let ids = try recipients.map { to in
            try #require(
                try SendOutcome(site.send(PushMessage(to: to, body: "Hi", platforms: ["apns"], sendAt: site.time(60))))
                    .messageID)
        }
        let secret = PushMessage(
            to: .several(["alice", "carol"]), body: "47 11", isSecure: true, platforms: ["apns"], sendAt: site.time(60))
        let secretID = try #require(try SendOutcome(site.send(secret)).messageID)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try ids.map { try MessageTimeline(site.timeline($0)).to } == recipients.map(\.text))
        #expect(try MessageTimeline(site.timeline(secretID)).outcomes.count == 2)
        for name in ["alice", "carol"] {
            #expect(try Inbox(site.call(.get, Path.inbox, as: name)).messages.count == 2)
        }
    }

    @Test func `what may not be sent now is refused at once, and nothing of it is kept`() throws {
        let site = try site()
        try site.change("bob") { $0.sendTo = ["alice"] }
        for (to, status) in [("carol", 403), ("*", 403), ("tag:", 400), ("tag:news", 403)] {
            let refused = site.send(PushMessage(to: .one(to), body: "Hi", sendAt: site.time(60)))
            #expect(refused.status.code == status && Problem(refused).field == "To", "\(to)")
        }
        #expect(try site.store.waiting(in: .sends).isEmpty)
    }

    @Test func `a time is taken as any language writes it`() throws {
        let site = try site()
        let time = site.time(3_600)
        let bare = String(time.dropLast())
        for text in [bare + ".000Z", bare + "+00:00", bare + ".1234567-00:00", time.lowercased()] {
            let sent = try SendOutcome(site.send(PushMessage(to: "alice", body: "Hi", sendAt: text)))
            #expect(sent.sendAt == time, "\(text)")
        }
        let eastern = String(site.time(9_000).dropLast()) + "+01:30"
        #expect(try SendOutcome(site.send(PushMessage(to: "alice", body: "Hi", sendAt: eastern))).sendAt == time)
    }

    @Test func `messages for one moment are listed and sent in the order in which they were put in`() throws {
        let site = try site()
        for number in 0..<12 { _ = site.send(PushMessage(to: "alice", body: "\(number)", sendAt: site.time(60))) }
        let numbers = (0..<12).map { String($0) }
        let listed = try JSONValue(parsing: site.call(.get, Path.scheduled, as: "bob").body).array
        #expect(listed?.map { $0["Body"]?.string } == numbers)
        site.clock.advance(60)
        _ = try site.sendDue()
        let inbox = try Inbox(site.call(.get, Path.inbox, as: "alice")).messages
        #expect(inbox.map(\.body) == numbers.reversed())
    }

    @Test(arguments: ["2026-11-24", "tomorrow", "2026-11-24T08:00:00", "2026-02-30T08:00:00Z", "2026-11-24T08:00:60Z"])
    func `what is no moment is refused`(text: String) throws {
        let refused = try site().send(PushMessage(to: "alice", body: "Hi", sendAt: text))
        #expect(refused.status == .badRequest && Problem(refused).field == "SendAt")
    }

    @Test func `the time is within the next seven days`() throws {
        let site = try site()
        for (seconds, status) in [(-1, 400), (0, 400), (1, 200), (7 * 86_400, 200), (7 * 86_400 + 1, 400)] {
            let answer = site.send(PushMessage(to: "alice", body: "Hi", sendAt: site.time(Int64(seconds))))
            #expect(answer.status.code == status, "\(seconds)")
            if status == 400 { #expect(Problem(answer).field == "SendAt") }
        }
    }

    @Test func `its sender takes it back, once, and no other user can`() throws {
        let site = try site()
        let sent = PushMessage(to: "alice", body: "Hi", sendAt: site.time(60))
        let id = try #require(try SendOutcome(site.send(sent)).messageID)
        let path = "\(Path.scheduled)/\(id)"
        for (user, status) in [("alice", 404), ("carol", 404), ("bob", 200), ("bob", 404)] {
            #expect(site.call(.delete, path, as: user).status.code == status, "\(user)")
        }
        #expect(try site.scheduled("alice").isEmpty && site.scheduled().isEmpty)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(site.hub.messages.isEmpty)
        #expect(site.timeline(id).status == .notFound)
        // After its time it is too late.
        let next = try #require(
            try SendOutcome(site.send(PushMessage(to: "alice", body: "Hi", sendAt: site.time(1)))).messageID)
        site.clock.advance(1)
        _ = try site.sendDue()
        #expect(site.call(.delete, "\(Path.scheduled)/\(next)", as: "bob").status == .notFound)
        #expect(site.timeline(next).status == .ok)
    }

    @Test func `a user has a hundred of them at most, and others theirs`() throws {
        let site = try site()
        let message = PushMessage(to: "alice", body: "Hi", sendAt: site.time(60))
        for _ in 0..<100 { #expect(site.send(message).status == .ok) }
        let refused = site.send(message)
        #expect(refused.status == .tooManyRequests && Problem(refused).field == "SendAt")
        #expect(site.send(message, as: "carol").status == .ok)
        #expect(site.call(.delete, "\(Path.scheduled)/\(try site.scheduled()[0])", as: "bob").status == .ok)
        #expect(site.send(message).status == .ok)
    }

    @Test func `long ones are fewer`() throws {
        let site = try site()
        let message = PushMessage(to: "alice", body: String(repeating: "a", count: 50_000), sendAt: site.time(60))
        for _ in 0..<5 { #expect(site.send(message).status == .ok) }
        #expect(site.send(message).status == .tooManyRequests)
        #expect(site.send(PushMessage(to: "alice", body: "Hi", sendAt: site.time(60))).status == .ok)
    }

    @Test func `the soonest is listed first`() throws {
        let site = try site()
        let ids = try [300, 60, 180].map { (seconds: Int64) in
            try #require(
                try SendOutcome(
                    site.send(PushMessage(to: "alice", body: "Hi", isSilent: false, sendAt: site.time(seconds)))
                )
                .messageID)
        }
        #expect(try site.scheduled() == [ids[1], ids[2], ids[0]])
        site.clock.advance(180)
        _ = try site.sendDue()
        #expect(try site.scheduled() == [ids[0]])
    }

    @Test func `a second try with the same key is the same message`() throws {
        let site = try site()
        let message = PushMessage(to: "alice", body: "Hi", sendAt: site.time(60))
        var fields: HTTPFields = [.authorization: "Basic \(Data("bob:bob-secret".utf8).base64EncodedString())"]
        fields[named: "Idempotency-Key"] = "k"
        let (first, again) = (site.send(message, fields: fields), site.send(message, fields: fields))
        #expect(first.status == .ok && again.status == .ok && again.body == first.body)
        #expect(try site.scheduled().count == 1)
    }
}

extension TestSite {
    /// As `SendAt` has it.
    /// - Parameter seconds: from now on.
    func time(_ seconds: Int64) -> String { (Timestamp(seconds: clock.seconds) + seconds).text }

    /// Sends what is due, as the service's thread does.
    /// - Returns: when it looks again.
    func sendDue() throws -> Duration { try backend.scheduledSender.sendDue() }

    func timeline(_ id: String, as user: String = "bob") -> Response {
        call(.get, "\(Path.notifications)/\(id)/timeline", as: user)
    }

    /// The ids of the user's messages for later.
    func scheduled(_ user: String = "bob") throws -> [String] {
        try JSONValue(parsing: call(.get, Path.scheduled, as: user).body).array?.compactMap { $0["MessageId"]?.string }
            ?? []
    }
}
