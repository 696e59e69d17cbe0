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

/// What an administrator does at the page.
struct AdministrationTests {
    static let users = "/api/admin/users"
    static let own = #"{"Password":"root-secret"}"#

    /// What adds a user whose password is `<name>-secret`, with the administrator's own password.
    static func adding(_ name: String, _ members: String = #""Roles":[]"#) -> String {
        #"{"UserName":"\#(name)","Password":"\#(name.lowercased())-secret",\#(members),"AdministratorPassword":"root-secret"}"#
    }

    private let site: TestSite
    private let log = CollectedLog()
    private let page: TestPage

    init() throws {
        let log = log
        site = try TestSite(
            users: ["alice", "bob", "root"],
            policy: TagPolicy(roles: [Role(name: "admin", administers: true), Role(name: "editor", tags: ["press"])])
        ) { parts in
            parts.logger = log.logger
            parts.waiting = {
                [.init(name: "apns", cause: .credential, since: Timestamp(seconds: 0), reason: "APNs refused the key")]
            }
            parts.status = {
                var status = SiteStatus()
                status.queue = QueueBacklog(messages: 3, oldest: Timestamp(seconds: 60))
                status.sends = [.init(outcome: "201", count: 4)]
                status.pushes = [.init(platform: "apns", outcome: "Success", count: 5)]
                status.hours = [
                    .init(beganAt: Timestamp(seconds: 3_600), platform: "apns", taken: 5, failed: 2)
                ]
                return status
            }
            parts.findings = {
                SiteFindings(
                    lookedAt: Timestamp(seconds: 60), isLooking: true,
                    findings: [
                        .init(step: "store", verdict: "ok", found: "1 user"),
                        .init(step: "clock", verdict: "warning", found: "late", fix: "`date`"),
                    ])
            }
            parts.version = "1.2.3"
        }
        try site.change("root") { $0.roles = ["admin"] }
        page = try site.page(of: "root")
    }

    private func json(_ response: Response) throws -> JSONValue {
        guard response.status == .ok else { throw Problem(response) }
        return try JSONValue(parsing: response.body)
    }

    private func names(_ query: String = "") throws -> [String] {
        try json(page.call(.get, Self.users, query: query)).array?.compactMap { $0["Name"]?.string } ?? []
    }

    // MARK: What is shown

    @Test func `the users are listed in pages, and found by the beginning of their names`() throws {
        #expect(try names() == ["alice", "bob", "root"])
        #expect(try names("limit=2") == ["alice", "bob"])
        #expect(try names("limit=2&after=bob") == ["root"])
        // Behind one who is gone by now.
        #expect(try names("after=aliced") == ["bob", "root"])
        #expect(try names("name=AL") == ["alice"] && names("name=l").isEmpty)
    }

    @Test func `a user is shown with devices and sessions, and without handles, hashes and cookies`() throws {
        let id = try site.register("alice", tags: ["news"])
        let session = try site.page(of: "alice")
        let answer = try page.call(.get, Self.users + "/Alice")
        let alice = try json(answer)
        #expect(alice["Name"]?.string == "alice" && alice["Roles"]?.array == [])
        #expect(alice["HasPassword"]?.bool == true && alice["SecureOnly"]?.bool == false)
        #expect(alice["DeviceCount"]?.integer == 1 && alice["SessionCount"]?.integer == 1)
        let device = try #require(alice["Devices"]?.array?.first)
        #expect(device["RegistrationId"]?.string == id && device["Handle"]?.string == "000001")
        #expect(alice["Sessions"]?.array?.first?["Id"]?.string?.count == 16)
        #expect(alice["LastSeenAt"]?.string != nil && alice["DisabledAt"] == nil && alice["ExpiresAt"] == nil)
        let text = String(decoding: answer.body, as: UTF8.self)
        let cookie = try #require(session.cookie?.split(separator: "=").last)
        #expect(!text.contains(TestSite.token(1)) && !text.contains("$y$") && !text.contains(cookie))
        #expect(answer.fields[.cacheControl] == "no-store")
    }

    @Test func `the status names what waits and why, and no user`() throws {
        let answer = try page.call(.get, "/api/admin/status")
        let status = try json(answer)
        #expect(status["Version"]?.string == "1.2.3" && status["Store"]?.string == "writable")
        #expect(status["Hub"]?.string == "built-in" && status["Queue"]?.integer == 3)
        #expect(status["QueuedSince"]?.string == "1970-01-01T00:01:00Z")
        let channel = try #require(status["Waiting"]?.array?.first)
        #expect(channel["Channel"]?.string == "apns" && channel["Reason"]?.string == "APNs refused the key")
        #expect(status["Pushes"]?.array?.first?["Platform"]?.string == "apns")
        #expect(status["Sends"]?.array?.first?["Count"]?.integer == 4)
        let hour = try #require(status["History"]?.array?.first)
        #expect(hour["From"]?.string == "1970-01-01T01:00:00Z" && hour["Platform"]?.string == "apns")
        #expect(hour["Taken"]?.integer == 5 && hour["Failed"]?.integer == 2)
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("alice"))
    }

    @Test func `the findings of the last look are told with their fixes`() throws {
        let answer = try page.call(.get, "/api/admin/findings")
        #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-store")
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"LookedAt":"1970-01-01T00:01:00Z","Looking":true,"Findings":[{"Step":"store","Verdict":"ok","#
                + #""Found":"1 user"},{"Step":"clock","Verdict":"warning","Found":"late","Fix":"`date`"}]}"#)
    }

    // MARK: What is changed

    @Test func `a user who was added logs in, and a name and a role are checked`() throws {
        let carol = Self.adding("Carol", #""Roles":["editor"]"#)
        let added = try json(page.call(.post, Self.users, body: carol))
        #expect(added["Name"]?.string == "carol" && added["Roles"]?.array?.first?.string == "editor")
        #expect(site.call(.get, "/api/register", as: "carol").status == .ok)
        let again = try page.call(.post, Self.users, body: carol)
        #expect(again.status == .conflict && Problem(again).field == "UserName")
        for (body, field) in [
            (#"{"UserName":"a b","Password":"x"}"#, "UserName"), (#"{"Password":"x"}"#, "UserName"),
            (#"{"UserName":"dora","Password":""}"#, "Password"),
            (#"{"UserName":"dora","Password":"seven77"}"#, "Password"),
            (#"{"UserName":"dora","Password":"\#(String(repeating: "x", count: 512))"}"#, "Password"),
            (#"{"UserName":"dora","Password":"x","Roles":["gone"]}"#, "Roles"),
            (#"{"UserName":"dora","Password":"x","Roles":"editor"}"#, "Roles"), ("{", "body"),
        ] {
            let refused = try page.call(.post, Self.users, body: body)
            #expect(refused.status == .badRequest && Problem(refused).field == field, "\(body)")
        }
        #expect(try site.store.user("dora") == nil)
    }

    @Test func `no administrator is made by the API`() throws {
        let body = #"{"UserName":"mallory","Password":"x","Roles":["editor","admin"]}"#
        let refused = try page.call(.post, Self.users, body: body)
        #expect(refused.status == .forbidden && Problem(refused).field == "Roles")
        #expect(try site.store.user("mallory") == nil)
    }

    @Test func `a disabled user is out in all processes until enabled, and old sessions stay ended`() throws {
        let alice = try site.page(of: "alice")
        let disabled = try json(page.call(.post, Self.users + "/alice/disable", body: Self.own))
        #expect(disabled["DisabledAt"]?.string != nil && disabled["SessionCount"]?.integer == 0)
        #expect(try !alice.isKnown && !TestPage(site.twin, cookie: alice.cookie).isKnown)
        #expect(try alice.logIn("alice").status == .unauthorized)
        // Once more does no harm.
        #expect(try page.call(.post, Self.users + "/alice/disable", body: Self.own).status == .ok)
        let former = alice.cookie
        let enabled = try json(page.call(.post, Self.users + "/alice/enable", body: Self.own))
        #expect(enabled["DisabledAt"] == nil)
        #expect(try alice.logIn("alice").status == .ok && alice.isKnown)
        #expect(try former == nil || !TestPage(site.backend, cookie: former).isKnown)
    }

    @Test func `a user is removed with devices and sessions, and the next of the name has none of it`() throws {
        _ = try site.register("alice")
        let alice = try site.page(of: "alice")
        let removed = try json(page.call(.delete, Self.users + "/alice", body: Self.own))
        #expect(removed["Devices"]?.integer == 1 && removed["Sessions"]?.integer == 1)
        #expect(removed["Waiting"]?.integer == 0)
        #expect(try !alice.isKnown && names() == ["bob", "root"])
        #expect(try page.call(.delete, Self.users + "/alice", body: Self.own).status == .notFound)
        let next = try json(page.call(.post, Self.users, body: Self.adding("alice")))
        #expect(next["DeviceCount"]?.integer == 0 && next["SessionCount"]?.integer == 0)
        #expect(try !alice.isKnown)
    }

    @Test func `one device and one session of the right user are ended, and the others stay`() throws {
        let id = try site.register("alice")
        let other = try site.register("bob", handle: TestSite.token(2))
        let (one, two) = (try site.page(of: "alice"), try site.page(of: "alice"))
        let alice = Self.users + "/alice"
        #expect(try page.call(.delete, "\(alice)/devices/\(other)", body: Self.own).status == .notFound)
        #expect(try page.call(.delete, "\(alice)/devices/\(id)", body: Self.own).status == .ok)
        #expect(try site.registrations(of: "alice").isEmpty && site.registrations(of: "bob").count == 1)
        let shown = try json(page.call(.get, alice))["Sessions"]?.array?.first?["Id"]?.string ?? ""
        #expect(try page.call(.delete, "\(Self.users)/bob/sessions/\(shown)", body: Self.own).status == .notFound)
        #expect(try page.call(.delete, "\(alice)/sessions/\(shown)", body: Self.own).status == .ok)
        #expect(try [one.isKnown, two.isKnown].filter { $0 }.count == 1)
        let ended = try json(page.call(.delete, "\(alice)/sessions", body: Self.own))
        #expect(ended["Sessions"]?.integer == 1)
        #expect(try !one.isKnown && !two.isKnown && page.isKnown)
    }

    @Test func `each change is in the log with the administrator's name, and no password is`() throws {
        _ = try page.call(.post, Self.users, body: Self.adding("carol"))
        _ = try page.call(.post, Self.users + "/carol/disable", body: Self.own)
        _ = try page.call(.delete, Self.users + "/carol", body: Self.own)
        let lines = log.lines.map(\.text)
        for sentence in ["a user was added", "a user was disabled", "a user was removed"] {
            #expect(lines.contains { $0.contains(sentence) && $0.contains("root") && $0.contains("carol") })
        }
        #expect(!lines.contains { $0.contains("secret") })
    }

    @Test func `a name whose data waits for the next user is given by a command alone`() throws {
        try site.change("bob") { ($0.removedAt, $0.keepsData) = (Timestamp(seconds: site.clock.seconds), true) }
        let answer = try page.call(.post, Self.users, body: #"{"UserName":"Bob","Password":"mine"}"#)
        #expect(answer.status == .conflict && Problem(answer).field == "UserName")
        #expect(try site.store.user("bob") == nil)
    }

    @Test func `another spelling of the path, which a web server may take for another place, leads nowhere`() throws {
        for path in ["/api/Admin/users", "/API/admin/users", "/api/ADMIN/status"] {
            #expect(try page.call(.get, path).status == .notFound)
        }
    }
}
