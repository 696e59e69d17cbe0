// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// A kind of recipient, and the expectations of it. In its texts `<id>` is the registration id of a device of alice's.
struct RecipientKind: CustomTestStringConvertible, Sendable {
    let to: PushMessage.Recipients
    /// The devices that are found where alice has one of the older call, by platforms: without platforms, to Apple's alone, and of
    /// a silent message.
    let found: [[String: Int]]
    /// The tags of what templates get of these sends, in the hub's language; nil: all devices.
    let templates: [String?]
    /// As the refusal of a secure message calls it; nil: it is for users, who get it.
    var called: String?
    /// Whether it is refused while alice is secure-only.
    var isRefusedIfCareful = false
    /// Which of the recipients a refusal of an app token names that may send to carol alone; nil: none.
    var limited: String?

    var testDescription: String { to.text }

    private static let silent = ["apns": 0, "fcm": 0, "wns": 0]
    private static let every = ["apns": 0, "fcm": 0, "wns": 0, "browser": 0, "template": 1]
    private static let group = [every, ["apns": 0], silent]
    private static let user = [every, ["apns": 0, "template": 1], silent]

    static let all = [
        RecipientKind(to: "alice", found: user, templates: ["username:alice", "username:alice"]),
        RecipientKind(
            to: .several(["alice", "carol"]), found: user, templates: ["username:alice", "username:alice"],
            limited: "alice"),
        RecipientKind(to: "tag:news", found: group, templates: ["news"], called: "a tag"),
        RecipientKind(to: "role:oncall", found: group, templates: ["role:oncall"], called: "a role"),
        RecipientKind(
            to: "tags:news && !beta", found: group, templates: ["news && (!beta)"], called: "a tag",
            limited: "tag:news"),
        RecipientKind(to: "*", found: group, templates: [nil], called: "everyone"),
        RecipientKind(
            to: "device:<id>", found: [["template": 1], ["template": 1], ["apns": 0]],
            templates: ["device:<id>", "device:<id>"], called: "a device", isRefusedIfCareful: true,
            limited: "(the user's own sendTo, role Desk.2, role all)"),
        RecipientKind(
            to: .several(["alice", "tag:news"]), found: user, templates: ["news || username:alice", "username:alice"],
            called: "a tag", isRefusedIfCareful: true,
            limited: "tag:news"),
        RecipientKind(
            to: .several(["alice", "role:oncall"]), found: user,
            templates: ["role:oncall || username:alice", "username:alice"], called: "a role",
            isRefusedIfCareful: true,
            limited: "role:oncall"),
    ]

    /// The expectations of a secure message, of another one where the site is secure-only, or the sender, or alice, and of another
    /// one where none of these is.
    var secureVerdicts: [SendVerdict] {
        let plain = SendVerdict.refused(.secureOnly)
        let careful = isRefusedIfCareful ? plain : .sent
        guard called != nil else { return [.sent, .sent, .sent, careful, .sent] }
        return [.refused(.secureNotPossible, field: "Secure"), plain, plain, careful, .sent]
    }
}

/// A message object to each kind of recipient: the devices that get it, and when it is refused.
struct RecipientMatrixTests {
    // MARK: Devices

    /// The last one hears bob.
    private static let devices: [(user: String, tags: [String])] = [
        ("alice", ["news"]), ("carol", ["News", "beta"]), ("alice", ["sport"]), ("carol", ["sport", "Beta"]),
        ("alice", ["x"]), ("carol", []), ("bob", []), ("dora", ["from:bob"]),
    ]

    /// One send to Apple's devices. `<id>` is alice's first device, and `<own>` bob's.
    private struct Sent: Equatable {
        let to: String
        /// What the hub gets on the wire; nil: all devices.
        let tags: [String?]
        let devices: Int
        /// In alice's inbox.
        var kept = 0
        var platforms = ["apns"]
        /// Of the questions of bob and alice for its outcome.
        var statuses = [200, 404]
    }

    private static let sends: [(to: PushMessage.Recipients, tags: String?, devices: Int, kept: Int)] = [
        ("alice", "username:alice || from:bob", 4, 1), ("tag:news", "news || from:bob", 3, 0),
        ("role:oncall", "role:oncall || from:bob", 7, 0), ("ROLE:OnCall", "role:OnCall || from:bob", 7, 0),
        ("role:desk.2", "role:desk.2 || from:bob", 2, 0), ("tags:news", "news || from:bob", 3, 0),
        ("TAGS:news && !beta", "(news && (!beta)) || from:bob", 2, 0),
        ("tags: (news||sport) && !BETA ", "((news || sport) && (!BETA)) || from:bob", 3, 0),
        ("tags:news || sport", "news || sport || from:bob", 5, 0), ("tags:x && news", "(x && news) || from:bob", 1, 0),
        ("*", nil, 8, 0), ("device:<id>", "device:<id>", 1, 0), ("DEVICE:<own>", "device:<own>", 1, 0),
        (
            .several(["alice", "role:desk.2", "ROLE:desk.2", "tag:news"]),
            "username:alice || news || role:desk.2 || from:bob", 6, 1
        ),
    ]

    private func send(_ to: PushMessage.Recipients, on site: TestSite) throws -> Sent {
        func kept() throws -> Int { try Inbox(site.call(.get, Path.inbox, as: "alice")).messages.count }
        let (keptBefore, messagesBefore) = (try kept(), site.hub.messages.count)
        let answer = site.send(PushMessage(to: to, body: "Hi", platforms: ["apns"]))
        guard answer.status == .ok else { throw Problem(answer) }
        let outcome = try SendOutcome(answer)
        let id = try #require(outcome.outcomes.first?.notificationID)
        let messageID = try #require(outcome.messageID)
        let timeline = site.call(.get, "\(Path.notifications)/\(messageID)/timeline", as: "bob")
        return Sent(
            to: try MessageTimeline(timeline).to,
            tags: site.hub.messages.dropFirst(messagesBefore).map { $0.fields[.tags] },
            devices: try site.devices(of: outcome), kept: try kept() - keptBefore,
            platforms: outcome.outcomes.map(\.platform),
            statuses: ["bob", "alice"].map { site.call(.get, "\(Path.outcomes)/\(id)", as: $0).status.code })
    }

    @Test(arguments: TestSite.Road.allCases)
    func `the named devices and those that hear the sender get a message, and its outcome is the sender's to ask for`(
        road: TestSite.Road
    ) throws {
        let site = try TestSite.withAllRecipients(road: road)
        let ids = try Self.devices.enumerated().map { number, device in
            try site.register(device.user, handle: TestSite.token(number + 1), tags: device.tags)
        }
        for (recipients, tags, devices, kept) in Self.sends {
            let to = recipients.replacing("<id>", with: ids[0]).replacing("<own>", with: ids[6])
            let tags = tags?.replacing("<id>", with: ids[0]).replacing("<own>", with: ids[6])
            let expected = Sent(to: to.text, tags: road == .wire ? [tags] : [], devices: devices, kept: kept)
            #expect(try send(to, on: site) == expected)
        }
    }

    @Test(arguments: TestSite.Road.allCases, RecipientKind.all)
    func `devices of the older call get it, unless nothing is to be shown, and as a group unless platforms are named`(
        road: TestSite.Road, kind: RecipientKind
    ) throws {
        let site = try TestSite.withAllRecipients(road: road)
        let body = InstallationRegistration(platform: .ios, installationID: "news", handle: TestSite.token(1)).json
        let made = site.call(.post, Path.register, as: "alice", body: String(decoding: body, as: UTF8.self))
        let id = try #require(try JSONValue(parsing: made.body)["RegistrationId"]?.string)
        let to = kind.to.replacing("<id>", with: id)
        let messages = [
            PushMessage(to: to, body: "Hi"), PushMessage(to: to, body: "Hi", platforms: ["apns"]),
            PushMessage(to: to, isSilent: true),
        ]
        #expect(try messages.map { try site.found($0) } == kind.found)
        guard road == .wire else { return }
        let templates = site.hub.messages.filter { $0.format == "template" }.map { $0.fields[.tags] }
        #expect(templates == kind.templates.map { $0?.replacing("<id>", with: id) })
    }

    // MARK: Refusals

    /// A site where alice has a device, and a message for it.
    private func scene(_ kind: RecipientKind, isSecureOnly: Bool = false) throws -> (TestSite, PushMessage) {
        let site = try TestSite.withAllRecipients(isSecureOnly: isSecureOnly)
        return (site, PushMessage(to: kind.to.replacing("<id>", with: try site.register("alice")), body: "Hi"))
    }

    @Test(arguments: RecipientKind.all)
    func `a message is secure for users alone, and refused for others where a user or the site is secure-only`(
        kind: RecipientKind
    ) throws {
        let (site, message) = try scene(kind)
        let (secureSite, messageThere) = try scene(kind, isSecureOnly: true)
        var secure = message
        secure.isSecure = true
        var verdicts = [try site.verdict(secure), try secureSite.verdict(messageThere)]
        for name in ["bob", "alice"] {
            try site.change(name) { $0.isSecureOnly = true }
            verdicts.append(try site.verdict(message))
            try site.change(name) { $0.isSecureOnly = false }
        }
        verdicts.append(try site.verdict(message))
        #expect(verdicts == kind.secureVerdicts)
        if let called = kind.called { #expect(verdicts[0].names("A message to \(called) ")) }
    }

    @Test(arguments: RecipientKind.all)
    func `an app token that is limited to another user is refused, and one without a limit sends`(
        kind: RecipientKind
    ) throws {
        let (site, message) = try scene(kind)
        let verdicts = try [#","To":["carol"]"#, ""].map { limit in
            try site.verdict(message, fields: site.sendingToken(limit))
        }
        #expect(verdicts == [.refused(.recipientNotAllowed), .sent])
        #expect(verdicts[0].names(kind.limited ?? "this recipient"))
    }

    @Test(arguments: ["tag:news", "tags:news", "role:oncall", "device:1-2-1", "*"])
    func `a call with a string takes a user's name alone`(text: String) throws {
        let site = try TestSite.withAllRecipients()
        let problems = ["pns=apns&to_tag=\(text)", "to_tag=\(text)"].map { query in
            Problem(site.call(.post, Path.notifications, query: query, as: "bob", body: #""Hi""#))
        }
        #expect(problems.allSatisfy { $0.code == .invalidRecipient && $0.field == "to_tag" })
        #expect(site.hub.messages.isEmpty)
    }
}
