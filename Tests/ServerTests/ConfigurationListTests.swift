// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Server

/// A key of the configuration is read, listed, shown with its default, and has a row in the manual.
struct ConfigurationListTests {
    @Test func `a key that is read and not listed is a fault of every configuration`() throws {
        let file = try WrittenConfiguration(#"{ "store.path": "/s", "apns": [{ "topic": "t" }] }"#)
        let environment = Environment([:])
        var reading = ConfigurationReading(
            try ConfigurationSources(file: file.path, environment, CredentialFiles(environment)))
        _ = reading.number("workers", 1...9)
        _ = reading.text("apns.0.topic")
        #expect(reading.defects == [])
        _ = reading.number("inbox.maximumTitle", 1...9)
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
        where SiteConfiguration.ownKeys.contains(row.key) && !Self.withoutDefault.contains(row.key)
            && !SiteConfiguration.secretKeys.contains(row.key) && row.byDefault != "none"
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

    @Test func `every key has a row in the manual, and every row a key`() throws {
        let page = URL(filePath: #filePath).appending(path: "../../../docs/reference/settings.md").standardized
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
        let names = rows.flatMap { row -> [String] in
            let cell = row.dropFirst(2).split(separator: " |", maxSplits: 1).first ?? ""
            return cell.split(separator: "`").map(String.init).filter { $0.contains(where: \.isLetter) }
        }
        #expect(SiteConfiguration.knownKeys.subtracting(names) == [])
        // Other tables of the page, and rows of whole groups, have names without a group.
        let groups = Set(SiteConfiguration.listGroups.keys)
        let keys = Set(names.filter { $0.contains(".") }).subtracting(groups)
        #expect(keys.subtracting(SiteConfiguration.knownKeys) == [])
    }
}
