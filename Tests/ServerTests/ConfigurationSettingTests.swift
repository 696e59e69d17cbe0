// SPDX-License-Identifier: Apache-2.0
import Support
import Testing

@testable import Server

/// What an operator is shown of the configuration: values in force, and where they are from.
struct ConfigurationSettingTests {
    private func settings(
        _ text: String, files: [String: String] = [:], environment: [String: String] = [:]
    ) throws -> [String: ConfigurationSetting] {
        let written = try WrittenConfiguration(text, files: files, environment: environment)
        let configuration = try #require(written.configuration)
        let variables = environment.mapValues { $0.replacing("FOLDER", with: written.folder.path) }
        let file = written.folder.path("app-backend.json")
        let found = try SiteConfiguration.settings(
            of: configuration, file: file, environment: Environment(variables))
        #expect(found.file == file)
        return Dictionary(uniqueKeysWithValues: found.settings.map { ($0.key, $0) })
    }

    private static let files = [
        "ca.pem": "-----BEGIN CERTIFICATE-----\n", "key.p8": TestCredentials.appleKey,
        "google.json": TestCredentials.google, "hook": ConfigurationValueTests.webhookSecret,
        "both.pem": TestCredentials.certificate + TestCredentials.certificateKey,
        "encrypted.pem": TestCredentials.certificate + TestCredentials.encryptedKey,
    ]

    @Test(arguments: ConfigurationValueTests.rows)
    func `a key that is set is from the file, and a secret is not shown`(row: ConfigurationValueTests.Row) throws {
        let path = row.members.hasPrefix(#""store."#) ? "" : #""store.path": "/s", "#
        let settings = try settings("{ \(path)\(row.members) }", files: Self.files)
        let setting = try #require(settings[row.key])
        #expect(setting.source == .file && setting.value != nil)
        #expect((setting.value == .secret) == Self.hidden.contains(row.key))
    }

    /// The values of the table have a password in the proxy of browsers' services.
    private static let hidden = Set(SiteConfiguration.secretKeys).union(["webPush.proxy"])

    @Test func `a key that is not set has its default, or follows from others`() throws {
        let plain = try settings(#"{ "store.path": "/s" }"#)
        #expect(plain["hub.timeout"] == ConfigurationSetting(key: "hub.timeout", value: .text("10"), source: .default))
        #expect(plain["hub.proxy"] == ConfigurationSetting(key: "hub.proxy", value: nil, source: .default))
        #expect(plain["policy.tags"]?.value == .list(["*"]))
        #expect(plain["webPush.privateKeyFile"]?.value == .text("/s/vapid.key"))
        #expect(plain["webPush.privateKeyFile"]?.source == .derived)
        // A platform's group without any value is not there.
        #expect(plain["apns.topic"] == nil && plain["apns.timeout"] == nil)
        let connection = "Endpoint=sb://h.example/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=mine"
        let derived = try settings(
            #"{ "store.path": "/s", "auth.method": "test", "hub.connectionString": "\#(connection)" }"#)
        let methods = ConfigurationSetting(key: "auth.methods", value: .list(["test", "session"]), source: .derived)
        #expect(derived["auth.methods"] == methods && derived["auth.method"]?.source == .file)
        #expect(derived["hub.name"] == ConfigurationSetting(key: "hub.name", value: .text("mine"), source: .derived))
    }

    @Test func `a credential wins over a variable, and that over the file`() throws {
        let secret = "0123456789abcdef0123456789abcdef"
        let found = try settings(
            #"{ "store.path": "s", "workers": 3, "session.hours": 5, "localHub.key": "\#(secret)" }"#,
            files: ["credentials/localHub.key": secret + "\n"],
            environment: [
                "APP_BACKEND_WORKERS": "7", "APP_BACKEND_LOCAL_HUB_KEY": secret,
                "APP_BACKEND_POLICY_TAGS": "news,sport",
                "CREDENTIALS_DIRECTORY": "FOLDER/credentials",
            ])
        #expect(found["workers"] == ConfigurationSetting(key: "workers", value: .text("7"), source: .environment))
        #expect(found["session.hours"]?.source == .file)
        #expect(found["policy.tags"]?.value == .list(["news", "sport"]))
        #expect(found["policy.tags"]?.source == .environment)
        let key = ConfigurationSetting(key: "localHub.key", value: .secret, source: .credential)
        #expect(found["localHub.key"] == key)
        // A path is absolute.
        guard case .text(let store) = found["store.path"]?.value else {
            Issue.record("no path")
            return
        }
        #expect(store.hasPrefix("/") && store.hasSuffix("/s"))
    }

    @Test(arguments: ["user:secret@proxy.example:3128", "http://user:secret@proxy.example:3128"])
    func `the password of a proxy is not shown, with a scheme before it or without`(proxy: String) throws {
        let found = try settings(#"{ "store.path": "/s", "hub.proxy": "\#(proxy)" }"#)
        #expect(found["hub.proxy"]?.value == .secret)
    }

    @Test func `an app of a list has keys of its own, and defaults`() throws {
        let project = #"{ "credential": "{\"type\":\"metadata_server\",\"project_id\":\"p\"}" }"#
        let found = try settings(#"{ "store.path": "/s", "fcm": [\#(project)] }"#)
        #expect(found["fcm.0.credential"]?.value == .secret && found["fcm.0.credential"]?.source == .file)
        let timeout = ConfigurationSetting(key: "fcm.0.timeout", value: .text("10"), source: .default)
        #expect(found["fcm.0.timeout"] == timeout)
    }
}
