// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Support
import Testing
import Text

/// What administrators see of users' messages for later, and what they can do about them.
struct AdministrationWaitingTests {
    private static let scheduled = "/api/admin/messages/scheduled"

    private let site: TestSite
    private let log = CollectedLog()
    private let page: TestPage

    init() throws {
        let log = log
        site = try TestSite(
            users: ["alice", "bob", "carol", "root"],
            policy: TagPolicy(roles: [Role(name: "admin", administers: true)]), adjusting: { $0.logger = log.logger })
        try site.change("root") { $0.roles = ["admin"] }
        page = try site.page(of: "root")
    }

    /// - Returns: the message's id.
    private func schedule(_ to: String, in seconds: Int64, from sender: String = "bob", isSecure: Bool = false) throws
        -> String
    {
        let message = PushMessage(to: .one(to), body: "47 11", isSecure: isSecure, sendAt: site.time(seconds))
        let body = String(decoding: message.json, as: UTF8.self)
        return try #require(SendOutcome(site.call(.post, "/api/notifications", as: sender, body: body)).messageID)
    }

    private func list(_ query: String = "") throws -> [JSONValue] {
        let answer = try page.call(.get, Self.scheduled, query: query)
        guard answer.status == .ok else { throw Problem(answer) }
        #expect(answer.fields[.cacheControl] == "no-store")
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("47 11"))
        return try #require(try JSONValue(parsing: answer.body).array)
    }

    private func ids(_ query: String = "") throws -> [String?] { try list(query).map { $0["MessageId"]?.string } }

    private func cancel(_ id: String, password: String = "root-secret") throws -> Response {
        try page.call(.delete, Self.scheduled + "/" + id, body: #"{"Password":"\#(password)"}"#)
    }

    @Test func `an administrator sees who sends what when to whom, the soonest first, and no text`() throws {
        #expect(try ids() == [])
        let late = try schedule("alice", in: 120, isSecure: true)
        let soon = try schedule("carol", in: 60, from: "alice")
        #expect(try ids() == [soon, late] && ids("limit=1") == [soon])
        #expect(try ids("user=Bob") == [late] && ids("user=alice") == [soon, late] && ids("user=carol") == [soon])
        let shown = try #require(try list().last)
        #expect(shown.members?.map(\.name) == ["MessageId", "From", "To", "SendAt", "Secure"])
        #expect(shown["From"]?.string == "bob" && shown["To"]?.string == "alice" && shown["Secure"]?.bool == true)
        #expect(shown["SendAt"]?.string == site.time(120))
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try ids() == [late])
        for (query, field) in [("limit=0", "limit"), ("limit=101", "limit"), ("user=%f", "user")] {
            let refused = try page.call(.get, Self.scheduled, query: query)
            #expect(refused.status == .badRequest && Problem(refused).field == field)
        }
    }

    @Test func `an administrator takes a message back with the own password, and it is noted`() throws {
        _ = try site.register("alice")
        let id = try schedule("alice", in: 60)
        let kept = try schedule("alice", in: 60, from: "carol")
        #expect(try cancel(id, password: "wrong").status == .forbidden && ids().count == 2)
        #expect(try cancel(id).status == .ok && ids() == [kept])
        let lines = log.lines.map(\.text).filter { $0.contains("a scheduled message was cancelled") }
        #expect(
            lines.count == 1 && lines[0].contains("bob") && lines[0].contains("root") && !lines[0].contains("47 11"))
        let again = try cancel(id)
        #expect(Problem(again).code == .noSuchMessage)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(site.hub.messages.count == 4 && site.hub.messages.allSatisfy { $0.tags.contains("alice") })
        #expect(site.call(.get, "/api/notifications/\(id)/timeline", as: "bob").status == .notFound)
    }

    @Test func `what a process has begun to send is shown with the time of the try, and stays`() throws {
        let id = try schedule("alice", in: 60)
        let stored = try #require(try site.store.waiting(in: .sends).first)
        var begun = stored
        begun.document = .object(
            (stored.document.members ?? []) + [
                JSONValue.Member("begun", .bool(true)), JSONValue.Member("triedAt", .string(site.time(60))),
            ])
        #expect(try site.store.changeWaiting(stored, to: begun, in: .sends))
        #expect(try list().first?["TriedAt"]?.string == site.time(60))
        #expect(try cancel(id).status == .notFound && ids() == [id])
    }

    @Test func `how many wait is counted, and since when the first of them should be sent`() throws {
        let schedule = SendSchedule(store: site.store)
        #expect(try schedule.backlog() == QueueBacklog(messages: 0))
        let times = try ([120, 60] as [Int64]).map { seconds in
            _ = try self.schedule("alice", in: seconds)
            return site.time(seconds)
        }
        let backlog = try schedule.backlog()
        #expect(backlog.messages == 2 && backlog.oldest?.text == times[1])
    }
}
