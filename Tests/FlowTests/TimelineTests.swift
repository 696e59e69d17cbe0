// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Support
import Testing
import Text

/// `GET /api/notifications/{MessageId}/timeline`: what became of a message object, for who sent it.
struct TimelineTests {
    private func site(plainSeconds: Int64 = 30 * 86_400, policy: TagPolicy = TagPolicy()) throws -> TestSite {
        try TestSite(users: ["alice", "bob", "carol"], policy: policy, adjusting: { $0.plainSeconds = plainSeconds })
    }

    private func send(_ members: String, to recipient: String = "alice", on site: TestSite) throws -> SendOutcome {
        try SendOutcome(
            site.call(.post, "/api/notifications", as: "bob", body: #"{"To":"\#(recipient)",\#(members)}"#))
    }

    private func ask(_ site: TestSite, _ id: String?, as user: String = "bob") -> Response {
        site.call(.get, "/api/notifications/\(id ?? "-")/timeline", as: user)
    }

    // MARK: The whole way

    @Test func `the sender sees a message taken by each service, and read by its recipient`() async throws {
        let site = try site()
        _ = try site.register("alice")
        let sentAt = Timestamp(seconds: site.clock.seconds).text
        let sender = try site.device(of: "bob").notifications
        let outcome = try await sender.send(PushMessage(to: "alice", body: "Hi", platforms: ["apns", "browser"]))
        let id = try #require(outcome.messageID)
        let names = outcome.outcomes.compactMap(\.notificationID)
        let answer = ask(site, id)
        #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-store")
        let outcomes =
            #"[{"Platform":"apns","NotificationId":"\#(names[0])","State":"Abandoned","Counts":{"Skipped":1}},"#
            + #"{"Platform":"browser","NotificationId":"\#(names[1])","State":"NoTargetFound","Counts":{}}]"#
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"MessageId":"\#(id)","To":"alice","SentAt":"\#(sentAt)","Secure":false,"Kept":true,"Read":false,"#
                + #""Opened":0,"Outcomes":\#(outcomes)}"#)

        let reader = try site.device(of: "alice").notifications
        try await reader.markAsRead(#require(try await reader.inbox().messages.first?.id))
        let later = try await sender.timeline(of: id)
        #expect(later.isRead == true && later.isKept && later.outcomes.map(\.platform) == ["apns", "browser"])
        #expect(later.outcomes[0].counts == [.init("Skipped", 1)])
    }

    @Test func `of a secure message the sender learns that it was fetched`() async throws {
        let site = try site(plainSeconds: 0)
        let outcome = try send(#""Body":"47 11","Secure":true"#, on: site)
        let (id, number) = (try #require(outcome.messageID), try #require(outcome.id))
        var timeline = try MessageTimeline(ask(site, id))
        #expect(timeline.isSecure && timeline.isKept && timeline.isRead == false && timeline.outcomes.count == 4)
        #expect(site.call(.get, "/api/notifications/\(number)", as: "alice").status == .ok)
        timeline = try MessageTimeline(ask(site, id))
        #expect(timeline.isRead == true)
        // What has left the mailbox is not known any more, whatever the reason.
        #expect(site.call(.delete, "/api/notifications/\(number)", as: "alice").status == .ok)
        timeline = try MessageTimeline(ask(site, id))
        #expect(timeline.isRead == nil && timeline.isKept)
    }

    @Test func `neither what is not kept nor what went to a tag tells of reading`() throws {
        let unkept = try site(plainSeconds: 0)
        let plain = try MessageTimeline(ask(unkept, try send(#""Body":"Hi""#, on: unkept).messageID))
        #expect(!plain.isKept && plain.isRead == nil && !plain.isSecure)
        let site = try site()
        try site.change("bob") { $0.sendTo = ["tag:*", "*"] }
        let toTag = try MessageTimeline(ask(site, try send(#""Body":"Hi""#, to: "tag:news", on: site).messageID))
        #expect(toTag.to == "tag:news" && !toTag.isKept && toTag.isRead == nil)
        let silent = try MessageTimeline(ask(site, try send(#""Silent":true"#, on: site).messageID))
        #expect(!silent.isKept && silent.outcomes.last?.state == "Skipped")
    }

    // MARK: Whose it is

    @Test func `only the sender gets it, and for others the hub is not even asked`() throws {
        let site = try site()
        let secure = try send(#""Body":"47 11","Secure":true"#, on: site)
        let ids = [try send(#""Body":"Hi""#, on: site).messageID, secure.messageID].compactMap(\.self)
        #expect(Set(ids).count == 2)
        for id in ids {
            let unknown = String(id.reversed())
            let refused = [
                ask(site, id, as: "alice"), ask(site, id, as: "carol"), ask(site, unknown),
                ask(site, secure.id.map(String.init)), ask(site, secure.outcomes.first?.notificationID),
            ]
            for answer in refused { #expect(answer.status == .notFound && answer.body == refused[0].body) }
        }
        #expect(!site.hub.requests.contains { $0.method == .get && $0.path.contains("/messages/") })
        for id in ids { #expect(ask(site, id).status == .ok) }
        // A message's id names no send, and no message of the sender's own.
        #expect(site.call(.get, "/api/notifications/outcomes/\(ids[0])", as: "bob").status == .notFound)
        #expect(site.call(.get, "/api/notifications/\(ids[1])", as: "bob").status == .notFound)
    }

    @Test func `after seven days it is forgotten`() throws {
        let site = try site()
        let id = try send(#""Body":"Hi""#, on: site).messageID
        site.clock.advance(7 * 86_400 - 1)
        #expect(ask(site, id).status == .ok)
        site.clock.advance(1)
        #expect(ask(site, id).status == .notFound)
    }

    @Test func `a sender who is removed leaves no timeline to a later user of the name`() async throws {
        let site = try site()
        let id = try send(#""Body":"Hi""#, on: site).messageID
        try site.change("bob") { $0.generation += 1 }
        #expect(ask(site, id).status == .notFound)
    }

    // MARK: What is answered

    @Test func `a string is answered as ever, without a message's id`() throws {
        let site = try site()
        for query in ["to_tag=alice", "pns=apns&to_tag=alice"] {
            let answer = site.call(.post, "/api/notifications", query: query, as: "bob", body: #""Hi""#)
            #expect(answer.status == .ok && !String(decoding: answer.body, as: UTF8.self).contains("MessageId"))
        }
        #expect(try site.store.sentMessages(owner: nil, limit: 9, now: Timestamp(seconds: site.clock.seconds)) == [])
    }

    @Test func `the same key is answered with the same message`() throws {
        let site = try site()
        let fields: HTTPFields = [try #require(HTTPField.Name("Idempotency-Key")): "k-1"]
        let answers = (0..<2).map { _ in
            site.call(
                .post, "/api/notifications", as: "bob", body: #"{"To":"alice","Body":"Hi"}"#, fields: fields)
        }
        #expect(answers[0].body == answers[1].body)
        #expect(try ask(site, SendOutcome(answers[1]).messageID).status == .ok)
    }

    @Test func `a send that did nothing has no id, and one that kept a secure text has one`() throws {
        let site = try TestSite(hub: ClosureResponder { _ in Response(status: .forbidden) })
        func send(_ members: String) -> Response {
            site.call(.post, "/api/notifications", as: "bob", body: #"{"To":"alice",\#(members)}"#)
        }
        let plain = send(#""Body":"Hi""#)
        #expect(try plain.status == .badGateway && SendOutcome(plain).messageID == nil)
        let secure = try SendOutcome(send(#""Body":"Hi","Secure":true"#))
        let timeline = try MessageTimeline(ask(site, secure.messageID))
        #expect(timeline.isRead == false && timeline.outcomes.allSatisfy { $0.state == "Abandoned" })
    }

    @Test func `a platform of which the hub does not answer is unknown, and the answer has the rest`() throws {
        let site = try TestSite(surroundingHub: { hub in
            ClosureResponder { request in
                guard request.method == .get, request.path.contains("/messages/") else {
                    return try hub.respond(to: request)
                }
                throw NoAnswer()
            }
        })
        let timeline = try MessageTimeline(ask(site, try send(#""Body":"Hi","Secure":true"#, on: site).messageID))
        #expect(timeline.isRead == false && timeline.outcomes.allSatisfy { $0.state == "Unknown" && $0.counts == [] })
    }
}
