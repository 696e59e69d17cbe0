// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing
import Text

/// A message object whose `To` is a list: whom it reaches, and what is refused as a whole.
struct SeveralRecipientsTests {
    private static let users = ["alice", "bob", "carol", "dora"]

    private func site(secureOnly: [String] = [], road: TestSite.Road = .wire) throws -> TestSite {
        let site = try TestSite(users: Self.users, road: road, adjusting: { $0.plainSeconds = 86_400 })
        try site.change("bob") { $0.sendTo = ["*", "tag:*"] }
        for name in secureOnly { try site.change(name) { $0.isSecureOnly = true } }
        return site
    }

    private func inbox(_ name: String, on site: TestSite) throws -> [InboxMessage] {
        try Inbox(site.call(.get, Path.inbox, as: name)).messages
    }

    // MARK: Later

    @Test(arguments: TestSite.Road.allCases)
    func `what is sent later is handed to the hub with its time, and no inbox has it`(road: TestSite.Road) throws {
        let site = try TestSite(
            users: Self.users, road: road,
            adjusting: { parts in
                parts.plainSeconds = 86_400
                parts.notifications.sendAt = parts.now() + 3_600
            })
        try site.change("bob") { $0.sendTo = ["*"] }
        let id = try site.register("alice")
        for to in ["alice", .several(["alice", "carol"])] as [PushMessage.Recipients] {
            #expect(site.send(PushMessage(to: to, body: "Hi", platforms: ["apns"])).status == .ok)
            let secure = Problem(site.send(PushMessage(to: to, body: "Hi", isSecure: true)))
            #expect(secure.status == .badRequest && secure.field == "To")
        }
        #expect(try inbox("alice", on: site).isEmpty && inbox("carol", on: site).isEmpty)
        #expect(!id.isEmpty)
        guard road == .wire else { return }
        let sent = site.hub.requests.filter { $0.path.hasSuffix("/schedulednotifications") }
        let time = HubTime(site.clock.seconds + 3_600).iso8601
        #expect(sent.map { $0.fields[.scheduleTime] } == [time, time] && site.hub.messages.isEmpty)
    }

    // MARK: Plain

    @Test(arguments: TestSite.Road.allCases)
    func `one message a platform reaches each device of all of them once`(road: TestSite.Road) throws {
        let site = try site(road: road)
        _ = try site.register("alice", handle: TestSite.token(1), tags: ["news"])
        _ = try site.register("carol", handle: TestSite.token(2))
        _ = try site.register("dora", handle: TestSite.token(3), tags: ["news"])
        _ = try site.register("dora", handle: TestSite.token(4))
        let to = PushMessage.Recipients.several(["alice", "Carol", "ALICE", "tag:news", "tag:News"])
        let outcome = try SendOutcome(site.send(PushMessage(to: to, body: "Hi", platforms: ["apns"])))
        #expect(outcome.outcomes.map(\.platform) == ["apns"])
        #expect(outcome.id == nil && outcome.ids.isEmpty && outcome.outcomes.allSatisfy { $0.recipient == nil })
        if road == .wire {
            #expect(site.hub.messages.map(\.tags) == ["username:alice || username:carol || news || from:bob"])
        }
        #expect(try site.devices(of: outcome) == 3)
    }

    @Test func `each user's inbox has it, and it names no entry of anybody's`() throws {
        let site = try site()
        let to = PushMessage.Recipients.several(["alice", "carol", "eve"])
        let message = PushMessage(to: to, title: "Lunch", body: "At noon")
        #expect(site.send(message).status == .ok)
        for name in ["alice", "carol"] { #expect(try inbox(name, on: site).map(\.title) == ["Lunch"]) }
        #expect(try inbox("dora", on: site).isEmpty && inbox("bob", on: site).isEmpty)
        #expect(site.hub.messages.allSatisfy { !$0.body.contains("inboxId") })
        #expect(site.send(PushMessage(to: to, isSilent: true)).status == .ok)
        #expect(try inbox("alice", on: site).count == 1)
    }

    @Test func `a list of one is a list`() throws {
        let site = try site()
        #expect(site.send(PushMessage(to: .several(["alice"]), body: "Hi")).status == .ok)
        #expect(site.hub.messages.allSatisfy { !$0.body.contains("inboxId") })
        let secure = try SendOutcome(site.send(PushMessage(to: .several(["alice"]), body: "Hi", isSecure: true)))
        #expect(secure.id == nil && Array(secure.ids.keys) == ["alice"])
    }

    @Test func `a send that certainly did nothing leaves it in no inbox`() throws {
        let site = try TestSite(
            users: Self.users, hub: Refusal(), adjusting: { $0.plainSeconds = 86_400 })
        #expect(site.send(PushMessage(to: .several(["alice", "carol"]), body: "Hi")).status == .badGateway)
        #expect(try inbox("alice", on: site).isEmpty && inbox("carol", on: site).isEmpty)
    }

    private struct Refusal: Responder {
        func respond(to request: Request) -> Response { Response(status: .badRequest) }
    }

    // MARK: Who may

    @Test func `an app token for some users may send to a list of those, and to no more`() throws {
        let site = try site()
        let token = try site.sendingToken(#","To":["alice","carol"]"#)
        let verdicts = try [["carol", "alice"], ["alice", "dora"], ["alice", "tag:news"]].map { to in
            try site.verdict(PushMessage(to: .several(to), body: "Hi"), fields: token)
        }
        let refused = SendVerdict.refused(.recipientNotAllowed)
        #expect(verdicts == [.sent, refused, refused])
        #expect(verdicts[1].names("dora") && verdicts[2].names("tag:news"))
    }

    static let badLists = [
        "[]", #"[""]"#, "[1]", #"["alice",null]"#, #"[["alice"]]"#, #"["a:b"]"#, #"["*"]"#, #"["tag:"]"#,
        #"["tag:a || b"]"#, #"["tags:a"]"#, #"["alice","tag:$UserId:{alice}"]"#, "{}", "7",
    ]

    @Test(arguments: badLists) func `a list holds names of users and tags alone`(_ list: String) throws {
        let site = try site()
        let problem = Problem(
            site.call(.post, Path.notifications, as: "bob", body: #"{"To":\#(list),"Body":"Hi"}"#))
        #expect(problem.status == .badRequest && problem.field == "To")
        #expect(site.hub.messages.isEmpty)
    }

    // MARK: Secure

    @Test func `a secure one is kept for each of them, by an id of their own`() throws {
        let site = try site()
        _ = try site.register("alice", handle: TestSite.token(1))
        let response = site.send(
            PushMessage(to: .several(["carol", "alice"]), body: "7", isSecure: true, platforms: ["apns"]))
        let outcome = try SendOutcome(response)
        #expect(outcome.id == nil && Set(outcome.ids.keys) == ["alice", "carol"])
        #expect(outcome.outcomes.map(\.recipient) == ["carol", "alice"])
        #expect(outcome.outcomes.map(\.platform) == ["apns", "apns"])
        let id = try #require(outcome.messageID)
        #expect(String(decoding: response.body, as: UTF8.self).hasPrefix(#"{"MessageId":"\#(id)","Ids":{"alice":"#))
        for (name, id) in outcome.ids {
            let read = try SecureMessage(site.call(.get, "\(Path.notifications)/\(id)", as: name))
            #expect(read.payload == "7" && read.sender == "bob")
            let pushes = site.hub.messages.filter { $0.tags == "username:\(name)" }
            #expect(pushes.count == 1 && pushes.allSatisfy { $0.body.contains("\"\(id)\"") })
        }
        #expect(site.hub.messages.allSatisfy { !$0.body.contains("\"7\"") })
        // The sender asks for each.
        for id in outcome.outcomes.compactMap(\.notificationID) {
            #expect(site.call(.get, "\(Path.outcomes)/\(id)", as: "bob").status == .ok)
            #expect(site.call(.get, "\(Path.outcomes)/\(id)", as: "alice").status == .notFound)
        }
    }

    @Test func `where the sender has left too much with one of them, none of them gets it`() throws {
        let site = try site()
        let large = String(repeating: "x", count: 65_000)
        while site.send(PushMessage(to: "carol", body: large, isSecure: true)).status == .ok {}
        let alone = Problem(site.send(PushMessage(to: "carol", body: large, isSecure: true)))
        #expect(alone.code == .tooMuchUnread && alone.field == "To" && alone.retryAfter != nil)
        let sent = site.hub.messages.count
        let response = site.send(
            PushMessage(to: .several(["alice", "carol", "dora"]), body: large, isSecure: true))
        let problem = Problem(response)
        #expect(problem.code == .tooMuchUnread && problem.field == "To" && problem.retryAfter != nil)
        #expect(problem.detail.contains("carol"))
        #expect(try inbox("alice", on: site).isEmpty && inbox("dora", on: site).isEmpty)
        #expect(site.hub.messages.count == sent)
        #expect(
            site.send(PushMessage(to: .several(["alice", "dora"]), body: large, isSecure: true)).status == .ok)
    }

    @Test func `a user who does not exist refuses a secure one as a whole, and is named`() throws {
        let site = try site()
        let problem = Problem(site.send(PushMessage(to: .several(["alice", "Eve"]), body: "7", isSecure: true)))
        #expect(problem.code == .unknownRecipient && problem.field == "To" && problem.detail.contains("eve"))
        #expect(try inbox("alice", on: site).isEmpty && site.hub.messages.isEmpty)
    }

    @Test func `one secure-only recipient has it kept for all`() throws {
        let site = try site(secureOnly: ["carol"])
        let outcome = try SendOutcome(site.send(PushMessage(to: .several(["alice", "carol"]), body: "7")))
        #expect(Set(outcome.ids.keys) == ["alice", "carol"])
        #expect(try inbox("alice", on: site).map(\.isSecure) == [true])
        let sent = site.hub.messages.count
        let withLink = Problem(
            site.send(PushMessage(to: .several(["alice", "carol"]), body: "7", link: "https://a.example")))
        #expect(withLink.status == .badRequest && withLink.field == "Link")
        #expect(site.hub.messages.count == sent)
    }

    @Test func `a repetition with its key keeps nothing twice and has the same ids`() throws {
        let site = try site()
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let message = PushMessage(to: .several(["alice", "carol"]), body: "7", isSecure: true)
        let first = site.send(message, fields: [name: "k"])
        let again = site.send(message, fields: [name: "k"])
        #expect(first.status == .ok && again.body == first.body)
        #expect(try inbox("alice", on: site).count == 1 && inbox("carol", on: site).count == 1)
    }

    // MARK: The older call

    @Test func `devices of the older call get it once, on the platforms that it names`() throws {
        let site = try site()
        func install(_ user: String, _ platform: InstallationRegistration.Platform, _ id: String, _ handle: String) {
            let body = InstallationRegistration(platform: platform, installationID: id, handle: handle).json
            let call = site.call(.post, Path.register, as: user, body: String(decoding: body, as: UTF8.self))
            #expect(call.status == .ok)
        }
        install("alice", .ios, "phone", TestSite.token(1))
        install("carol", .ios, "pad", TestSite.token(2))
        install("carol", .android, "tablet", "token:1")
        func templates(_ message: PushMessage) throws -> [String] {
            let before = site.hub.messages.count
            #expect(site.send(message).status == .ok)
            return site.hub.messages.dropFirst(before).filter { $0.format == "template" }.map(\.tags)
        }
        let to = PushMessage.Recipients.several(["alice", "carol", "dora", "tag:news"])
        #expect(try templates(PushMessage(to: to, body: "Hi")) == ["news || username:alice || username:carol"])
        #expect(
            try templates(PushMessage(to: to, body: "Hi", platforms: ["apns"])) == [
                "username:alice", "username:carol && pad",
            ])
        #expect(try templates(PushMessage(to: to, body: "Hi", platforms: ["wns"])) == [])
        #expect(try templates(PushMessage(to: to, isSilent: true)) == [])
        let secure = PushMessage(to: .several(["alice", "carol"]), body: "Hi", isSecure: true)
        #expect(try templates(secure) == ["username:alice", "username:carol"])
    }
}
