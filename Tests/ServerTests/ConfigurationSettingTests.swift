// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Server

/// The configuration as an operator sees it: values in force, and where they are from.
struct ConfigurationSettingTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        var files: [String: String] = [:]
        var environment: [String: String] = [:]
        /// The source and the value of each key.
        let settings: [String: String]

        var testDescription: String { name }
    }

    private static let secret = "0123456789abcdef0123456789abcdef"
    private static let connection = "Endpoint=sb://h.example/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=mine"
    private static let project = #"{ "credential": "{\"type\":\"metadata_server\",\"project_id\":\"p\"}" }"#

    static let rows: [Row] = [
        Row(
            name: "defaults", text: #"{ "store.path": "/s" }"#,
            settings: [
                "hub.timeout": "default 10", "hub.proxy": "default -", "policy.tags": "default [*]",
                "webPush.privateKeyFile": "derived /s/vapid.key",
                // A platform's group without any value is not there.
                "apns.topic": "absent", "apns.timeout": "absent",
            ]),
        Row(
            name: "values that follow from others",
            text: #"{ "store.path": "/s", "auth.method": "test", "hub.connectionString": "\#(connection)" }"#,
            settings: [
                "auth.methods": "derived [test, session]", "auth.method": "file test", "hub.name": "derived mine",
            ]),
        Row(
            name: "a credential wins over a variable, and that over the file",
            text: #"{ "store.path": "s", "workers": 3, "session.hours": 5, "localHub.key": "\#(secret)" }"#,
            files: ["credentials/localHub.key": secret + "\n"],
            environment: [
                "APP_BACKEND_WORKERS": "7", "APP_BACKEND_LOCAL_HUB_KEY": secret,
                "APP_BACKEND_POLICY_TAGS": "news,sport", "CREDENTIALS_DIRECTORY": "FOLDER/credentials",
            ],
            settings: [
                "workers": "environment 7", "session.hours": "file 5", "policy.tags": "environment [news, sport]",
                "localHub.key": "credential ***",
                // A path is absolute.
                "store.path": "file FOLDER/s",
            ]),
        Row(
            name: "the password of a proxy with a scheme",
            text: #"{ "store.path": "/s", "hub.proxy": "http://user:secret@proxy.example:3128" }"#,
            settings: ["hub.proxy": "file ***"]),
        Row(
            name: "the password of a proxy without a scheme",
            text: #"{ "store.path": "/s", "hub.proxy": "user:secret@proxy.example:3128" }"#,
            settings: ["hub.proxy": "file ***"]),
        Row(
            name: "an app of a list", text: #"{ "store.path": "/s", "fcm": [\#(project)] }"#,
            settings: ["fcm.0.credential": "file ***", "fcm.0.timeout": "default 10"]),
    ]

    private static func text(_ setting: ConfigurationSetting?) -> String {
        guard let setting else { return "absent" }
        let value =
            switch setting.value {
            case .text(let text): text
            case .list(let texts): "[\(texts.joined(separator: ", "))]"
            case .secret: "***"
            case nil: "-"
            }
        return "\(setting.source.rawValue) \(value)"
    }

    @Test(arguments: rows) func `a setting is shown with its source, and a secret is not shown`(row: Row) throws {
        let written = try WrittenConfiguration(row.text, files: row.files, environment: row.environment)
        let settings = try written.settings()
        let lines = row.settings.keys.sorted().map { key in
            "\(key): \(Self.text(settings[key]))".replacing(written.folder.path, with: "FOLDER")
        }
        #expect(lines == row.settings.map { "\($0.key): \($0.value)" }.sorted())
    }
}
