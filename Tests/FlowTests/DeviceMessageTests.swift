// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// A message object to one device: which one gets it, and that a sender learns nothing of others' ids.
struct DeviceMessageTests {
    /// - Parameter sendTo: bob's patterns.
    private func site(
        _ sendTo: [String]? = ["alice"], road: TestSite.Road = .wire, secureOnly: Bool = false
    ) throws -> TestSite {
        let site = try TestSite(
            users: ["alice", "bob", "carol"], policy: TagPolicy(isSecureOnly: secureOnly), road: road,
            adjusting: { $0.plainSeconds = 86_400 })
        try site.change("bob") { $0.sendTo = sendTo }
        return site
    }

    private func counts(_ answer: Response, on site: TestSite) throws -> [String: Int] {
        guard answer.status == .ok else { throw Problem(answer) }
        let sent = try SendOutcome(answer)
        let counts = try sent.outcomes.map { outcome in
            _ = try #require(outcome.notificationID)
            return (outcome.platform, try site.devices(of: sent, on: outcome.platform))
        }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    @Test(arguments: TestSite.Road.allCases)
    func `it reaches that device alone, on its platform, and is in no inbox`(road: TestSite.Road) throws {
        let site = try site(road: road)
        try site.change("carol") { $0.tags = ["from:*"] }
        let id = try site.register("alice", handle: TestSite.token(1))
        _ = try site.register("alice", handle: TestSite.token(2))
        let own = try site.register("bob", handle: TestSite.token(3))
        // A device that hears bob's messages does not hear this one.
        _ = try site.register("carol", handle: TestSite.token(4), tags: ["from:bob"])
        #expect(try counts(site.send(PushMessage(to: .one("device:\(id)"), body: "Hi")), on: site) == ["apns": 1])
        let answer = site.send(PushMessage(to: .one("DEVICE:\(own)"), body: "Hi"))
        #expect(try counts(answer, on: site) == ["apns": 1])
        if road == .wire { #expect(site.hub.messages.map(\.tags) == ["device:\(id)", "device:\(own)"]) }
        // Of none of the platforms that the message names.
        let other = site.send(PushMessage(to: .one("device:\(id)"), body: "Hi", platforms: ["fcm"]))
        #expect(try counts(other, on: site) == ["fcm": 0])
        #expect(try Inbox(site.call(.get, Path.inbox, as: "alice")).messages.isEmpty)
        let messageID = try #require(try SendOutcome(answer).messageID)
        let timeline = site.call(.get, "\(Path.notifications)/\(messageID)/timeline", as: "bob")
        #expect(try JSONValue(parsing: timeline.body)["To"]?.string == "DEVICE:\(own)")
    }

    @Test(arguments: TestSite.Road.allCases)
    func `a device of the older call gets it by its template, unless nothing is to be shown`(road: TestSite.Road) throws
    {
        let site = try site(road: road)
        let body = #"{"platform":"ios","instId":"i-1","deviceToken":"\#(TestSite.token(1))"}"#
        let answer = site.call(.post, Path.register, as: "alice", body: body)
        let id = try #require(try JSONValue(parsing: answer.body)["RegistrationId"]?.string)
        let to = PushMessage.Recipients.one("device:\(id)")
        #expect(try counts(site.send(PushMessage(to: to, body: "Hi")), on: site) == ["template": 1])
        let named = site.send(PushMessage(to: to, body: "Hi", platforms: ["apns"]))
        #expect(try counts(named, on: site) == ["template": 1])
        let silent = site.send(PushMessage(to: to, isSilent: true, platforms: ["apns"]))
        #expect(try counts(silent, on: site) == ["apns": 0])
    }

    @Test func `a device that the sender may not send to, and one that is not there, are refused alike`() throws {
        let site = try site()
        let carols = try site.register("carol", handle: TestSite.token(1))
        let handedOut = try site.newID("alice")
        let removed = try site.register("alice", handle: TestSite.token(2))
        #expect(site.call(.delete, "\(Path.register)/\(removed)", as: "alice").status == .ok)
        let made = site.call(.post, Path.tokens, as: "bob", body: #"{"Scopes":["send"],"To":["carol"]}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        let bobs = try site.register("bob", handle: TestSite.token(3))
        let limited: HTTPFields = [.authorization: "Bearer \(token)"]
        let rows: [(String, HTTPFields)] = [
            (carols, [:]), (handedOut, [:]), (removed, [:]), ("1-2-1", [:]), ("", [:]), ("a b", [:]),
            (String(repeating: "a", count: 128), [:]), (bobs, limited), ("1-2-1", limited),
        ]
        let answers = rows.map { id, fields in
            site.send(PushMessage(to: .one("device:\(id)"), body: "Hi"), fields: fields)
        }
        for answer in answers {
            #expect(answer.status == .forbidden && answer.body == answers.first?.body)
            #expect(Problem(answer).field == "To")
        }
        let detail = "There is no such device, or you may not send to it (the user's own sendTo)."
        #expect(Problem(answers[0]).detail == detail)
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `it is never secure, and stands alone`() throws {
        let site = try site()
        let id = try site.register("alice")
        let to = PushMessage.Recipients.one("device:\(id)")
        let secure = Problem(site.send(PushMessage(to: to, body: "Hi", isSecure: true)))
        #expect(secure.status == .badRequest && secure.field == "Secure")
        for texts in [["device:\(id)"], ["alice", "device:\(id)"]] {
            let listed = Problem(site.send(PushMessage(to: .several(texts), body: "Hi")))
            #expect(listed.status == .badRequest && listed.field == "To")
        }
        for name in ["alice", "bob"] {
            try site.change(name) { $0.isSecureOnly = true }
            let refused = Problem(site.send(PushMessage(to: to, body: "Hi")))
            #expect(refused.status == .forbidden && refused.field == "To")
            try site.change(name) { $0.isSecureOnly = false }
        }
        #expect(site.hub.messages.isEmpty)
        #expect(site.send(PushMessage(to: to, body: "Hi")).status == .ok)
    }

    @Test func `a registration at the built-in hub costs no tag more, and one at a hub elsewhere has it`() throws {
        for (road, tags) in [(TestSite.Road.direct, ["username:alice"]), (.wire, ["device:", "username:alice"])] {
            let site = try site(road: road)
            let id = try site.register("alice")
            let stored = try #require(try site.store.hubRegistration(id))
            #expect(stored.tags == tags.map { $0 == "device:" ? $0 + id : $0 })
        }
        // Where there is no room for it.
        let full = try site()
        let id = try full.register("alice", tags: (1...59).map { "t\($0)" })
        #expect(try full.store.hubRegistration(id)?.tags.count == 60)
        #expect(try full.store.hubRegistration(id)?.tags.contains("device:\(id)") == false)
    }

    @Test func `the next user of a name has none of the former one's devices`() throws {
        let site = try site(["*"])
        let id = try site.register("alice")
        try site.change("alice") { $0.removedAt = .init(seconds: site.clock.seconds) }
        try site.addAgain("alice")
        // As long as it is not cleaned up.
        #expect(try site.store.device(id) != nil)
        #expect(site.send(PushMessage(to: .one("device:\(id)"), body: "Hi")).status == .forbidden)
    }
}
