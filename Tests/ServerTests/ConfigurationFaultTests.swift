// SPDX-License-Identifier: Apache-2.0
import Support
import Testing

@testable import Server

/// What is wrong with a configuration is said key by key.
struct ConfigurationFaultTests {
    /// Members of the file besides a good `store.path`, and the keys that are at fault.
    struct Row: CustomTestStringConvertible, Sendable {
        let members: String
        let faults: [String]
        /// Of each fault; nil: not compared.
        let reason: String?

        init(_ members: String, _ faults: String..., reason: String? = nil) {
            (self.members, self.faults, self.reason) = (members, faults, reason)
        }

        var testDescription: String { members }
    }

    static let key = "0123456789abcdef0123456789abcdef"
    /// The application server's of RFC 8291 appendix A.
    private static let vapid = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private static let vapidPublic =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    private static func google(_ project: String) -> String {
        #"{\"type\":\"metadata_server\",\"project_id\":\"\#(project)\"}"#
    }

    private static func apple(_ topic: String, _ environment: String = "production") -> String {
        TestCredentials.appleApp(topic, environment)
    }

    private static func webhook(_ members: String) -> String {
        var all = ["url": "\"https://a.example/hook\"", "secret": "\"\(ConfigurationValueTests.webhookSecret)\""]
        if let name = members.split(separator: "\"").first, all[String(name)] != nil { all[String(name)] = nil }
        let rest = all.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
        return "{ \((rest + (members.isEmpty ? [] : [members])).joined(separator: ", ")) }"
    }

    private static let unmatched =
        "has a pattern that matches nothing, as it may have only letters, digits, _ @ # . : - and *: "
    private static let patterns =
        #""*", "from:*", "tag:Größe_*", "a.b@c#d-1", "", "**", "新闻-*", "\#(String(repeating: "a", count: 121))""#

    static let rows: [Row] = [
        // An empty group and null are the same as nothing.
        Row(#""limits": {}"#), Row(#""limits": null"#), Row(#""workers": null"#),
        Row(#""limit": {}"#, "limit", reason: "there is no such key"),
        Row(
            #""webpush.subject": "x""#, "webpush.subject",
            reason: "there is no such key; did you mean webPush.subject?"),
        Row(#""hub": { "nmae": "x" }"#, "hub.nmae", reason: "there is no such key; did you mean hub.name?"),
        Row(
            #""roles": { "name": "a", "adminster": true }"#, "roles.adminster",
            reason: "there is no such key; did you mean roles.administer?"),
        Row(#""limits": { "sendsPerHour": {} }"#, "limits.sendsPerHour", reason: "there is no such key"),
        Row(
            #""policy": { "tags": ["sport", "news/*"], "sendTo": ["sport", "news/*"] }"#, "policy.tags",
            "policy.sendTo", reason: unmatched + "news/*"),
        // Letters of every script, whatever the hub's tags have, and nothing at all, for a variable that was emptied.
        Row(#""policy": { "tags": [\#(patterns)], "sendTo": [\#(patterns)] }"#),
        Row(#""unknown": 1"#, "unknown"), Row(#""hub": { "nmae": "x" }"#, "hub.nmae"),
        Row(#""workers": 0"#, "workers"), Row(#""workers": "many""#, "workers"), Row(#""workers": 1.5"#, "workers"),
        Row(#""workers": 9999999999999999999999"#, "workers"),
        Row(#""limits": { "bodyBytes": 1 }"#, "limits.bodyBytes"),
        Row(#""limits": { "drainSeconds": -1 }"#, "limits.drainSeconds"),
        Row(#""notifications": { "retentionDays": 0 }"#, "notifications.retentionDays"),
        Row(#""inbox": { "plainDays": -1 }"#, "inbox.plainDays"),
        Row(#""inbox": { "badges": true }"#, "inbox.badges"),
        Row(#""inbox": { "silentSync": "now" }"#, "inbox.silentSync"),
        Row(#""webhooks": 1"#, "webhooks"), Row(#""webhooks": [1]"#, "webhooks"),
        Row(#""webhooks": [{ "events": ["message.read"] }]"#, "webhooks.0.url", "webhooks.0.secretFile"),
        Row(#""webhooks": \#(webhook(#""url": "http://a.example/""#))"#, "webhooks.url"),
        Row(#""webhooks": \#(webhook(#""url": "http://localhost/""#))"#, "webhooks.url"),
        Row(#""webhooks": \#(webhook(#""url": "a.example""#))"#, "webhooks.url"),
        Row(#""webhooks": \#(webhook(#""secret": "0123456789abcdef0123456789abcdef""#))"#, "webhooks.secret"),
        Row(#""webhooks": \#(webhook(#""secret": "whsec_c2hvcnQ=""#))"#, "webhooks.secret"),
        Row(#""webhooks": { "url": "https://a.example/", "secretFile": "none" }"#, "webhooks.secretFile"),
        Row(#""webhooks": \#(webhook(#""events": []"#))"#, "webhooks.events"),
        Row(#""webhooks": \#(webhook(#""events": ["message.sent"]"#))"#, "webhooks.events"),
        Row(#""webhooks": \#(webhook(#""private": 7"#))"#, "webhooks.private"),
        Row(#""webhooks": [\#(webhook("")), \#(webhook(#""events": ["message.read"]"#))]"#, "webhooks.1.url"),
        Row(
            #""webhooks": [\#((0...10).map { webhook("\"url\": \"https://a.example/\($0)\"") }.joined(separator: ", "))]"#,
            "webhooks"),
        Row(#""session": { "hours": 0 }"#, "session.hours"), Row(#""session": { "hours": 8761 }"#, "session.hours"),
        Row(#""log": { "level": "loud" }"#, "log.level"),
        Row(#""apns": { "topic": "a.b" }"#, "apns.keyId", "apns.teamId", "apns.keyFile"),
        Row(
            #""apns": [{ "topic": "a.b" }, { "nmae": 1 }]"#, "apns.1.nmae", "apns.0.keyId", "apns.0.teamId",
            "apns.0.keyFile"),
        Row(#""apns": { "certificateFile": "no.pem", "topic": "a.b" }"#, "apns.certificateFile"),
        Row(#""apns": [1]"#, "apns"),
        Row(#""apns.0": 1"#, "apns.0"),
        Row(#""fcm": { "credentialFile": "no.json" }"#, "fcm.credentialFile"),
        Row(#""fcm": { "timeout": 0 }"#, "fcm.timeout", "fcm.credentialFile"),
        Row(#""wns": { "secret": "s" }"#, "wns.packageSid"),
        Row(#""wns": { "packageSid": "s-1-15-2-1", "tenant": "t", "secret": "s" }"#, "wns.packageSid"),
        Row(#""wns": { "packageSid": "s-1-15-2-1", "secret": "s", "tokenEndpoint": "http://a" }"#, "wns.tokenEndpoint"),
        Row(#""wns": { "packageSid": "p", "secret": "s" }"#, "wns.packageSid"),
        Row(
            #""wns": { "packageSid": "s-1-15-2-1", "secret": "s", "secretExpires": "31.12.2027" }"#,
            "wns.secretExpires"),
        Row(#""fcm": { "credential": "{\"type\":\"metadata_server\"}" }"#, "fcm.credential"),
        Row(#""fcm": { "credential": "{\"type\":\"metadata_server\",\"project_id\":\"a/b\"}" }"#, "fcm.credential"),
        Row(
            #""wns": [{ "packageSid": "s-1-15-2-1", "secret": "s" }, { "packageSid": "ms-app://S-1-15-2-1", "secret": "t" }]"#,
            "wns.1"),
        Row(
            #""fcm": [{ "credential": "\#(google("p"))" }, { "credential": "\#(google("q"))" }, { "credential": "\#(google("p"))" }]"#,
            "fcm.2"),
        Row(#""apns": [\#(apple("a.b")), \#(apple("a.c")), \#(apple("a.b"))]"#, "apns.2.topic"),
        Row(#""apns": [\#(apple("a.b")), \#(apple("A.b", "sandbox"))]"#, "apns.1.topic"),
        Row(#""apns": \#(apple("a b"))"#, "apns.topic"),
        Row(#""apns": \#(apple(String(repeating: "a", count: 117)))"#, "apns.topic"),
        Row(#""fcm": { "credential": "{}" }"#, "fcm.credential"),
        Row(
            #""apns": { "key": "short-secret", "keyId": "KEYID12345", "teamId": "TEAM123456", "topic": "a.b" }"#,
            "apns.key"),
        Row(
            #""apns": { "key": "short-secret", "keyId": "KEY", "teamId": "TEAM123456", "topic": "a.b" }"#, "apns.keyId"),
        Row(#""hub": { "platforms": ["fcm"] }, "wns": { "packageSid": "s-1-15-2-1", "secret": "s" }"#, "wns"),
        Row(
            #""hub": { "connectionString": "Endpoint=sb://a.example/;SharedAccessKeyName=n;SharedAccessKey=\#(key)" }, "wns": { "packageSid": "s-1-15-2-1", "secret": "s" }"#,
            "wns"),
        Row(#""secure": { "form": "loud" }"#, "secure.form"), Row(#""secure": { "text": "News" }"#, "secure.text"),
        Row(#""secure": { "form": "alert", "locKey": "a\nb" }"#, "secure.locKey"),
        Row(#""hub": { "connectionString": "nonsense" }"#, "hub.connectionString"),
        Row(
            #""hub": { "connectionString": "Endpoint=http://a.example/;SharedAccessKeyName=n;SharedAccessKey=\#(key)" }"#,
            "hub.connectionString"),
        Row(#""hub": { "name": "a/b" }"#, "hub.name"), Row(#""hub": { "name": "api" }"#, "hub.name"),
        Row(#""hub": { "platforms": ["palm"] }"#, "hub.platforms"), Row(#""hub": { "timeout": 0 }"#, "hub.timeout"),
        Row(#""hub": { "caFile": "/nowhere/ca.pem" }"#, "hub.caFile"),
        Row(#""localHub": { "serve": true }"#, "localHub.key"),
        Row(#""localHub": { "serve": "perhaps", "key": "\#(key)" }"#, "localHub.serve"),
        Row(#""localHub": { "key": "short-secret" }"#, "localHub.key"),
        Row(#""localHub": { "keys": "x" }"#, "localHub.keys"), Row(#""localHub": { "keys": ["x"] }"#, "localHub.keys"),
        Row(#""localHub": { "keys": ["SharedAccessKeyName=a;Rights=Send;PrimaryKey=short-secret"] }"#, "localHub.keys"),
        Row(#""localHub": { "keys": ["SharedAccessKeyName=a;Rights=All;PrimaryKey=\#(key)"] }"#, "localHub.keys"),
        Row(#""localHub": { "keys": ["SharedAccessKeyName=a;PrimaryKey=\#(key)"] }"#, "localHub.keys"),
        Row(#""localHub": { "keys": ["Rights=Send;PrimaryKey=\#(key)"] }"#, "localHub.keys"),
        Row(#""localHub": { "keys": ["SharedAccessKeyName=a;Rights=Send;SecondaryKey=\#(key)"] }"#, "localHub.keys"),
        Row(
            #""localHub": { "keys": ["SharedAccessKeyName=a;Rights=Send;PrimaryKey=\#(key)", "SharedAccessKeyName=a;Rights=Listen;PrimaryKey=\#(key)"] }"#,
            "localHub.keys"),
        Row(
            #""localHub": { "keyName": "a", "key": "\#(key)", "keys": ["SharedAccessKeyName=a;Rights=Send;PrimaryKey=\#(key)"] }"#,
            "localHub.keys"),
        Row(#""webPush": { "formerPrivateKey": "short-secret" }"#, "webPush.formerPrivateKey"),
        Row(#""listen": "0.0.0.0:9000""#, "listen"), Row(#""listen": "nonsense""#, "listen"),
        Row(#""workers": [1]"#, "workers"), Row(#""hub": { "platforms": "apns" }"#, "hub.platforms"),
        Row(#""auth": { "method": ["test"] }"#, "auth.method"),
        Row(#""hub": { "caFile": "/etc/passwd" }"#, "hub.caFile"),
        Row(#""log": { "level": "info" }, "log.level": "debug""#, "log.level"),
        Row(#""log.": { "level": "info" }"#, "log..level"),
        Row(#""webPush": { "privateKey": "short-secret", "subject": "mailto:a@example.com" }"#, "webPush.privateKey"),
        Row(#""webPush": { "privateKey": "\#(vapid)" }"#, "webPush.subject"),
        Row(#""webPush": { "subject": "push@example.com" }"#, "webPush.subject"),
        Row(#""webPush": { "subject": "mailto:root@localhost" }"#, "webPush.subject"),
        Row(#""webPush": { "hosts": ["*.com"] }"#, "webPush.hosts"),
        Row(#""webPush": { "hosts": "fcm.googleapis.com" }"#, "webPush.hosts"),
        Row(#""webPush": { "hosts": ["fcm.googleapis.com", "127.0.0.1"] }"#, "webPush.hosts"),
        Row(#""webPush": { "privateHosts": ["localhost"] }"#, "webPush.privateHosts"),
        Row(#""webPush": { "caFile": "/etc/passwd" }"#, "webPush.caFile"),
        Row(#""webPush": { "proxy": "proxy.example" }"#, "webPush.proxy"),
        Row(#""webPush": { "proxy": "ftp://proxy.example:3128" }"#, "webPush.proxy"),
        Row(#""webPush": { "ttl": -1 }"#, "webPush.ttl"), Row(#""webPush": { "ttl": 2419201 }"#, "webPush.ttl"),
        Row(#""webPush": { "timeout": 0 }"#, "webPush.timeout"),
        Row(#""webPush": { "publicKey": "BAAA" }"#, "webPush.publicKey"),
        Row(#""webPush": { "publicKey": "\#(vapidPublic)" }"#, "webPush.publicKey"),
        Row(#""webPush": { "key": "x" }"#, "webPush.key"),
        Row(#""store.url": "postgresql://site:short-secret@db.example/site""#, "store.url"),
        Row(#""store.url": "mysql://site:short-secret@db.example/site""#, "store.url", "store.url"),
        Row(#""store.connections": 4"#, "store.connections"),
        Row(#""limits": { "sendsPerMinute": -1 }"#, "limits.sendsPerMinute"),
        Row(#""limits": { "listsAtOnce": 0 }"#, "limits.listsAtOnce"),
        Row(#""limits": { "registrationsPerMinute": "none" }"#, "limits.registrationsPerMinute"),
        Row(#""limits": { "bytesUnderWay": 1073741825 }"#, "limits.bytesUnderWay"),
        Row(#""workers": 0, "log": { "level": "loud" }, "more": {"a": 1}"#, "more.a", "workers", "log.level"),
    ]

    @Test(arguments: rows + accessRows)
    func `each fault names its key and repeats no secret`(row: Row) throws {
        let faults = try WrittenConfiguration(#"{ "store": { "path": "/s" }, \#(row.members) }"#).faults
        let said = faults.map(\.description).joined()
        let secrets = [Self.key, "short-secret", Self.vapid].filter { said.contains($0) }
        let others = faults.map(\.reason).filter { row.reason != nil && $0 != row.reason }
        #expect([faults.map(\.key), secrets, others] == [row.faults, [], []], "\(faults)")
    }

    @Test(arguments: ["", "[]", "{", "{} {}", #"{ "store": { "path": "" } }"#, "{}", "\u{1}"])
    func `a file that is no configuration is one fault`(text: String) throws {
        #expect(try WrittenConfiguration(text).faults.count == 1)
    }

    @Test func `a file that cannot be read is one fault`() throws {
        let folder = try ScratchFolder()
        let (configuration, faults) = SiteConfiguration.load(
            file: folder.path("none.json"), environment: Environment([:]))
        #expect(configuration == nil && faults.map(\.key) == [folder.path("none.json")])
    }

    @Test(arguments: ConfigurationValueTests.rows)
    func `a value of another kind is refused, never taken for none`(row: ConfigurationValueTests.Row) throws {
        let others = row.isList ? [#""x""#, "{}", #"["x", {}]"#, "[null]"] : [#"["x"]"#, "{}"]
        let taken = try others.filter { value in
            try !WrittenConfiguration(row.text(of: value)).faults.contains { $0.key == row.key }
        }
        #expect(taken == [])
    }

    @Test(arguments: ConfigurationValueTests.rows)
    func `a number may be as small and as large as the documentation says`(row: ConfigurationValueTests.Row) throws {
        guard case .number(let range)? = SettingTable.all[row.key]?.form else { return }
        let numbers = [range.lowerBound - 1, range.lowerBound, range.upperBound, range.upperBound + 1]
        let faults = try numbers.map { try WrittenConfiguration(row.text(of: "\($0)")).faults.map(\.key) }
        #expect(faults == [[row.key], [], [], [row.key]])
    }
}
