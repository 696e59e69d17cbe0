// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Server

/// A key of the configuration is read, listed, and shown with its default.
struct ConfigurationListTests {
    @Test func `a key that is read and not listed is a fault of every configuration`() throws {
        let file = try WrittenConfiguration(#"{ "store.path": "/s", "apns": [{ "topic": "t" }] }"#)
        let environment = Environment([:])
        var reading = ConfigurationReading(
            try ConfigurationSources(file: file.path, environment, CredentialFiles(environment, .all), .all))
        _ = reading.number("workers")
        _ = reading.text("apns.0.topic")
        #expect(reading.defects == [])
        _ = reading.number("inbox.maximumTitle")
        _ = reading.list("apns.0.topics")
        #expect(reading.defects.map(\.key) == ["apns.0.topics", "inbox.maximumTitle"])
    }

    /// They have no default, or that of another key, or a list that is too long to be shown.
    private static let withoutDefault: Set = [
        "auth.method", "secure.text", "secure.locKey", "store.url", "store.connections", "webPush.hosts",
    ]

    @Test func `a key that is not set is shown with its default`() throws {
        let settings = try WrittenConfiguration(#"{ "store.path": "/s" }"#).settings()
        for row in ConfigurationValueTests.rows
        where !SettingTable.all.isInGroup(row.key) && !Self.withoutDefault.contains(row.key)
            && !SettingTable.all.secretKeys.contains(row.key) && row.byDefault != "none"
        {
            let shown: String? =
                switch settings[row.key]?.value {
                case .text(let text): text
                case .list(let texts): texts.joined(separator: ",")
                case .secret: "secret"
                case nil: nil
                }
            #expect((shown ?? "") == row.byDefault, "\(row.key)")
        }
    }
}
