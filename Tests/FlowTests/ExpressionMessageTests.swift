// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// A message object to an expression of tags: which devices it reaches, and who may send it.
struct ExpressionMessageTests {
    /// - Parameter sendTo: bob's patterns.
    private func site(
        _ sendTo: [String]? = ["tag:*"], policy: TagPolicy = TagPolicy(), roles: [String] = [],
        road: TestSite.Road = .wire
    ) throws -> TestSite {
        let site = try TestSite(users: ["alice", "bob", "carol"], policy: policy, road: road)
        try site.change("bob") { ($0.sendTo, $0.roles) = (sendTo, roles) }
        return site
    }

    @Test(arguments: TestSite.Road.allCases)
    func `it reaches the devices that the expression means, and those that hear the sender`(
        road: TestSite.Road
    ) throws {
        let site = try site(road: road)
        let tags = [["news"], ["news", "beta"], ["sport"], ["sport", "Beta"], ["x"], []]
        for (number, tags) in tags.enumerated() {
            _ = try site.register(number % 2 == 0 ? "alice" : "carol", handle: TestSite.token(number + 1), tags: tags)
        }
        let rows = [
            ("tags:news", "news || from:bob", 2), ("TAGS:news && !beta", "(news && (!beta)) || from:bob", 1),
            ("tags: (news||sport) && !BETA ", "((news || sport) && (!BETA)) || from:bob", 2),
            ("tags:news || sport", "news || sport || from:bob", 4), ("tags:x && news", "(x && news) || from:bob", 0),
        ]
        for (to, text, count) in rows {
            let sent = try SendOutcome(site.send(PushMessage(to: .one(to), body: "Hi", platforms: ["apns"])))
            #expect(sent.outcomes.map(\.platform) == ["apns"])
            if road == .wire { #expect(site.hub.messages.last?.tags == text) }
            #expect(try site.devices(of: sent) == count, "\(to)")
        }
    }

    @Test func `devices of the older call get it, unless platforms are named or nothing is to be shown`() throws {
        let site = try site()
        func templates(_ message: PushMessage) -> [String] {
            let before = site.hub.messages.count
            #expect(site.send(message).status == .ok)
            return site.hub.messages.dropFirst(before).filter { $0.format == "template" }.map(\.tags)
        }
        #expect(templates(PushMessage(to: "tags:news && !beta", body: "Hi")) == ["news && (!beta)"])
        #expect(templates(PushMessage(to: "tags:news && !beta", body: "Hi", platforms: ["apns"])) == [])
        #expect(templates(PushMessage(to: "tags:news && !beta", isSilent: true)) == [])
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let patterns: [String]?
        let to: String
        /// As the refusal names it; nil: it is sent.
        let refused: String?
        init(_ patterns: [String]?, _ to: String, _ refused: String?) {
            (self.patterns, self.to, self.refused) = (patterns, to, refused)
        }
        var testDescription: String { "\(patterns?.description ?? "default"): \(to)" }
    }

    static let rows = [
        Row(["tag:news", "tag:beta"], "tags:news && !beta", nil), Row(["TAG:*"], "tags:news || beta", nil),
        Row(nil, "tags:news", "tag:news"), Row(["*"], "tags:news", "tag:news"),
        Row(["tags:*"], "tags:news", "tag:news"),
        Row(["tag:news"], "tags:news && !beta", "tag:beta"), Row(["tag:news"], "tags:news || sport", "tag:sport"),
        Row(["tag:news"], "tags:news && (x || !news)", "tag:x"),
        Row(["tag:*"], "tags:news && username:alice", "tag:username:alice"),
        Row(["tag:*"], "tags:news && !UserName:alice", "tag:UserName:alice"),
        Row(["tag:*"], "tags:from:alice", "tag:from:alice"), Row(["tag:*"], "tags:a || app:x", "tag:app:x"),
        Row(["tag:*"], "tags:a && $InstallationId:{x}", "tag:$InstallationId:{x}"),
        Row(["tag:*"], "tags:a && !$UserId:{alice}", "tag:$UserId:{alice}"),
    ]

    @Test(arguments: rows) func `each tag in it needs a grant, also one that is to be missing`(row: Row) throws {
        let site = try site(row.patterns)
        let response = site.send(PushMessage(to: .one(row.to), body: "Hi"))
        guard let refused = row.refused else { return #expect(response.status == .ok) }
        let problem = Problem(response)
        #expect(problem.status == .forbidden && problem.field == "To")
        #expect(problem.detail.hasPrefix("You may not send to \(refused) ("))
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `one that means devices without any of its tags needs the right to send to everyone`() throws {
        let policy = TagPolicy(roles: [Role(name: "all", mayBroadcast: true)])
        let texts = ["tags:!beta", "tags:news || !news", "tags:!(a && b)", "tags:!a && (b || !c)"]
        for text in texts {
            let site = try site(policy: policy)
            let problem = Problem(site.send(PushMessage(to: .one(text), body: "Hi")))
            #expect(problem.status == .forbidden && problem.field == "To")
            #expect(problem.detail.contains("roles.broadcast"))
            #expect(site.hub.messages.isEmpty)
            let granted = try self.site(policy: policy, roles: ["all"])
            #expect(granted.send(PushMessage(to: .one(text), body: "Hi")).status == .ok)
            // That right grants no tag.
            let other = try self.site([], policy: policy, roles: ["all"])
            #expect(other.send(PushMessage(to: .one(text), body: "Hi")).status == .forbidden)
        }
    }

    static let malformed = [
        ("tags:", "a tag, ! or ( is expected (at byte 5)"), ("tags: ", "a tag, ! or ( is expected (at byte 6)"),
        ("tags:a &&", "a tag, ! or ( is expected (at byte 9)"), ("tags:a & b", "&&, || or ) is expected (at byte 8)"),
        ("tags:(a || b", "a parenthesis is not closed (at byte 12)"),
        ("tags:a b", "&&, || or ) is expected (at byte 7)"), ("tags:a\nb", "a character that no expression has"),
        ("tags:a && $Other:{b}", "this is not a legal tag (at byte 10)"),
        ("tags:" + String(repeating: "!", count: 20) + "a", "too many parentheses within each other"),
        ("tags:a && " + String(repeating: "!", count: 14) + "b", "too many parentheses within each other"),
        ("tags:" + String(repeating: "a", count: 121), "this is not a legal tag (at byte 5)"),
        ("tags:" + String(repeating: "a", count: 16_385), "the expression is too long"),
        ("tags:*", "a character that no expression has (at byte 5)"),
    ]

    @Test(arguments: malformed) func `what is no expression is refused with the place`(to: String, part: String) throws
    {
        let site = try site()
        let problem = Problem(site.send(PushMessage(to: .one(to), body: "Hi")))
        #expect(problem.status == .badRequest && problem.field == "To")
        #expect(problem.detail.hasPrefix("To is no expression of tags: \(part)"), "\(problem.detail)")
        #expect(site.hub.messages.isEmpty)
    }

    @Test(arguments: TestSite.Road.allCases)
    func `it has as many tags as the hub takes beside the one for those who hear the sender`(
        road: TestSite.Road
    ) throws {
        let site = try site(road: road)
        func text(_ count: Int, _ joint: String) -> PushMessage {
            let tags = (1...count).map { "t\($0)" }.joined(separator: joint)
            return PushMessage(to: .one("tags:\(tags)"), body: "Hi", platforms: ["apns"])
        }
        for message in [text(19, "||"), text(5, " && ")] { #expect(site.send(message).status == .ok) }
        for message in [text(20, "||"), text(21, "||"), text(6, "&&"), text(7, "&&")] {
            let problem = Problem(site.send(message))
            #expect(problem.status == .badRequest && problem.field == "To")
            #expect(
                problem.detail
                    == "An expression in To has at most 19 tags joined by || alone, otherwise at most 5.")
        }
    }

    @Test func `it is never secure, and no app token that is limited to users sends it`() throws {
        let site = try site()
        let secure = Problem(site.send(PushMessage(to: "tags:a || b", body: "Hi", isSecure: true)))
        #expect(secure.status == .badRequest && secure.field == "Secure")
        let made = site.call(.post, Path.tokens, as: "bob", body: #"{"Scopes":["send"],"To":["alice"]}"#)
        let token = try #require(try JSONValue(parsing: made.body)["Token"]?.string)
        let body = String(decoding: PushMessage(to: "tags:a || b", body: "Hi").json, as: UTF8.self)
        let limited = Problem(
            site.call(.post, Path.notifications, body: body, fields: [.authorization: "Bearer \(token)"]))
        #expect(limited.status == .forbidden && limited.detail.contains("app token"))
        let careful = try self.site(policy: TagPolicy(isSecureOnly: true))
        let refused = Problem(careful.send(PushMessage(to: "tags:a || b", body: "Hi")))
        #expect(refused.status == .forbidden && refused.field == "To")
        #expect(site.hub.messages.isEmpty && careful.hub.messages.isEmpty)
    }
}
