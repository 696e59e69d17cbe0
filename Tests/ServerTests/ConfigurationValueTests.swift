// SPDX-License-Identifier: Apache-2.0
import AppBackend
import NotificationHub
import Testing
import WebPush

@testable import Server

/// Each key of the configuration: its default, and the value that it changes. The table of settings has the rows of numbers, switches
/// and words; the others need an example, by which they are read.
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
        let read: @Sendable (SiteConfiguration) -> String

        init(
            _ key: String, _ byDefault: String, _ value: String, _ set: String, with others: [String: String] = [:],
            _ read: @escaping @Sendable (SiteConfiguration) -> String
        ) {
            (self.key, self.byDefault, self.value, self.set) = (key, byDefault, value, set)
            (self.others, self.read) = (others.filter { $0.key != key }, read)
        }

        /// A number, a switch or one of several words, by the row of the table. `nil`: it needs an example.
        init?(_ setting: Setting) {
            let key = setting.key
            @Sendable func shown(_ configuration: SiteConfiguration) -> String {
                if case .text(let text)? = SettingTable.all.values(in: configuration)[key] { text } else { "none" }
            }
            let byDefault = shown(SiteConfiguration())
            let other: String? =
                switch setting.form {
                case .number(let range): [range.lowerBound, range.upperBound].map { "\($0)" }.first { $0 != byDefault }
                case .flag: byDefault == "true" ? "false" : "true"
                case .choice(let words): words.first { $0 != byDefault }
                case .text, .list, .groups: nil
                }
            guard setting.read != nil, let other else { return nil }
            let isWord = if case .choice = setting.form { true } else { false }
            self.init(key, byDefault, isWord ? "\"\(other.uppercased())\"" : other, other, shown)
        }

        var testDescription: String { key }

        var isList: Bool { value.hasPrefix("[") }
        /// A file that sets the key.
        var text: String { file(others.merging([key: value]) { $1 }) }
        /// The same file without the key, which another source sets.
        var textWithoutKey: String { file(others) }
        /// A file that sets the key to another value.
        func text(of value: String) -> String { file(others.merging([key: value]) { $1 }) }

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

    /// Keys whose examples the table of settings does not say.
    private static let examples: [Row] = siteRows + userRows + browserRows + appRows + accessRows

    static let rows: [Row] =
        examples + SettingTable.all.rows.filter { row in !examples.contains { $0.key == row.key } }.compactMap(Row.init)

    private static let siteRows: [Row] = [
        Row("hub.connectionString", "none", connection, "hub.example") { $0.hub.connection?.endpoint ?? "none" },
        Row("hub.name", "app-backend", #""contoso""#, "contoso") { $0.hub.name },
        Row("hub.platforms", "apns,fcm,wns,browser", #"["WNS", "fcm"]"#, "wns,fcm") {
            $0.hub.platforms.map(\.rawValue).joined(separator: ",")
        },
        Row("hub.caFile", "none", #""ca.pem""#, "ca.pem") { name(of: $0.hub.caFile) },
        Row("hub.proxy", "none", #""http://p.example:1""#, "http://p.example:1") { $0.hub.proxy ?? "none" },
        Row("localHub.serve", "false", "true", "true", with: localKey) { "\($0.localHub.isServed)" },
        Row("localHub.shared", "false", "true", "true", with: localKey) { "\($0.localHub.isShared)" },
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
        Row("inbox.badges", "false", "true", "true", with: ["inbox.plainDays": "7"]) { "\($0.countsBadges)" },
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
        #expect(Set(Self.rows.map(\.key)).symmetricDifference(SettingTable.all.keys) == [])
    }

    @Test func `no two keys change the same value`() throws {
        let rows = SettingTable.all.rows.compactMap(Row.init)
        #expect(rows.count > 20)
        for row in rows {
            let written = try #require(try WrittenConfiguration(row.text).configuration)
            let others = rows.filter { $0.key != row.key && $0.read(written) != $0.byDefault }
            #expect(others.map(\.key) == [], "\(row.key)")
        }
    }

    @Test(arguments: rows)
    func `a key has its default until the file sets it, and is shown then unless it is a secret`(row: Row) throws {
        let plain = try WrittenConfiguration(#"{ "store.path": "/s" }"#)
        let before = Seen(faults: plain.faults, value: plain.configuration.map(row.read))
        let after = try WrittenConfiguration(row.text, files: Self.files).seen(row)
        // The proxy of the table has a password.
        let isHidden = SettingTable.all.secretKeys.contains(row.key) || row.key == "webPush.proxy"
        let expected = [Seen(value: row.byDefault), Seen(value: row.set, source: .file, isHidden: isHidden)]
        #expect([before, after] == expected)
    }
}
