// SPDX-License-Identifier: Apache-2.0
import AppBackend
import NotificationHub
import Testing
import WebPush

@testable import Server

/// Each key of the configuration: its default, and what it changes. It is the one table of the keys in the tests.
struct ConfigurationValueTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let key: String
        let byDefault: String
        /// In JSON.
        let value: String
        /// The value as the site has it.
        let set: String
        /// Further members of the file that the value needs, in JSON.
        let others: [String: String]
        /// Of a number: the smallest and the largest.
        let range: ClosedRange<Int>?
        let read: @Sendable (SiteConfiguration) -> String

        init(
            _ key: String, _ byDefault: String, _ value: String, _ set: String, with others: [String: String] = [:],
            in range: ClosedRange<Int>? = nil, _ read: @escaping @Sendable (SiteConfiguration) -> String
        ) {
            (self.key, self.byDefault, self.value, self.set) = (key, byDefault, value, set)
            (self.others, self.range, self.read) = (others.filter { $0.key != key }, range, read)
        }

        var testDescription: String { key }

        var isList: Bool { value.hasPrefix("[") }
        /// A file that sets the key.
        var text: String { file(others.merging([key: value]) { $1 }) }
        /// The same file without the key, which another source sets.
        var textWithoutKey: String { file(others) }
        /// A file that sets the key alone.
        func text(of value: String) -> String { file([key: value]) }

        private func file(_ members: [String: String]) -> String {
            let store = key.hasPrefix("store.") ? [:] : ["store.path": #""/s""#]
            let all = store.merging(members) { $1 }.map { "\"\($0.key)\": \($0.value)" }
            return "{ \(all.sorted().joined(separator: ", ")) }"
        }
    }

    private static func methods(_ configuration: SiteConfiguration) -> String {
        configuration.authenticationMethods.map(\.rawValue).joined(separator: ",")
    }

    private static let secret = "0123456789abcdef0123456789abcdef"
    private static let localKey = ["localHub.key": "\"\(secret)\""]
    private static let connection =
        "\"Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=\(secret)\""
    private static let policies =
        #"["SharedAccessKeyName=a;Rights=Send;PrimaryKey=\#(secret)", "SharedAccessKeyName=b;Rights=Listen;PrimaryKey=\#(secret)"]"#
    private static let url = #""postgresql://db.example/site""#
    private static let vapid = #""yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw""#
    private static let vapidPublic =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
    private static let subject = "mailto:push@example.com"
    private static let proxy = "socks5h://me:it@p.example:1"
    private static let origins = "https://app.example,http://localhost:3000"
    private static let rates = 0...1_000_000
    private static let bursts = 1...1_000_000

    static let rows: [Row] = siteRows + userRows + browserRows + appRows + accessRows

    private static let siteRows: [Row] = [
        Row("hub.connectionString", "none", connection, "hub.example") { $0.hub.connection?.endpoint ?? "none" },
        Row("hub.name", "app-backend", #""contoso""#, "contoso") { $0.hub.name },
        Row("hub.platforms", "apns,fcm,wns,browser", #"["WNS", "fcm"]"#, "wns,fcm") {
            $0.hub.platforms.map(\.rawValue).joined(separator: ",")
        },
        Row("hub.timeout", "10", "20", "20", in: 1...120) { "\($0.hub.timeout)" },
        Row("hub.caFile", "none", #""ca.pem""#, "ca.pem") { name(of: $0.hub.caFile) },
        Row("hub.proxy", "none", #""http://p.example:1""#, "http://p.example:1") { $0.hub.proxy ?? "none" },
        Row("localHub.serve", "false", "true", "true", with: localKey) { "\($0.localHub.isServed)" },
        Row("localHub.shared", "false", "true", "true", with: localKey) { "\($0.localHub.isShared)" },
        Row("localHub.registrationsPerMinute", "6000", "0", "0", in: rates) { "\($0.localHub.registrationsPerMinute)" },
        Row("localHub.keyName", "", #""a""#, "a", with: localKey) { keyNames($0) },
        Row("localHub.key", "", "\"\(secret)\"", "DefaultFullSharedAccessSignature") { keyNames($0) },
        Row("localHub.keys", "", policies, "a,b") { keyNames($0) },
        Row("localHub.hosts", "localhost", #"["hub.example"]"#, "hub.example") {
            $0.localHub.hosts.joined(separator: ",")
        },
        Row("store.path", "/s", #""/elsewhere""#, "/elsewhere") { $0.store.folder ?? "none" },
        Row("store.url", "/s", url, "none") { $0.store.folder ?? "none" },
        Row("store.connections", "0", "4", "4", with: ["store.url": url]) {
            if case .database(_, let connections) = $0.store { "\(connections)" } else { "0" }
        },
        Row("listen", "none", #""127.0.0.1:9000""#, "127.0.0.1:9000") { $0.listen ?? "none" },
        Row("listenToRemotePeers", "false", "true", "true", with: ["listen": #""192.0.2.1:9000""#]) {
            "\($0.allowsRemotePeers)"
        },
        Row("workers", "64", "3", "3", in: 1...1024) { "\($0.workers)" },
        Row("limits.bodyBytes", "65536", "2048", "2048", in: 1024...974_848) { "\($0.bodyBytes)" },
        Row("limits.drainSeconds", "25", "0", "0", in: 0...600) { "\($0.drainSeconds)" },
        Row("log.level", "info", #""Debug""#, "debug") { "\($0.logLevel)" },
    ]

    private static let userRows: [Row] = [
        Row("auth.method", "password,token,session", #""test""#, "test,session") { methods($0) },
        Row("auth.methods", "password,token,session", #"["Web-Server", "test"]"#, "web-server,test") { methods($0) },
        Row("auth.realm", "AppBackend", #""Push""#, "Push") { $0.realm },
        Row("cors.origins", "", #"["https://app.example", "http://localhost:3000"]"#, origins) {
            $0.foreignOrigins.joined(separator: ",")
        },
        Row("policy.tags", "*", #"["news", " sport "]"#, "news,sport") {
            $0.policy.defaultTags.joined(separator: ",")
        },
        Row("policy.sendTo", "*", "[]", "") { $0.policy.defaultSendTo.joined(separator: ",") },
        Row("policy.secureOnly", "false", "true", "true") { "\($0.policy.isSecureOnly)" },
        Row(
            "secure.form", "silent", #""alert""#,
            "alert(text: \"\(SecureForm.defaultText)\", localizationKey: nil)"
        ) { "\($0.secureForm)" },
        Row(
            "secure.text", "silent", #""News""#, #"alert(text: "News", localizationKey: nil)"#,
            with: ["secure.form": #""alert""#]
        ) { "\($0.secureForm)" },
        Row(
            "secure.locKey", "silent", #""NEWS""#, #"alert(text: "News", localizationKey: Optional("NEWS"))"#,
            with: ["secure.form": #""alert""#, "secure.text": #""News""#]
        ) { "\($0.secureForm)" },
        Row("session.hours", "168", "1", "1", in: 1...8760) { "\($0.sessionHours)" },
        Row("notifications.retentionDays", "30", "7", "7", in: 1...3650) { "\($0.retentionDays)" },
        Row("inbox.plainDays", "0", "7", "7", in: 0...3650) { "\($0.plainDays)" },
        Row("inbox.badges", "false", "true", "true", with: ["inbox.plainDays": "7"]) { "\($0.countsBadges)" },
        Row("inbox.silentSync", "false", "true", "true") { "\($0.syncsInbox)" },
        Row("limits.sendsPerMinute", "300", "0", "0", in: rates) { "\($0.userLimits.sends.perMinute)" },
        Row("limits.sendsAtOnce", "600", "1", "1", in: bursts) { "\($0.userLimits.sends.atOnce)" },
        Row("limits.registrationsPerMinute", "120", "2", "2", in: rates) {
            "\($0.userLimits.registrations.perMinute)"
        },
        Row("limits.registrationsAtOnce", "300", "3", "3", in: bursts) { "\($0.userLimits.registrations.atOnce)" },
        Row("limits.listsPerMinute", "600", "4", "4", in: rates) { "\($0.userLimits.lists.perMinute)" },
        Row("limits.listsAtOnce", "600", "5", "5", in: bursts) { "\($0.userLimits.lists.atOnce)" },
        Row("limits.bytesUnderWay", "8388608", "6", "6", in: 0...1_073_741_824) { "\($0.userLimits.bytesUnderWay)" },
    ]

    private static let browserRows: [Row] = [
        Row("webPush.privateKey", "a file", vapid, vapidPublic, with: ["webPush.subject": "\"\(subject)\""]) {
            if case .configuration(let key) = $0.webPush.key { key.publicKey } else { "a file" }
        },
        Row("webPush.privateKeyFile", "none", #""push.key""#, "push.key") {
            if case .file(let path) = $0.webPush.key { name(of: path) } else { "no file" }
        },
        Row("webPush.formerPrivateKey", "none", vapid, vapidPublic) { $0.webPush.formerKey?.publicKey ?? "none" },
        Row("webPush.subject", "none", "\"\(subject)\"", subject) { $0.webPush.subject.map { "\($0)" } ?? "none" },
        Row("webPush.hosts", "false", #"["push.example.com"]"#, "true") {
            "\($0.webPush.hosts.exampleNames == ["push.example.com"])"
        },
        Row("webPush.privateHosts", "", #"["push.internal:8443"]"#, "push.internal:8443") {
            $0.webPush.hosts.privateAuthorities.joined(separator: ",")
        },
        Row("webPush.caFile", "none", #""ca.pem""#, "ca.pem") { name(of: $0.webPush.caFile) },
        Row("webPush.proxy", "none", "\"\(proxy)\"", proxy) { $0.webPush.proxy ?? "none" },
        Row("webPush.ttl", "86400", "0", "0", in: 0...2_419_200) { "\($0.webPush.timeToLive)" },
        Row("webPush.timeout", "10", "1", "1", in: 1...120) { "\($0.webPush.timeout)" },
        Row(
            "webPush.publicKey", "none", "\"\(vapidPublic)\"", vapidPublic, with: ["hub.connectionString": connection]
        ) { $0.webPush.publicKey ?? "none" },
    ]

    static func name(of path: String?) -> String {
        path.map { String($0.split(separator: "/").last ?? "") } ?? "none"
    }

    private static func keyNames(_ configuration: SiteConfiguration) -> String {
        configuration.localHub.keys.map(\.name).joined(separator: ",")
    }

    /// The files that values name.
    static let files = [
        "ca.pem": "-----BEGIN CERTIFICATE-----\n", "key.p8": TestCredentials.appleKey,
        "google.json": TestCredentials.google, "keys.json": TestCredentials.keySet,
        "both.pem": TestCredentials.certificate + TestCredentials.certificateKey,
        "encrypted.pem": TestCredentials.certificate + TestCredentials.encryptedKey, "hook": webhookSecret + "\n",
    ]

    /// The value that the site reads, and how an operator sees it.
    struct Seen: Equatable {
        var faults: [ConfigurationFault] = []
        var value: String?
        var source: ConfigurationSetting.Source?
        /// nil: no value is shown.
        var isHidden: Bool?
    }

    @Test func `every key is looked at here`() {
        #expect(Set(Self.rows.map(\.key)).symmetricDifference(SiteConfiguration.knownKeys) == [])
    }

    @Test(arguments: rows)
    func `a key has its default until the file sets it, and is shown then unless it is a secret`(row: Row) throws {
        let plain = try WrittenConfiguration(#"{ "store.path": "/s" }"#)
        let before = Seen(faults: plain.faults, value: plain.configuration.map(row.read))
        let after = try WrittenConfiguration(row.text, files: Self.files).seen(row)
        // The proxy of the table has a password.
        let isHidden = SiteConfiguration.secretKeys.contains(row.key) || row.key == "webPush.proxy"
        let expected = [Seen(value: row.byDefault), Seen(value: row.set, source: .file, isHidden: isHidden)]
        #expect([before, after] == expected)
    }
}
