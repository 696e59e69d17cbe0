// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Support
import Testing
import Text

/// `/api/inbox`: what was sent to a user, as all of their devices see it.
struct InboxTests {
    private static let plainDays: Int64 = 7 * 86_400

    private func site(
        plainSeconds: Int64 = plainDays, users: [String] = ["alice", "bob"],
        adjusting adjust: (inout Backend.Parts) -> Void = { _ in }
    ) throws -> TestSite {
        try TestSite(
            users: users,
            adjusting: {
                $0.plainSeconds = plainSeconds
                adjust(&$0)
            })
    }

    private func send(_ site: TestSite, _ members: String, as user: String = "bob", key: String? = nil) -> Response {
        var fields: HTTPFields = [:]
        if let key, let name = HTTPField.Name("Idempotency-Key") { fields[name] = key }
        return site.call(.post, "/api/notifications", as: user, body: "{\"To\":\"alice\",\(members)}", fields: fields)
    }

    private func inbox(_ site: TestSite, query: String = "", as user: String = "alice") throws -> Inbox {
        let answer = site.call(.get, "/api/inbox", query: query, as: user)
        guard answer.status == .ok else { throw Problem(answer) }
        return try Inbox(answer)
    }

    // MARK: The whole way

    @Test func `a message is sent, listed, read on one device, seen so on the other, and deleted for both`()
        async throws
    {
        let site = try site()
        let (phone, tablet) = (try site.device(of: "alice").notifications, try site.device(of: "alice").notifications)
        let sender = try site.device(of: "bob").notifications
        let beginning = Timestamp(seconds: site.clock.seconds)
        _ = try await sender.send(
            PushMessage(to: "alice", title: "Lunch", body: "At noon", link: "https://chat.example.com/4"))
        site.clock.advance(1)
        _ = try await sender.send("Hello", to: "alice", on: .apns)
        site.clock.advance(1)
        let secret = try #require(try await sender.sendSecure("The code is 7", to: "alice").id)

        let first = try await phone.inbox()
        #expect(first.unread == 3)
        #expect(
            first.messages == [
                InboxMessage(
                    id: secret, isSecure: true, isRead: false, sender: "bob", sentAt: (beginning + 2).text),
                InboxMessage(
                    id: first.messages[1].id, isSecure: false, isRead: false, sender: "bob",
                    sentAt: (beginning + 1).text, body: "Hello"),
                InboxMessage(
                    id: first.messages[2].id, isSecure: false, isRead: false, sender: "bob", sentAt: beginning.text,
                    title: "Lunch", body: "At noon", link: "https://chat.example.com/4"),
            ])
        #expect(try await tablet.inbox(known: first) == first)

        try await phone.markAsRead(first.messages[2].id)
        try await phone.markAsRead(first.messages[2].id)
        _ = try await phone.secureMessage(#require(SecureReference(id: secret)))
        let second = try await tablet.inbox(known: first)
        #expect(second.unread == 1 && second.messages.map(\.isRead) == [true, false, true])
        #expect(second.entityTag != first.entityTag)

        for message in second.messages { try await tablet.deleteFromInbox(message.id) }
        let last = try await phone.inbox(known: second)
        #expect(last.unread == 0 && last.messages.isEmpty)
        await #expect(throws: DeviceClientError.self) { try await phone.markAsRead(secret) }
    }

    @Test func `fifty messages of one second are listed in the order in which they were sent, page by page`() throws {
        let site = try TestSite(
            users: ["alice", "bob", "root"], policy: TagPolicy(roles: [Role(name: "admin", administers: true)]),
            adjusting: { $0.plainSeconds = Self.plainDays })
        try site.change("root") { $0.roles = ["admin"] }
        // By two processes, which share the store.
        let sent = try (0..<50).map { number in
            let answer = site.call(
                .post, Path.notifications, as: "bob",
                body: #"{"To":"alice","Body":"\#(number)","Secure":\#(number % 5 == 0)}"#,
                on: number % 2 == 0 ? site.backend : site.twin)
            return try SendOutcome(answer)
        }
        func pages<Element>(
            _ name: (Element) -> String, _ page: (String) throws -> [Element]
        ) rethrows -> [Element] {
            var (all, next) = ([Element](), [Element]())
            repeat {
                next = try page("limit=7" + (all.last.map { "&after=" + name($0) } ?? ""))
                all += next
            } while !next.isEmpty
            return all
        }
        let messages = try pages({ (message: InboxMessage) in String(message.id) }) {
            try inbox(site, query: $0).messages
        }
        #expect(messages.count == 50 && Set(messages.map(\.id)).count == 50)
        let numbers = (0..<50).reversed()
        #expect(messages.filter { !$0.isSecure }.map(\.body) == numbers.filter { $0 % 5 != 0 }.map { String($0) })
        #expect(messages.filter(\.isSecure).map(\.id) == sent.reversed().compactMap(\.id))
        #expect(messages.map(\.isSecure) == numbers.map { $0 % 5 == 0 })

        let page = try site.page(of: "root")
        let ids = try pages({ (id: String) in id }) { query in
            let listed = try JSONValue(parsing: page.call(.get, "/api/admin/messages", query: query).body).array
            return listed?.compactMap { $0["MessageId"]?.string } ?? []
        }
        #expect(ids == sent.reversed().compactMap(\.messageID) && ids.count == 50)
    }

    // MARK: An unchanged inbox

    @Test func `an unchanged inbox is 304 without a body, by whatever spelling of its tag, and in every process`()
        throws
    {
        let site = try site()
        #expect(send(site, "\"Body\":\"Hello\"").status == .ok)
        let first = site.call(.get, "/api/inbox", as: "alice")
        let tag = try #require(first.fields[.eTag])
        #expect(first.fields[.cacheControl] == "no-store")
        for known in [tag, "W/" + tag, "\"other\", " + tag, "\"a\",\t" + tag + " ", "*"] {
            for server in [site.backend, site.twin] {
                let again = site.call(.get, "/api/inbox", as: "alice", fields: [.ifNoneMatch: known], on: server)
                #expect(again.status == .notModified && again.body.isEmpty, "\(known)")
                #expect(again.fields[.eTag] == tag && again.fields[.contentType] == nil)
            }
        }
        for other in ["", "\"other\"", String(tag.dropLast()), "W/", "w/" + tag] {
            #expect(site.call(.get, "/api/inbox", as: "alice", fields: [.ifNoneMatch: other]).status == .ok, "\(other)")
        }
        // It is not another user's.
        #expect(site.call(.get, "/api/inbox", as: "bob", fields: [.ifNoneMatch: tag]).status == .ok)
        #expect(send(site, "\"Body\":\"Again\"").status == .ok)
        #expect(site.call(.get, "/api/inbox", as: "alice", fields: [.ifNoneMatch: tag]).status == .ok)
    }

    @Test func `an inbox whose newest message has expired is another one`() throws {
        let site = try site(plainSeconds: 60)
        #expect(send(site, "\"Body\":\"Hello\"").status == .ok)
        let tag = try #require(site.call(.get, "/api/inbox", as: "alice").fields[.eTag])
        site.clock.advance(59)
        #expect(site.call(.get, "/api/inbox", as: "alice", fields: [.ifNoneMatch: tag]).status == .notModified)
        site.clock.advance(1)
        #expect(try inbox(site).messages.isEmpty)
        #expect(site.call(.get, "/api/inbox", as: "alice", fields: [.ifNoneMatch: tag]).status == .ok)
    }

    @Test func `an unchanged inbox asks the store once`() throws {
        let calls = CallCount()
        let site = try site { $0.store = TroubledStore(inner: $0.store, calls: calls) }
        #expect(send(site, "\"Body\":\"Hello\"").status == .ok)
        let tag = try #require(site.call(.get, "/api/inbox", as: "alice").fields[.eTag])
        let before = calls.number.load(ordering: .relaxed)
        #expect(site.call(.get, "/api/inbox", as: "alice", fields: [.ifNoneMatch: tag]).status == .notModified)
        #expect(calls.number.load(ordering: .relaxed) - before == 1)
    }

    // MARK: Pages

    @Test func `pages follow one another, and each tells how much of all is unread`() throws {
        let site = try site()
        for number in 0..<7 {
            #expect(send(site, "\"Body\":\"\(number)\"").status == .ok)
            site.clock.advance(1)
        }
        let all = try inbox(site)
        #expect(all.messages.map(\.body) == ["6", "5", "4", "3", "2", "1", "0"])
        let first = try inbox(site, query: "limit=3")
        let second = try inbox(site, query: "limit=3&after=\(first.messages[2].id)")
        #expect(first.messages + second.messages == Array(all.messages.prefix(6)))
        #expect([first.unread, second.unread] == [7, 7])
        #expect(site.call(.post, "/api/inbox/\(all.messages[0].id)/read", as: "alice").status == .ok)
        let unread = try inbox(site, query: "unread=true&limit=2")
        #expect(unread.messages.map(\.body) == ["5", "4"] && unread.unread == 6)
    }

    // MARK: Whose it is

    @Test(arguments: [HTTPRequest.Method.post, .delete])
    func `another user's message, one that was deleted and what is no id are 404, all alike`(
        method: HTTPRequest.Method
    ) throws {
        let site = try site()
        #expect(send(site, "\"Body\":\"Hello\"").status == .ok)
        let id = try #require(try inbox(site).messages.first).id
        let suffix = method == .post ? "/read" : ""
        let answers = ["\(id)", "7", "0", "-1", "2147483647", "4294967303", "x"].map { name in
            site.call(method, "/api/inbox/\(name)\(suffix)", as: "bob")
        }
        #expect(answers.allSatisfy { $0.status == .notFound })
        #expect(Set(answers.map(\.body)).count == 1)
        #expect(try inbox(site).unread == 1)
        #expect(try inbox(site, as: "bob").messages.isEmpty)
        #expect(site.call(method, "/api/inbox/\(id)\(suffix)").status == .unauthorized)
        #expect(site.call(method, "/api/inbox/\(id)\(suffix)", as: "alice").status == .ok)
    }

    // MARK: What is kept

    @Test func `the id of a kept message travels with it, to all but Windows`() throws {
        let site = try site()
        #expect(send(site, #""Body":"Hello""#).status == .ok)
        for pns in ["apns", "fcm", "wns", "browser"] {
            site.clock.advance(1)
            let answer = site.call(
                .post, "/api/notifications", query: "pns=\(pns)&to_tag=alice", as: "bob", body: "\"Hi\"")
            #expect(answer.status == .ok)
        }
        let ids = try inbox(site).messages.reversed().map { #""inboxId":"\#($0.id)""# }
        let sent = site.hub.messages
        #expect(sent.count == 8 && ids.count == 5)
        for (message, id) in zip(sent, Array(repeating: ids[0], count: 4) + ids[1...]) {
            #expect(message.body.contains(id) == (message.format != "windows"), "\(message.format)")
        }
        #expect(sent[4].body == #"{"aps":{"alert":"From bob: Hi"},\#(ids[1])}"#)
        #expect(sent[7].body == #"{"title":"From bob","body":"Hi",\#(ids[4])}"#)
    }

    @Test func `no plain message is kept where the operator has not said so`() throws {
        let site = try site(plainSeconds: 0)
        #expect(send(site, "\"Body\":\"Hello\"").status == .ok)
        #expect(try inbox(site) == Inbox(unread: 0, messages: [], entityTag: inbox(site).entityTag))
        let secret = site.call(.post, "/api/notifications", query: "to_tag=alice", as: "bob", body: "\"s\"")
        #expect(try inbox(site).messages.map(\.id) == [SendOutcome(secret).id])
    }

    @Test func `a user without a device reads what was sent, and what was kept outlasts the setting`() throws {
        var without: Backend.Parts?
        let site = try site {
            without = $0
            without?.plainSeconds = 0
        }
        let off = Backend(try #require(without))
        let bodies = { (server: Backend) in
            try Inbox(site.call(.get, "/api/inbox", as: "alice", on: server)).messages.map(\.body)
        }
        let send = { (body: String, server: Backend) in
            site.clock.advance(1)
            let message = #"{"To":"alice","Body":"\#(body)"}"#
            #expect(site.call(.post, "/api/notifications", as: "bob", body: message, on: server).status == .ok)
        }
        send("on", site.backend)
        send("off", off)
        #expect(try bodies(off) == ["on"])
        send("on again", site.backend)
        #expect(try bodies(site.backend) == ["on again", "on"])
        site.clock.advance(Self.plainDays - 1)
        #expect(try bodies(off) == ["on again"])
    }

    @Test func `the list of secure messages has no plain ones, and either is read and deleted by its id`() throws {
        let site = try site()
        #expect(send(site, "\"Title\":\"Lunch\",\"Body\":\"At noon\"").status == .ok)
        let id = try #require(try inbox(site).messages.first).id
        #expect(try SecureMessageSummary.list(site.call(.get, "/api/notifications", as: "alice")).isEmpty)
        let read = try SecureMessage(site.call(.get, "/api/notifications/\(id)", as: "alice"))
        #expect(read.payload == "Lunch\nAt noon" && read.sender == "bob" && !read.isRead)
        #expect(try inbox(site).unread == 0)
        #expect(site.call(.delete, "/api/notifications/\(id)", as: "alice").status == .ok)
        #expect(try inbox(site).messages.isEmpty)
    }

    @Test func `a silent message, and one for a name that no user has, are not kept`() throws {
        let site = try site()
        #expect(send(site, "\"Silent\":true,\"Data\":{\"a\":\"b\"}").status == .ok)
        #expect(try inbox(site).messages.isEmpty)
        let answer = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=carol", as: "bob", body: "\"Hello\"")
        #expect(answer.status == .ok)
        let time = Timestamp(seconds: site.clock.seconds)
        #expect(
            try site.store.notifications(owner: "carol", unreadOnly: false, after: nil, limit: 9, now: time).isEmpty)
    }

    @Test func `what was kept of a user is gone with them`() throws {
        let site = try site()
        #expect(send(site, "\"Body\":\"Hello\"").status == .ok)
        #expect(try site.store.removeNotifications(owner: "alice") == 1)
        #expect(try inbox(site).messages.isEmpty)
    }

    // MARK: Trouble

    @Test func `a send that certainly did nothing leaves no message, so that its second try leaves one`() throws {
        let site = try site()
        _ = try site.register("alice")
        site.hubStore.begin(.full)
        #expect(send(site, "\"Body\":\"Hello\",\"Platforms\":[\"apns\"]", key: "k").status == .serviceUnavailable)
        #expect(try inbox(site).messages.isEmpty)
        site.hubStore.heal()
        #expect(send(site, "\"Body\":\"Hello\",\"Platforms\":[\"apns\"]", key: "k").status == .ok)
        #expect(send(site, "\"Body\":\"Hello\",\"Platforms\":[\"apns\"]", key: "k").status == .ok)
        #expect(try inbox(site).messages.count == 1)
    }

    @Test func `a send whose outcome is unknown keeps its message, which may have arrived`() throws {
        let site = try site()
        _ = try site.register("alice")
        site.hubStore.begin(.poisoned)
        #expect(send(site, "\"Body\":\"Hello\",\"Platforms\":[\"apns\"]").status == .serviceUnavailable)
        #expect(try inbox(site).messages.count == 1)
    }

    @Test func `a message that cannot be kept is still sent, and the operator hears of it`() throws {
        let log = CollectedLog()
        let site = try site {
            $0.store = TroubledStore(inner: $0.store, error: .full)
            $0.logger = log.logger
        }
        #expect(send(site, "\"Body\":\"Hello\"").status == .ok)
        #expect(log.lines.contains { $0.text.contains("store: \(StoreError.full)") && $0.level == .warning })
    }

    @Test func `a page of another site may not change an inbox`() throws {
        let site = try site()
        #expect(send(site, "\"Body\":\"Hello\"").status == .ok)
        let id = try #require(try inbox(site).messages.first).id
        let name = try #require(HTTPField.Name("Sec-Fetch-Site"))
        for (method, path) in [(HTTPRequest.Method.post, "/api/inbox/\(id)/read"), (.delete, "/api/inbox/\(id)")] {
            #expect(site.call(method, path, as: "alice", fields: [name: "cross-site"]).status == .forbidden)
        }
        #expect(try inbox(site).unread == 1)
    }
}
