// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// What administrators see of sent messages.
struct AdministrationMessageTests {
    private static let messages = "/api/admin/messages"

    private let site: TestSite
    private let page: TestPage

    init() throws { try self.init(.wire) }

    private init(_ road: TestSite.Road) throws {
        site = try TestSite(
            users: ["alice", "bob", "carol", "root"],
            policy: TagPolicy(defaultSendTo: ["*", "tag:*"], roles: [Role(name: "admin", administers: true)]),
            road: road)
        try site.change("root") { $0.roles = ["admin"] }
        page = try site.page(of: "root")
    }

    /// - Returns: the message's id.
    private func send(_ text: String, from sender: String, to recipients: String) throws -> String {
        site.clock.advance(1)
        let body = #"{"To":\#(recipients),"Title":"\#(text) title","Body":"\#(text)"}"#
        return try #require(SendOutcome(site.call(.post, "/api/notifications", as: sender, body: body)).messageID)
    }

    private func list(_ query: String = "") throws -> [JSONValue] {
        let answer = try page.call(.get, Self.messages, query: query)
        guard answer.status == .ok else { throw Problem(answer) }
        #expect(answer.fields[.cacheControl] == "no-store")
        return try #require(try JSONValue(parsing: answer.body).array)
    }

    private func ids(_ query: String = "") throws -> [String?] { try list(query).map { $0["MessageId"]?.string } }

    @Test func `an administrator finds who sent what to whom, and what became of it, and no text`() throws {
        _ = try site.register("alice")
        let id = try send("47 11", from: "bob", to: #""alice""#)
        #expect(site.call(.post, "/api/notifications/\(id)/opened", as: "alice").status == .ok)
        let listed = try #require(try list().first)
        #expect(listed["MessageId"]?.string == id && listed["From"]?.string == "bob" && listed["To"]?.string == "alice")
        #expect(listed["SentAt"]?.string == Timestamp(seconds: site.clock.seconds).text)
        #expect(listed["Opened"]?.integer == 1 && listed["Secure"]?.bool == false)
        let outcome = try #require(listed["Outcomes"]?.array?.first)
        #expect(outcome["Platform"]?.string == "apns" && outcome["NotificationId"]?.string != nil)
        let answers = [
            try page.call(.get, Self.messages), try page.call(.get, Self.messages + "/" + id),
            site.call(.get, "/api/notifications/\(id)/timeline", as: "bob"),
        ]
        for answer in answers { #expect(!String(decoding: answer.body, as: UTF8.self).contains("47 11")) }
        // The same as the sender sees, and the sender.
        let shown = try #require(try JSONValue(parsing: answers[1].body).members)
        let told = try #require(try JSONValue(parsing: answers[2].body).members)
        #expect(shown.map(\.name) == ["From"] + told.map(\.name))
        #expect(Array(shown.dropFirst().map(\.value)) == told.map(\.value) && shown.first?.value.string == "bob")
        #expect(answers[1].fields[.cacheControl] == "no-store")
    }

    @Test(arguments: TestSite.Road.allCases)
    func `an administrator alone sees what each device got, where the built-in hub tells`(road: TestSite.Road) throws {
        let tests = try Self(road)
        let (site, page) = (tests.site, tests.page)
        let alices = try site.register("alice", handle: TestSite.token(1), tags: ["news"])
        let carols = try site.register("carol", handle: TestSite.token(2), tags: ["news"])
        let id = try tests.send("47 11", from: "bob", to: #""tag:news""#)
        func devices() throws -> [String: JSONValue] {
            let shown = try JSONValue(parsing: page.call(.get, Self.messages + "/" + id).body)
            let pairs = (shown["Devices"]?.array ?? []).map { ($0["RegistrationId"]?.string ?? "", $0) }
            return Dictionary(uniqueKeysWithValues: pairs)
        }
        guard road == .direct else { return #expect(try devices().isEmpty) }
        #expect(try Set(devices().keys) == [alices, carols])
        let alice = try #require(try devices()[alices])
        #expect(alice["User"]?.string == "alice" && alice["Platform"]?.string == "apns")
        #expect(alice["Outcome"]?.string == "Skipped")
        let told = try JSONValue(parsing: site.call(.get, "/api/notifications/\(id)/timeline", as: "bob").body)
        #expect(told["MessageId"]?.string == id && told["Devices"] == nil)
        #expect(site.call(.delete, "/api/register/\(alices)", as: "alice").status == .ok)
        #expect(try devices()[alices]?["Outcome"]?.string == "Skipped" && devices()[alices]?["User"] == nil)
        #expect(try devices()[carols]?["User"]?.string == "carol")
    }

    @Test(arguments: TestSite.Road.allCases)
    func `the list tells of a message what its timeline does, where no network is between`(road: TestSite.Road) throws {
        let tests = try Self(road)
        let (site, page) = (tests.site, tests.page)
        _ = try site.register("alice")
        let sent = try tests.send("a", from: "bob", to: #""alice""#)
        func states(_ document: JSONValue?) -> [String?]? { document?["Outcomes"]?.array?.map { $0["State"]?.string } }
        let listed = states(try tests.list().first)
        let shown = states(try JSONValue(parsing: page.call(.get, Self.messages + "/" + sent).body))
        #expect(shown?.contains("Enqueued") == false)
        #expect(road == .direct ? listed == shown : listed?.first == "Enqueued")
    }

    @Test func `messages are found by sender and by recipient, and each user's by no other's name`() throws {
        let toAlice = try send("a", from: "bob", to: #""alice""#)
        let fromAlice = try send("b", from: "alice", to: #""carol""#)
        let toBoth = try send("c", from: "root", to: #"["alice","bob"]"#)
        let toTag = try send("d", from: "carol", to: #""tag:alice""#)
        #expect(try ids() == [toTag, toBoth, fromAlice, toAlice])
        #expect(try ids("user=alice") == [toBoth, fromAlice, toAlice])
        #expect(try ids("user=ALICE&limit=1") == [toBoth])
        #expect(try ids("user=bob") == [toBoth, toAlice] && ids("user=carol") == [toTag, fromAlice])
        // Whole names alone, and no user has what is no name.
        #expect(try ids("user=ali") == [] && ids("user=tag:alice") == [] && ids("user=") == [])
    }

    @Test func `the list goes on behind a message, and begins before a moment`() throws {
        let sent = try (0..<5).map { try send("\($0)", from: "bob", to: #""alice""#) }
        let newest = Array(sent.reversed())
        #expect(try ids("limit=2") == Array(newest[0..<2]))
        #expect(try ids("limit=2&after=\(newest[1])") == Array(newest[2..<4]))
        #expect(try ids("limit=2&after=\(newest[3])") == [newest[4]] && ids("after=\(newest[4])") == [])
        let third = try #require(try list()[2]["SentAt"]?.string)
        #expect(try ids("before=\(third)") == Array(newest[3...]))
        // The same moment in another spelling.
        let other = third.replacing("Z", with: ".000-00:00")
        #expect(try ids("before=\(other)") == Array(newest[3...]))
        // Both: what comes later in the list decides.
        #expect(try ids("before=\(third)&after=\(newest[0])") == Array(newest[3...]))
        #expect(try ids("before=\(third)&after=\(newest[3])&user=bob") == [newest[4]])
    }

    @Test func `what is forgotten is in no list, has no timeline, and no list begins behind it`() throws {
        let id = try send("a", from: "bob", to: #""alice""#)
        site.clock.advance(7 * 86_400)
        // The log-in has ended as well.
        let page = try site.page(of: "root")
        #expect(try JSONValue(parsing: page.call(.get, Self.messages).body).array == [])
        #expect(try page.call(.get, Self.messages + "/" + id).status == .notFound)
        let refused = try page.call(.get, Self.messages, query: "after=\(id)")
        #expect(refused.status == .badRequest && Problem(refused).field == "after")
    }

    @Test func `a sender who was removed is still named, and a later user of the name sees nothing`() throws {
        let id = try send("a", from: "bob", to: #""alice""#)
        try site.change("bob") { $0.generation += 1 }
        #expect(try list("user=bob").first?["From"]?.string == "bob")
        #expect(site.call(.get, "/api/notifications/\(id)/timeline", as: "bob").status == .notFound)
        #expect(try page.call(.get, Self.messages + "/" + id).status == .ok)
    }

    @Test func `what is no message, and a list that cannot be, are refused`() throws {
        for id in ["-", String(repeating: "A", count: 22), "7", "a%20b"] {
            let answer = try page.call(.get, Self.messages + "/" + id)
            #expect(Problem(answer).code == .noSuchMessage)
        }
        for (query, field) in [
            ("limit=0", "limit"), ("limit=101", "limit"), ("after=7", "after"), ("before=yesterday", "before"),
            ("before=2026-11-23", "before"), ("before=2026-02-30T00:00:00Z", "before"), ("user=%f", "user"),
        ] {
            let refused = try page.call(.get, Self.messages, query: query)
            #expect(refused.status == .badRequest && Problem(refused).field == field, "\(query)")
        }
    }
}
