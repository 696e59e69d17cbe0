// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Testing

/// Requests of the tutorial for .NET MAUI: what arrives at its app, whom they reach, and who may make them.
struct MAUIRequestTests {
    private let site: TestSite
    private let key: String

    init() throws {
        site = try TestSite(users: ["alice", "bob"])
        key = try site.appToken()
    }

    /// By format, without the message's id, which differs from run to run.
    private var bodies: [String: String] {
        let id = /"messageId":"[A-Za-z0-9_-]{22}",/
        return Dictionary(
            uniqueKeysWithValues: site.hub.messages.map { ($0.format, $0.body.replacing(id, with: "")) })
    }

    private func payload(_ format: String) throws -> JSONValue {
        try JSONValue(parsing: Array((bodies[format] ?? "").utf8))
    }

    @Test func `the request of the tutorial shows its text, and the app finds the action`() throws {
        let apps = MAUIApp.Kind.allCases.map { MAUIApp($0, on: site, key: key) }
        apps.forEach { $0.register() }
        let answer = site.request(#"{"text":"Message from \"REST\" tooling!","action":"action_a"}"#, key: key)
        #expect(answer.status == .ok)
        #expect(Set(site.hub.messages.map(\.tags)) == ["username:alice || from:alice"])
        let apple = try payload("apple")
        #expect(apple["action"]?.string == "action_a")
        #expect(apple["aps"]?["alert"]?["body"]?.string == #"Message from "REST" tooling!"#)
        let google = try #require(try payload("fcmv1")["message"])
        #expect(google["data"]?["action"]?.string == "action_a")
        #expect(google["notification"]?["body"]?.string == #"Message from "REST" tooling!"#)
        let outcome = try SendOutcome(answer)
        for platform in ["apns", "fcm"] { #expect(try site.devices(of: outcome, on: platform) == 1) }
    }

    @Test func `a silent request wakes the app with message and action, and shows nothing`() throws {
        #expect(site.request(#"{"text":"sync","action":"action_b","tags":[],"silent":true}"#, key: key).status == .ok)
        #expect(
            bodies == [
                "apple": #"{"aps":{"content-available":1},"sender":"alice","action":"action_b","message":"sync"}"#,
                "fcmv1": #"{"message":{"data":{"sender":"alice","action":"action_b","message":"sync"},"#
                    + #""android":{"priority":"normal"}}}"#,
                "windows": #"{"sender":"alice","action":"action_b","message":"sync"}"#,
            ])
        let apple = try #require(site.hub.messages.first { $0.format == "apple" })
        #expect(apple.fields[named: "apns-push-type"] == "background")
    }

    @Test func `a silent request needs an action and no text, another one a text and no action`() throws {
        #expect(site.request(#"{"Silent":true,"Action":"action_a"}"#, key: key).status == .ok)
        #expect(bodies["apple"] == #"{"aps":{"content-available":1},"sender":"alice","action":"action_a"}"#)
        #expect(site.request(#"{"text":"Hi","action":null,"tags":null,"silent":null}"#, key: key).status == .ok)
        for body in ["{}", #"{"text":" \t","action":"a"}"#, #"{"action":"a","silent":false}"#] {
            let problem = Problem(site.request(body, key: key))
            #expect(problem.status == .badRequest && problem.field == "text")
        }
        let problem = Problem(site.request(#"{"text":"a","silent":true,"action":""}"#, key: key))
        #expect(problem.status == .badRequest && problem.field == "action")
    }

    @Test func `tags are one OR, each needs its grant, and the refusal names the rule`() throws {
        let body = #"{"text":"Hi","action":"a","tags":["news","sport","NEWS"]}"#
        let refused = Problem(site.request(body, key: key))
        #expect(
            refused.code == .recipientNotAllowed && refused.field == "tags" && refused.detail.contains("policy.sendTo"))
        try site.change("alice") { $0.sendTo = ["tag:news"] }
        let half = Problem(site.request(body, key: key))
        #expect(half.status == .forbidden && half.detail.contains("the user's own sendTo"))
        #expect(site.hub.messages.isEmpty)
        try site.change("alice") { $0.sendTo = ["tag:*"] }
        _ = try site.register("alice", handle: TestSite.token(1), tags: ["news", "sport"])
        _ = try site.register("bob", handle: TestSite.token(2), tags: ["sport"])
        _ = try site.register("bob", handle: TestSite.token(3), tags: ["other"])
        let outcome = try SendOutcome(site.request(body, key: key))
        #expect(Set(site.hub.messages.map(\.tags)) == ["news || sport"])
        #expect(try site.devices(of: outcome, on: "apns") == 2)
        try site.change("alice") { $0.sendTo = nil }
        #expect(site.request(body, key: key).status == .forbidden)
    }

    @Test(
        arguments: [
            (["username:bob"], 403), (["from:bob"], 403), (["app:a"], 403), (["a b"], 400), ([""], 400),
            ((1...20).map { "t\($0)" }, 200), ((1...21).map { "t\($0)" }, 400),
        ] as [([String], Int)])
    func `tags of the server's own, texts that are no tags and more than 20 are refused`(tags: [String], status: Int)
        throws
    {
        try site.change("alice") { $0.sendTo = ["tag:*", "*"] }
        let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = site.request(#"{"text":"Hi","tags":[\#(list)]}"#, key: key)
        #expect(answer.status.code == status && Problem(answer).field == (status == 200 ? nil : "tags"))
    }

    @Test func `a token with recipients sends to those alone`() throws {
        try site.change("alice") { $0.sendTo = ["tag:*", "*"] }
        let tagged = #"{"text":"Hi","tags":["news"]}"#
        for (recipients, statuses) in [("bob", [403, 403]), ("alice", [200, 403])] {
            let key = try site.appToken(#"{"Scopes":["send"],"To":["\#(recipients)"]}"#)
            let answers = [site.request(#"{"text":"Hi"}"#, key: key), site.request(tagged, key: key)]
            #expect(answers.map(\.status.code) == statuses)
            for answer in answers where answer.status != .ok { #expect(Problem(answer).field == "tags") }
        }
    }

    @Test func `where only secure messages may be sent, no request is`() throws {
        try site.change("alice") { ($0.isSecureOnly, $0.sendTo) = (true, ["tag:*"]) }
        for body in [#"{"text":"Hi"}"#, #"{"action":"a","silent":true}"#, #"{"text":"Hi","tags":["news"]}"#] {
            #expect(site.request(body, key: key).status == .forbidden)
        }
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `a request that is made again with its key is sent once, and counts as a send`() throws {
        let fields = HTTPFields(["Idempotency-Key": "one"])
        let first = site.request(#"{"text":"Hi"}"#, key: key, fields: fields)
        let sent = site.hub.messages.count
        let again = site.request(#"{"text":"Hi"}"#, key: key, fields: fields, on: site.twin)
        #expect(
            again.body == first.body && again.fields[.idempotencyReplayed] == "true" && site.hub.messages.count == sent)
        #expect(site.request(#"{"text":"Ho"}"#, key: key, fields: fields).status == .conflict)
        let elsewhere = site.call(.post, Path.notifications, as: "alice", body: #"{"text":"Hi"}"#, fields: fields)
        #expect(elsewhere.status == .conflict)
        let limited = try TestSite { $0.limits.sends = UserLimits.Rate(perMinute: 1, atOnce: 1) }
        let key = try limited.appToken()
        #expect((1...2).map { _ in limited.request(#"{"text":"Hi"}"#, key: key).status.code } == [200, 429])
    }

    @Test func `it is in the inbox of a site that keeps plain messages, and its outcome is the sender's to ask for`()
        throws
    {
        let site = try TestSite(adjusting: { $0.plainSeconds = 86_400 })
        let answer = site.request(#"{"text":"Hi","action":"a"}"#, key: try site.appToken())
        let inbox = try Inbox(site.call(.get, Path.inbox, as: "alice"))
        #expect(inbox.messages.map(\.body) == ["Hi"])
        let id = try #require(try SendOutcome(answer).outcomes.first?.notificationID)
        #expect(site.call(.get, "\(Path.outcomes)/\(id)", as: "alice").status == .ok)
    }
}
