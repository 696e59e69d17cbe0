// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Logging
import NotificationHub
import Store
import Testing
import Text

/// What a user's other devices hear of the inbox: what was read, and how much waits.
struct InboxSyncTests {
    private let sync = InboxSync()
    private static let platforms: [Platform] = [.apns, .fcm, .wns, .browser]

    private func site(
        syncs: Bool = true, badges: Bool = false, plainSeconds: Int64 = 86_400
    ) throws -> TestSite {
        try TestSite(
            users: ["alice", "bob", "carol"],
            adjusting: {
                ($0.plainSeconds, $0.countsBadges) = (plainSeconds, badges)
                $0.inboxSync = syncs ? sync : nil
            })
    }

    private func send(
        _ site: TestSite, _ members: String = #""Body":"Hi""#, to: String = #""alice""#
    ) throws -> SendOutcome {
        try SendOutcome(site.call(.post, "/api/notifications", as: "bob", body: "{\"To\":\(to),\(members)}"))
    }

    private func ids(_ site: TestSite, _ user: String = "alice") throws -> [Int32] {
        try Inbox(site.call(.get, "/api/inbox", as: user)).messages.map(\.id)
    }

    /// What is pushed by the next run.
    private func pushes(_ site: TestSite, within duration: Duration = .seconds(60)) -> [HubLog.Message] {
        let before = site.hub.messages.count
        sync.run(
            site.store, Notifications(hub: site.hubClient, platforms: Self.platforms),
            now: Timestamp(seconds: site.clock.seconds), within: duration,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return Array(site.hub.messages.dropFirst(before))
    }

    // MARK: Read on one is read on all

    @Test func `all of a user's devices hear what was read on one, once for a burst, without a word of it`() throws {
        let site = try site()
        for number in 0..<4 { _ = try send(site, "\"Title\":\"secret-\(number)\",\"Body\":\"Hi\"") }
        let all = try ids(site)
        #expect(pushes(site).isEmpty)
        for id in all.prefix(2) + all.prefix(2) {
            #expect(site.call(.post, "/api/inbox/\(id)/read", as: "alice").status == .ok)
        }
        #expect(site.call(.delete, "/api/inbox/\(all[2])", as: "alice").status == .ok)
        let told = pushes(site)
        #expect(told.map(\.format) == ["apple", "fcmv1", "windows"])
        let read = all.prefix(3).map { "\($0)" }.joined(separator: ",")
        let data = "\"inboxRead\":\"\(read)\",\"inboxUnread\":\"1\""
        #expect(told[0].body == "{\"aps\":{\"content-available\":1},\(data)}")
        #expect(
            told[1].body
                == "{\"message\":{\"data\":{\(data)},\"android\":{\"priority\":\"normal\",\"collapse_key\":\"inbox\"}}}"
        )
        #expect(told[2].body == "{\(data)}")
        #expect(
            told[0].fields[named: "apns-push-type"] == "background" && told[0].fields[named: "apns-priority"] == "5")
        #expect(told[0].fields[named: "apns-collapse-id"] == "inbox")
        // Not to those who hear the sender.
        #expect(told.allSatisfy { $0.tags == told[0].tags && !$0.tags.contains("||") && !$0.tags.isEmpty })
        #expect(pushes(site).isEmpty)
    }

    @Test func `they hear of a secure message that was fetched or deleted, and of no reading that finds nothing`()
        throws
    {
        let site = try site()
        let id = try #require(try send(site, #""Body":"47 11","Secure":true"#).id)
        #expect(site.call(.get, "/api/notifications/\(id)", as: "carol").status == .notFound)
        #expect(site.call(.post, "/api/inbox/\(id)/read", as: "carol").status == .notFound)
        #expect(pushes(site).isEmpty)
        for _ in 0..<2 { #expect(site.call(.get, "/api/notifications/\(id)", as: "alice").status == .ok) }
        #expect(pushes(site).first?.body.contains("\"inboxRead\":\"\(id)\",\"inboxUnread\":\"0\"") == true)
        #expect(site.call(.get, "/api/notifications/\(id)", as: "alice").status == .ok)
        #expect(pushes(site).isEmpty)
        #expect(site.call(.delete, "/api/notifications/\(id)", as: "alice").status == .ok)
        #expect(pushes(site).count == 3)
    }

    @Test func `what a run has no time for the next one tells`() throws {
        let site = try site()
        _ = try send(site)
        _ = site.call(.post, "/api/inbox/\(try ids(site)[0])/read", as: "alice")
        #expect(pushes(site, within: .zero).isEmpty)
        #expect(pushes(site).count == 3)
        #expect(pushes(site).isEmpty)
    }

    @Test func `each user's devices hear of their own inbox, and of the newest fifty alone`() throws {
        let site = try site()
        for _ in 0..<60 { _ = try send(site, to: #"["alice", "carol"]"#) }
        for _ in 0..<2 {
            for id in try ids(site) { _ = site.call(.delete, "/api/inbox/\(id)", as: "alice") }
        }
        _ = site.call(.post, "/api/inbox/\(try ids(site, "carol")[0])/read", as: "carol")
        let told = pushes(site).filter { $0.format == "apple" }
        #expect(told.count == 2 && Set(told.map(\.tags)).count == 2)
        #expect(told.map { $0.body.count { $0 == "," } }.sorted() == [2, 51])
        #expect(told.contains { $0.body.contains(#""inboxUnread":"59""#) })
    }

    @Test func `where the site does not ask for it, nothing is pushed, and a sender cannot say such a thing`() throws {
        let site = try site(syncs: false)
        _ = try send(site)
        _ = site.call(.post, "/api/inbox/\(try ids(site)[0])/read", as: "alice")
        #expect(pushes(site).isEmpty)
        for name in ["inboxRead", "INBOXUNREAD"] {
            let body = "{\"To\":\"alice\",\"Silent\":true,\"Data\":{\"\(name)\":\"1\"}}"
            #expect(site.call(.post, "/api/notifications", as: "bob", body: body).status == .badRequest)
        }
    }

    // MARK: Badges

    /// The badges that the last send's pushes have, by their forms.
    private func badges(_ site: TestSite, _ send: () throws -> Void) throws -> [String: String] {
        let before = site.hub.messages.count
        try send()
        let pattern = try Regex("\"(?:badge|notification_count)\":([0-9]+)", as: (Substring, Substring).self)
        let found = site.hub.messages.dropFirst(before).map { message in
            (message.format, message.body.firstMatch(of: pattern).map { String($0.1) } ?? "-")
        }
        return Dictionary(found) { first, _ in first }
    }

    @Test
    func `a message to one user has the number of those that wait as its badge, on each platform that has badges`()
        throws
    {
        let site = try site(badges: true)
        let one = ["apple": "1", "fcmv1": "1", "browser": "1", "windows": "-"]
        var outcome: SendOutcome?
        #expect(try badges(site) { outcome = try send(site) } == one)
        // The sender has given none that Windows could ignore.
        #expect(outcome?.outcomes.allSatisfy { $0.ignored.isEmpty } == true)
        #expect(try badges(site) { _ = try send(site) }["apple"] == "2")
        _ = site.call(.post, "/api/inbox/\(try ids(site)[0])/read", as: "alice")
        #expect(try badges(site) { _ = try send(site) }["apple"] == "2")
        // What the sender says counts, and what is not shown, or goes to several, has none.
        #expect(try badges(site) { _ = try send(site, #""Body":"Hi","Badge":7"#) }["apple"] == "7")
        #expect(try badges(site) { _ = try send(site, #""Silent":true"#) }["apple"] == "-")
        #expect(try badges(site) { _ = try send(site, to: #"["alice", "carol"]"#) }["apple"] == "-")
        #expect(try badges(site) { _ = try send(site, #""Body":"47 11","Secure":true"#) }["apple"] == "-")
    }

    @Test(arguments: [(false, Int64(86_400)), (true, 0)])
    func `without the setting, and without inboxes, a push is as it ever was`(badges: Bool, plainSeconds: Int64) throws
    {
        let site = try site(badges: badges, plainSeconds: plainSeconds)
        #expect(try Set(self.badges(site) { _ = try send(site) }.values) == ["-"])
        let string = try self.badges(site) {
            _ = site.call(.post, "/api/notifications", query: "pns=apns&to_tag=alice", as: "bob", body: #""Hi""#)
        }
        #expect(string == ["apple": "-"])
    }

    @Test func `a count that fails is no reason to refuse a send`() throws {
        let site = try TestSite(
            adjusting: {
                ($0.plainSeconds, $0.countsBadges) = (86_400, true)
                $0.store = TroubledStore(inner: $0.store, error: .full)
            })
        #expect(try send(site).isAccepted)
    }

    // MARK: One name for a secure message to several

    @Test func `a secure message to several users has one timeline, and each of them their own name of it`() throws {
        let site = try site()
        let outcome = try send(site, #""Body":"47 11","Secure":true"#, to: #"["alice", "carol"]"#)
        let id = try #require(outcome.messageID)
        #expect(outcome.ids.count == 2)
        let timeline = try MessageTimeline(site.call(.get, "/api/notifications/\(id)/timeline", as: "bob"))
        #expect(timeline.to == "alice, carol" && timeline.isSecure && timeline.isRead == nil)
        #expect(timeline.outcomes.count == outcome.outcomes.count && timeline.outcomes.count == 8)
        #expect(!site.hub.messages.contains { $0.body.contains(id) })
        #expect(site.call(.get, "/api/notifications/\(id)/timeline", as: "alice").status == .notFound)
    }
}
