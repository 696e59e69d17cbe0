// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// `app-backend check`, `--help` and `--version`: no server needed.
struct CheckTests {
    /// One broken configuration: a member of the file besides a good `store.path`, and the keys that are at fault.
    struct Row: CustomTestStringConvertible, Sendable {
        let members: String
        let faults: [String]

        init(_ members: String, _ faults: String...) {
            self.members = members
            self.faults = faults
        }

        var testDescription: String { members }
    }

    private static let key = "0123456789abcdef0123456789abcdef"
    /// The application server's of RFC 8291 appendix A.
    private static let vapid = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private static let vapidPublic =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    static let rows: [Row] = [
        Row(#""unknown": 1"#, "unknown"), Row(#""hub": { "nmae": "x" }"#, "hub.nmae"),
        Row(#""workers": 0"#, "workers"), Row(#""workers": "many""#, "workers"), Row(#""workers": 1.5"#, "workers"),
        Row(#""workers": 9999999999999999999999"#, "workers"),
        Row(#""auth": { "method": "none" }"#, "auth.method"), Row(#""auth": { "realm": "a\"b" }"#, "auth.realm"),
        Row(#""limits": { "bodyBytes": 1 }"#, "limits.bodyBytes"),
        Row(#""limits": { "drainSeconds": -1 }"#, "limits.drainSeconds"),
        Row(#""notifications": { "retentionDays": 0 }"#, "notifications.retentionDays"),
        Row(#""session": { "hours": 0 }"#, "session.hours"), Row(#""session": { "hours": 8761 }"#, "session.hours"),
        Row(#""log": { "level": "loud" }"#, "log.level"),
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
        Row(#""webPush": { "privateKey": "short-secret", "subject": "mailto:a@b.example" }"#, "webPush.privateKey"),
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

    @Test(arguments: rows)
    func `a broken configuration is one line per fault and status 1`(row: Row) throws {
        let folder = try ScratchFolder()
        let outcome = try check(#"{ "store": { "path": "\#(folder.path("store"))" }, \#(row.members) }"#, folder)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        let keys = outcome.complaints.map { line in
            line.replacing("configuration: ", with: "").prefix { $0 != ":" }
        }
        #expect(Set(keys) == Set(row.faults.map { $0[...] }) && keys.count == row.faults.count, "\(outcome.errors)")
        #expect(!outcome.errors.contains(Self.key) && !outcome.errors.contains("short-secret"))
        #expect(!outcome.errors.contains(Self.vapid))
    }

    @Test(arguments: ["", "[]", "{", "{} {}", #"{ "store": { "path": "" } }"#, "{}", "\u{1}"])
    func `a file that is no configuration is status 1 and one line`(text: String) throws {
        let outcome = try check(text, try ScratchFolder())
        #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.complaints.count == 1)
    }

    @Test func `a good configuration is status 0 and nothing of its secrets is shown`() throws {
        let folder = try ScratchFolder()
        let outcome = try check(
            #"{ "store": { "path": "\#(folder.path("store"))" }, "localHub": { "serve": true, "key": "\#(Self.key)" } }"#,
            folder)
        #expect(outcome.status == 0 && outcome.output.hasPrefix("The configuration is right.\n"))
        #expect(!(outcome.output + outcome.errors).contains(Self.key))
    }

    @Test func `the environment wins over the file, and its faults are named as well`() throws {
        let folder = try ScratchFolder()
        let text = #"{ "store": { "path": "\#(folder.path("store"))" }, "workers": 7 }"#
        #expect(try check(text, folder, environment: ["APP_BACKEND_WORKERS=0"]).errors.contains("workers"))
        let moved = try check(text, folder, environment: ["APP_BACKEND_STORE_PATH=\(folder.path("elsewhere"))"])
        #expect(moved.status == 0 && moved.output.contains(folder.path("elsewhere")))
    }

    @Test func `a file of the credentials folder wins over both`() throws {
        let folder = try ScratchFolder()
        let credentials = try folder.makeFolder("credentials")
        try folder.write("too-short\n", to: "credentials/localHub.key")
        let text = #"{ "store": { "path": "\#(folder.path("store"))" }, "localHub": { "key": "\#(Self.key)" } }"#
        let outcome = try check(text, folder, environment: ["CREDENTIALS_DIRECTORY=\(credentials)"])
        #expect(outcome.status == 1 && outcome.errors.contains("localHub.key"))
        #expect(!outcome.errors.contains("too-short"))
    }

    @Test func `a store that others may enter is a fault`() throws {
        let folder = try ScratchFolder()
        let store = try folder.makeFolder("store")
        let text = #"{ "store": { "path": "\#(store)" } }"#
        #expect(try check(text, folder).status == 0)
        #expect(chmod(store, 0o755) == 0)
        let outcome = try check(text, folder)
        #expect(outcome.status == 1 && outcome.errors.contains("store.path"))
    }

    @Test func `the tutorial's own log-in is warned of`() throws {
        let folder = try ScratchFolder()
        let outcome = try check(
            #"{ "store": { "path": "\#(folder.path("store"))" }, "auth": { "method": "test" } }"#, folder)
        #expect(outcome.status == 0 && outcome.errors.contains("never on the internet"))
    }

    @Test func `version and help are printed and exit 0`() throws {
        let version = try Program.run(Program.appBackend, ["--version"])
        #expect(version.status == 0 && version.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
        for command in [
            [], ["serve"], ["check"], ["doctor"], ["user"], ["user", "add"], ["send"], ["keys"], ["keys", "vapid"],
        ] {
            let help = try Program.run(Program.appBackend, command + ["--help"])
            #expect(help.status == 0 && help.output.contains("USAGE: app-backend"))
        }
        let unknown = try Program.run(Program.appBackend, ["dance"])
        #expect(unknown.status == 64 && !unknown.errors.isEmpty)
    }

    private func check(
        _ text: String, _ folder: ScratchFolder, environment: [String] = []
    ) throws -> Program.Outcome {
        try folder.write(text, to: "app-backend.json")
        return try Program.run(
            Program.appBackend, ["check", "--config", folder.path("app-backend.json")], environment: environment)
    }
}
