// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Foundation
import JSON
import Support
import Testing

@testable import Server

/// Where a value comes from: a credential before the environment, that before the file, and else from other keys.
struct ConfigurationSourceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        /// The file.
        let text: String
        var files: [String: String] = [:]
        var environment: [String: String] = [:]
        /// Their keys, sorted.
        var faults: [String] = []
        let value: String
        let read: @Sendable (SiteConfiguration) -> String

        var testDescription: String { name }
    }

    private static let store = #""store": { "path": "/s" }"#
    /// Three keys that are long enough.
    private static let keys = ["one", "two", "three"].map { $0 + "-0123456789abcdef0123456789abcdef" }
    private static let credentials = ["CREDENTIALS_DIRECTORY": "FOLDER/credentials"]

    private static let sources: [Row] = [
        Row(
            name: "the environment wins over the file", text: #"{ \#(store), "workers": 7 }"#,
            environment: ["APP_BACKEND_STORE_PATH": "/elsewhere", "APP_BACKEND_HUB_PLATFORMS": "fcm, wns"],
            value: "/elsewhere, 7, fcm, wns"
        ) {
            (["\($0.store)", "\($0.workers)"] + $0.hub.platforms.map(\.rawValue)).joined(separator: ", ")
        },
        Row(
            name: "a fault of the environment is named", text: #"{ \#(store), "workers": 7 }"#,
            environment: ["APP_BACKEND_WORKERS": "0"], faults: ["workers"], value: "/s"
        ) { "\($0.store)" },
        Row(
            name: "an emptied variable is the same as none", text: #"{ \#(store), "auth.realm": "Push" }"#,
            environment: ["APP_BACKEND_LOG_LEVEL": ""], value: "info"
        ) { "\($0.logLevel)" },
        Row(
            name: "a list in a variable has commas; blanks and line ends around its elements do not count",
            text: #"{ \#(store) }"#, environment: ["APP_BACKEND_POLICY_TAGS": "news,\n sport\t"], value: "news sport"
        ) { $0.policy.defaultTags.map { "\($0)" }.joined(separator: " ") },
        Row(
            name: "a list in a variable has an element between two commas, and one if it is empty",
            text: #"{ \#(store) }"#,
            environment: ["APP_BACKEND_WEB_PUSH_HOSTS": "", "APP_BACKEND_HUB_PLATFORMS": "fcm,,wns"],
            faults: ["hub.platforms", "webPush.hosts"], value: "/s"
        ) { "\($0.store)" },
        Row(
            name: "a credential wins over both", text: #"{ \#(store), "localHub": { "key": "\#(keys[0])" } }"#,
            files: ["credentials/localHub.key": keys[2] + "\n"],
            environment: credentials.merging(["APP_BACKEND_LOCAL_HUB_KEY": keys[1]]) { $1 }, value: keys[2]
        ) { $0.localHub.keys.map { $0.key.reveal() }.joined(separator: ",") },
        Row(
            name: "a byte order mark in front of the file or of a credential is no part of it",
            text: "\u{FEFF}" + #"{ \#(store), "localHub": { "key": "\#(keys[0])" } }"#,
            files: ["credentials/localHub.key": "\u{FEFF}\(keys[2])\r\n"], environment: credentials, value: keys[2]
        ) { $0.localHub.keys.map { $0.key.reveal() }.joined(separator: ",") },
        Row(
            name: "an unusable secret of an app hides no other secret",
            text: #"{ "apns": { "keyId": "KEYID12345", "teamId": "TEAM123456", "topic": "com.example.app" } }"#,
            files: [
                "credentials/apns.key": "", "credentials/wns.secret": "",
                "credentials/store.url": "postgresql://db.example/site",
            ], environment: credentials, faults: ["apns.key", "apns.keyFile", "wns.secret"], value: "store.url"
        ) { $0.store.key },
    ]

    private static let whole = "Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=ofString"
    private static let roles = [Role(name: "a", sendTo: ["x"]), Role(name: "b", tags: ["y"])]
    private static let trusted = #""issuers": { "issuer": "https://id.example", "prefix": "id", "audience": ["b"] }"#

    private static func issuer(_ name: String, _ more: String, _ methods: String) -> Row {
        Row(name: name, text: #"{ \#(store), "auth": { \#(trusted)\#(more) } }"#, value: methods) {
            $0.authenticationMethods.map(\.rawValue).joined(separator: ",")
        }
    }

    private static let derived: [Row] = [
        Row(
            name: "a relative path begins at the file's folder", text: #"{ "store": { "path": "state" } }"#,
            value: "FOLDER/state"
        ) { "\($0.store)" },
        Row(
            name: "the hub has the name of the connection string's EntityPath",
            text: #"{ \#(store), "hub.connectionString": "\#(whole)" }"#, value: "ofString"
        ) { $0.hub.name },
        Row(
            name: "the hub has its own name in place of the EntityPath",
            text: #"{ \#(store), "hub.connectionString": "\#(whole)", "hub.name": "own" }"#, value: "own"
        ) { $0.hub.name },
        Row(
            name: "roles may be a list, and grant only the rights that they name",
            text: #"{ \#(store), "roles": [{ "name": "a", "sendTo": ["x"] }, { "name": "b", "tags": ["y"] }] }"#,
            value: "\(roles)"
        ) { "\($0.policy.roles)" },
        issuer("to trust an issuer is enough", "", "password,token,session,bearer"),
        issuer("to trust an issuer beside a method", #", "method": "users""#, "password,token,session,bearer"),
        issuer("a list of methods is all of them", #", "methods": ["bearer"]"#, "bearer"),
        Row(name: "no issuers", text: #"{ \#(store), "auth.issuers": [] }"#, value: "0") { "\($0.issuers.count)" },
    ]

    @Test(arguments: sources + derived)
    func `a value comes from a credential, the environment, the file, or other keys`(row: Row) throws {
        let written = try WrittenConfiguration(row.text, files: row.files, environment: row.environment)
        let value = written.configuration.map(row.read) ?? "none"
        let seen = written.faults.map(\.key).sorted() + [value.replacing(written.folder.path, with: "FOLDER")]
        #expect(seen == row.faults + [row.value])
    }

    @Test(arguments: SettingTable.all.secretKeys)
    func `each secret may be a credential, and an unusable one is a fault`(key: String) throws {
        let row = try #require(ConfigurationValueTests.rows.first { $0.key == key })
        let json = try JSONValue(parsing: Array(row.value.utf8))
        let value = json.string ?? (json.array ?? []).compactMap(\.string).joined(separator: "\n")
        func read(_ name: String, _ content: String) throws -> WrittenConfiguration {
            try WrittenConfiguration(
                row.textWithoutKey, files: ConfigurationValueTests.files.merging([name: content]) { $1 },
                environment: Self.credentials)
        }
        let good = try read("credentials/\(key)", value + "\n").seen(row)
        #expect(good == ConfigurationValueTests.Seen(value: row.set, source: .credential, isHidden: true))
        // An empty one, and one that cannot be read because it is a folder.
        let taken = try ["credentials/\(key)", "credentials/\(key)/file"].filter { name in
            try !read(name, "").faults.contains {
                $0.key == key && $0.reason.contains("/credentials/\(key): ")
            }
        }
        #expect(taken == [])
    }

    @Test func `only a key of a telephone group makes a fault one of an app`() {
        let keys = ["apns.key", "apns.keyFile", "wns.secret", "store.url", "workers", "apnsx.key", "webPush.subject"]
        let ofApps = keys.filter { ConfigurationFault(key: $0, reason: "").isOfApp }
        #expect(ofApps == ["apns.key", "apns.keyFile", "wns.secret"])
    }

    @Test func `a credential that is not UTF-8 is named, and is not changed in silence`() throws {
        let folder = try ScratchFolder()
        let file = try folder.write("{ \(Self.store) }", to: "app-backend.json")
        let credentials = try folder.makeFolder("credentials")
        let secret = try folder.write("", to: "credentials/localHub.key")
        try Data(Array(Self.keys[0].utf8) + [0xE4]).write(to: URL(filePath: secret))
        let (_, faults) = SiteConfiguration.load(
            file: file, environment: Environment(["CREDENTIALS_DIRECTORY": credentials]))
        #expect(faults.map(\.description) == ["configuration: localHub.key: \(secret): is not UTF-8"])
    }
}
