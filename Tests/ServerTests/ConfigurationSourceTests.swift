// SPDX-License-Identifier: Apache-2.0
import Support
import Testing

@testable import Server

/// Where a value comes from: a credential before the environment, and that before the file.
struct ConfigurationSourceTests {
    private static let store = #""store": { "path": "/s" }"#
    /// Three keys that are long enough.
    private static let keys = ["one", "two", "three"].map { $0 + "-0123456789abcdef0123456789abcdef" }

    @Test func `the environment wins over the file, and its faults are named as well`() throws {
        let text = #"{ \#(Self.store), "workers": 7 }"#
        let moved = try WrittenConfiguration(
            text, environment: ["APP_BACKEND_STORE_PATH": "/elsewhere", "APP_BACKEND_HUB_PLATFORMS": "fcm, wns"])
        #expect(moved.faults.isEmpty && moved.configuration?.store.folder == "/elsewhere")
        #expect(moved.configuration?.workers == 7)
        #expect(moved.configuration?.hub.platforms.map(\.rawValue) == ["fcm", "wns"])
        #expect(
            try WrittenConfiguration(text, environment: ["APP_BACKEND_WORKERS": "0"]).faults.map(\.key) == ["workers"])
    }

    @Test func `an emptied variable is the same as none`() throws {
        let written = try WrittenConfiguration(
            #"{ \#(Self.store), "auth.realm": "Push" }"#, environment: ["APP_BACKEND_LOG_LEVEL": ""])
        #expect(written.faults.isEmpty && written.configuration?.logLevel == .info)
    }

    @Test func `a credential wins over both`() throws {
        let written = try WrittenConfiguration(
            #"{ \#(Self.store), "localHub": { "key": "\#(Self.keys[0])" } }"#,
            files: ["credentials/localHub.key": Self.keys[2] + "\n"],
            environment: ["APP_BACKEND_LOCAL_HUB_KEY": Self.keys[1], "CREDENTIALS_DIRECTORY": "FOLDER/credentials"])
        #expect(written.faults.isEmpty)
        #expect(written.configuration?.localHub.keys.map { $0.key.reveal() } == [Self.keys[2]])
    }

    /// A good value of each secret, and what else the configuration needs then.
    private static let secrets: [(key: String, value: String)] = [
        ("hub.connectionString", "Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=\(keys[0])"),
        ("localHub.key", keys[0]),
        ("localHub.keys", "SharedAccessKeyName=a;Rights=Send;PrimaryKey=\(keys[0])"),
        ("store.url", "postgresql://db.example/site"),
        ("webPush.privateKey", "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
        ("webPush.formerPrivateKey", "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
        ("apns.key", TestCredentials.appleKey), ("apns.certificatePassword", "password"),
        ("fcm.credential", TestCredentials.google),
        ("wns.secret", "secret"), ("webhooks.secret", ConfigurationValueTests.webhookSecret),
    ]
    /// What else the secrets of an app need.
    private static let others = [
        "apns.key": #", "apns": { "keyId": "KEYID12345", "teamId": "TEAM123456", "topic": "com.example.app" }"#,
        "apns.certificatePassword": #", "apns": { "certificateFile": "encrypted.pem", "topic": "com.example.app" }"#,
        "wns.secret": #", "wns": { "packageSid": "s-1-15-2-1" }"#,
        "webhooks.secret": #", "webhooks": { "url": "https://hook.example/" }"#,
    ]

    @Test(arguments: secrets)
    func `each secret may be a credential, and an unusable one is a fault`(row: (key: String, value: String)) throws {
        let members = #""webPush": { "subject": "mailto:push@example.com" }"# + (Self.others[row.key] ?? "")
        let text = row.key == "store.url" ? "{ \(members) }" : "{ \(Self.store), \(members) }"
        func read(_ files: [String: String]) throws -> WrittenConfiguration {
            let certificate = ["encrypted.pem": TestCredentials.certificate + TestCredentials.encryptedKey]
            return try WrittenConfiguration(
                text, files: files.merging(certificate) { $1 },
                environment: ["CREDENTIALS_DIRECTORY": "FOLDER/credentials"])
        }
        #expect(try read(["credentials/\(row.key)": row.value + "\n"]).faults.isEmpty)
        // An empty one, and one that cannot be read because it is a folder.
        for name in ["credentials/\(row.key)", "credentials/\(row.key)/file"] {
            let faults = try read([name: ""]).faults
            #expect(
                faults.contains { $0.key == row.key && $0.reason.contains("/credentials/\(row.key): ") }, "\(faults)")
        }
    }

    @Test func `the secrets are those that may be credentials`() {
        #expect(Set(Self.secrets.map(\.key)) == Set(SiteConfiguration.secretKeys))
    }

    @Test func `an unusable secret of an app hides no other secret, and is known as an app's`() throws {
        let written = try WrittenConfiguration(
            #"{ "apns": { "keyId": "KEYID12345", "teamId": "TEAM123456", "topic": "com.example.app" } }"#,
            files: [
                "credentials/apns.key": "", "credentials/wns.secret": "",
                "credentials/store.url": "postgresql://db.example/site",
            ], environment: ["CREDENTIALS_DIRECTORY": "FOLDER/credentials"])
        #expect(Set(written.faults.map(\.key)) == ["apns.key", "apns.keyFile", "wns.secret"])
        #expect(written.faults.allSatisfy { $0.isOfApp })
        #expect(written.configuration?.store.key == "store.url")
    }

    @Test(arguments: ["store.url", "workers", "apnsx.key", "webPush.subject"])
    func `a fault elsewhere is no app's`(key: String) {
        #expect(!ConfigurationFault(key: key, reason: "").isOfApp)
    }

    @Test func `lines of a credential are the elements of a list`() throws {
        let lines = ["a", "b"].map { "SharedAccessKeyName=\($0);Rights=Send;PrimaryKey=\(Self.keys[0])" }
        let written = try WrittenConfiguration(
            "{ \(Self.store) }", files: ["credentials/localHub.keys": lines.joined(separator: "\n") + "\n"],
            environment: ["CREDENTIALS_DIRECTORY": "FOLDER/credentials"])
        #expect(written.faults.isEmpty && written.configuration?.localHub.keys.map(\.name) == ["a", "b"])
    }
}
