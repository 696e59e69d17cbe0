// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing

/// A message object to each kind of recipient: who may send it, and the texts that name no recipient.
struct RecipientRightsTests {
    // MARK: Patterns

    /// Bob's patterns (nil: those that the policy gives, which are `*`), and the recipient as a refusal names it (nil: it is sent).
    typealias Row = ([String]?, PushMessage.Recipients, String?)

    private static let one = "this recipient"

    static let users: [Row] = [
        (nil, "alice", nil), ([], "bob", nil), (["tag:*", "al*"], "alice", nil), (["tag:*"], "alice", one),
        (["role:*"], "alice", one),
    ]

    static let tags: [Row] = [
        (["tag:*"], "tag:news", nil), (["TAG:News"], "tag:NEWS", nil), (["tag:news"], "tag:sport", one),
        (nil, "tag:news", one), (["*"], "tag:news", one), ([], "tag:news", one), (["role:*"], "tag:news", one),
        // Tags of the server's own are no way round the patterns for users, roles and devices.
        (["tag:*"], "tag:username:alice", one), (["tag:*"], "tag:UserName:alice", one),
        (["tag:*"], "tag:from:alice", one), (["tag:*"], "tag:app:com.example", one),
        (["role:*", "tag:*"], "tag:role:oncall", one), (["role:*", "tag:*"], "tag:device:1-2-1", one),
    ]

    static let roles: [Row] = [
        (["role:*"], "role:oncall", nil), (["Role:onCALL"], "role:oncall", nil), (["role:desk*"], "role:oncall", one),
        (nil, "role:oncall", one), (["*"], "role:oncall", one), (["tag:*"], "role:oncall", one),
        // Only those who may send there learn that there is no such role.
        (["role:oncall"], "role:nosuch", one),
    ]

    /// Each tag needs a grant, also one that is to be missing.
    static let expressions: [Row] = [
        (["tag:news", "tag:beta"], "tags:news && !beta", nil), (["TAG:*"], "tags:news || beta", nil),
        (nil, "tags:news", "tag:news"), (["*"], "tags:news", "tag:news"), (["tags:*"], "tags:news", "tag:news"),
        (["tag:news"], "tags:news && !beta", "tag:beta"), (["tag:news"], "tags:news || sport", "tag:sport"),
        (["tag:news"], "tags:news && (x || !news)", "tag:x"),
        (["tag:*"], "tags:news && username:alice", "tag:username:alice"),
        (["tag:*"], "tags:news && !UserName:alice", "tag:UserName:alice"),
        (["tag:*"], "tags:from:alice", "tag:from:alice"), (["tag:*"], "tags:a || app:x", "tag:app:x"),
        (["tag:*"], "tags:a && $InstallationId:{x}", "tag:$InstallationId:{x}"),
        (["tag:*"], "tags:a && !$UserId:{alice}", "tag:$UserId:{alice}"),
        (["role:*", "tag:*"], "tags:news && role:oncall", "tag:role:oncall"),
        (["tag:*"], "tags:a && !device:1-2-1", "tag:device:1-2-1"),
    ]

    /// One recipient who is not allowed refuses the whole.
    static let lists: [Row] = [
        (["al*"], .several(["alice", "carol", "dora"]), "carol"), (["al*"], .several(["bob", "Dora"]), "dora"),
        (["alice"], .several(["alice", "role:oncall"]), "role:oncall"),
        (nil, .several(["alice", "tag:news"]), "tag:news"), (["tag:*"], .several(["tag:news", "alice"]), "alice"),
        (["tag:n*"], .several(["tag:news", "tag:sport"]), "tag:sport"),
        (["*", "tag:*"], .several(["alice", "tag:username:dora"]), "tag:username:dora"),
    ]

    @Test(arguments: users + tags + roles + expressions + lists)
    func `a pattern grants recipients of its own kind, and a refusal names the recipient and the rules`(
        patterns: [String]?, to: PushMessage.Recipients, refused: String?
    ) throws {
        let site = try TestSite.withAllRecipients()
        try site.change("bob") { ($0.roles, $0.sendTo) = ([], patterns) }
        let rules = patterns == nil ? "policy.sendTo" : "the user's own sendTo"
        // A secure message is refused in the same words.
        let verdicts = try (refused == nil ? [false] : [false, true]).map { isSecure in
            try site.verdict(PushMessage(to: to, body: "Hi", isSecure: isSecure))
        }
        guard let refused else { return #expect(verdicts == [.sent]) }
        #expect(verdicts.allSatisfy { $0 == .refused(.recipientNotAllowed) && $0.names(refused, "(\(rules))") })
    }

    /// With the first tag of those that are expressions.
    static let broadcasts: [(PushMessage.Recipients, String?)] = [
        ("*", nil), ("tags:!beta", "beta"), ("tags:news || !news", "news"), ("tags:!(a && b)", "a"),
        ("tags:!a && (b || !c)", "a"),
    ]

    @Test(arguments: broadcasts)
    func `everyone, and an expression that means devices without its tags, need a role that may broadcast`(
        to: PushMessage.Recipients, firstTag: String?
    ) throws {
        let roles = [Role(name: "crier", mayBroadcast: true), Role(name: "editor", sendTo: ["*", "tag:*", "tags:*"])]
        let site = try TestSite(users: ["bob"], policy: TagPolicy(defaultSendTo: ["*", "tag:*"], roles: roles))
        func verdict(_ roles: [String], sendTo: [String]? = nil) throws -> SendVerdict {
            try site.change("bob") { ($0.roles, $0.sendTo) = (roles, sendTo) }
            return try site.verdict(PushMessage(to: to, body: "Hi"))
        }
        let refused = SendVerdict.refused(.recipientNotAllowed)
        for roles in [[], ["editor"], ["gone"]] {
            let verdicts = [try verdict(roles), try verdict(roles + ["crier"]), try verdict(roles)]
            #expect(verdicts == [refused, .sent, refused] && verdicts[0].names("(roles.broadcast)"))
        }
        // That right grants no tag.
        let other = try verdict(["crier"], sendTo: [])
        guard let firstTag else { return #expect(other == .sent) }
        #expect(other == refused && other.names("tag:\(firstTag) (the user's own sendTo, role crier)"))
    }

    // MARK: Texts

    private static func long(
        _ head: String, _ count: Int, _ text: String, _ tail: String = ""
    ) -> PushMessage.Recipients {
        .one(head + String(repeating: text, count: count) + tail)
    }

    /// With the code. `<id>` is the registration id of a device of alice's.
    static let texts: [(PushMessage.Recipients, ProblemCode)] = [
        ("**", .invalidRecipient), (" *", .invalidRecipient), ("tag:", .invalidRecipient), ("tag:*", .invalidRecipient),
        ("tag:a || b", .invalidRecipient), ("tag:$UserId:{alice}", .invalidRecipient),
        (long("tag:", 121, "a"), .invalidRecipient), ("role:", .invalidRecipient), ("role:a b", .invalidRecipient),
        (long("role:", 200, "a"), .invalidRecipient), ("role:nosuch", .unknownRole),
        (.several(["alice", "role:"]), .invalidRecipient), (.several(["alice", "role:nosuch"]), .unknownRole),
        (.several(["*"]), .invalidRecipient), (.several(["device:<id>"]), .invalidRecipient),
        (.several(["alice", "device:<id>"]), .invalidRecipient),
    ]

    @Test(arguments: texts)
    func `a text that names no recipient is refused`(to: PushMessage.Recipients, code: ProblemCode) throws {
        let site = try TestSite.withAllRecipients()
        let to = to.replacing("<id>", with: try site.register("alice"))
        #expect(try site.verdict(PushMessage(to: to, body: "Hi")) == .refused(code))
    }

    /// With the fault, and the byte of `To`.
    static let malformed: [(PushMessage.Recipients, String, Int)] = [
        ("tags:", "a tag, ! or ( is expected", 5), ("tags: ", "a tag, ! or ( is expected", 6),
        ("tags:a &&", "a tag, ! or ( is expected", 9), ("tags:a & b", "&&, || or ) is expected", 8),
        ("tags:a b", "&&, || or ) is expected", 7), ("tags:(a || b", "a parenthesis is not closed", 12),
        ("tags:*", "a character that no expression has", 5), ("tags:a\nb", "a character that no expression has", 6),
        ("tags:a && $Other:{b}", "this is not a legal tag", 10),
        (long("tags:", 121, "a"), "this is not a legal tag", 5),
        (long("tags:", 16_385, "a"), "the expression is too long", 5),
        (long("tags:", 20, "!", "a"), "too many parentheses within each other", 21),
        (long("tags:a && ", 14, "!", "b"), "too many parentheses within each other", 5),
    ]

    @Test(arguments: malformed)
    func `an expression that cannot be read is refused with the fault and its place`(
        to: PushMessage.Recipients, fault: String, byte: Int
    ) throws {
        let verdict = try TestSite.withAllRecipients().verdict(PushMessage(to: to, body: "Hi"))
        #expect(verdict == .refused(.invalidRecipient) && verdict.names(fault, "(at byte \(byte))"))
    }

    @Test(arguments: TestSite.Road.allCases)
    func `a list and an expression have as many tags as a hub takes beside the one for those who hear the sender`(
        road: TestSite.Road
    ) throws {
        let site = try TestSite.withAllRecipients(road: road)
        let users = (1...PushMessage.maximumRecipients).map { "user\($0)" }
        func tags(_ count: Int, _ joint: String) -> PushMessage.Recipients {
            .one("tags:" + (1...count).map { "t\($0)" }.joined(separator: joint))
        }
        let (list, expression) = (SendVerdict.refused(.invalidRecipient), SendVerdict.refused(.tooManyTags))
        let rows: [(PushMessage.Recipients, SendVerdict?)] = [
            (.several(users + ["USER1"]), nil), (.several(users + ["tag:news"]), list),
            (.several((1...20).map { "role:r\($0)" }), list), (tags(19, "||"), nil), (tags(20, "||"), expression),
            (tags(21, "||"), expression), (tags(5, " && "), nil), (tags(6, "&&"), expression),
            (tags(7, "&&"), expression),
        ]
        let refusals = try rows.map { row in
            let verdict = try site.verdict(PushMessage(to: row.0, body: "Hi", platforms: ["apns"]))
            return verdict.problem == nil ? nil : verdict
        }
        #expect(refusals == rows.map(\.1))
        guard road == .wire else { return }
        #expect(site.hub.messages.map { $0.tags.split(separator: " || ").count } == [20, 20, 2])
    }
}
