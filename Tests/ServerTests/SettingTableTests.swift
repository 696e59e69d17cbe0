// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON
import Support
import Testing

@testable import Server

/// A new setting is one row: all that the program does with a key follows from it.
struct SettingTableTests {
    /// Settings that no program has: a number, and a secret that only a restart changes.
    private static let table = SettingTable(
        SettingTable.all.sections + [
            SettingTable.Section(
                title: "Tests",
                rows: [
                    .number("test.lines", \.sessionHours, 1...9, "Lines of [a page](../page.md)."),
                    .text("test.word", \.realm, is: [.secret, .fixed], "The word of the day.") {
                        $0.contains(" ") ? "must be one word" : nil
                    },
                ])
        ])

    private static func load(
        _ members: String, _ folder: ScratchFolder, _ variables: [String: String] = [:]
    ) throws -> (SiteConfiguration?, [ConfigurationFault]) {
        let file = try folder.write(#"{ "store.path": "/s", \#(members) }"#, to: "app-backend.json")
        #expect(chmod(file, 0o600) == 0)
        return SiteConfiguration.load(file: file, environment: Environment(variables), table: table)
    }

    /// Members of the file, and the faults: the key, and the reason.
    private static let faults = [
        (#""test": { "lines": 10 }"#, "test.lines: must be a whole number from 1 to 9"),
        (#""test": { "word": "two words" }"#, "test.word: must be one word"),
        (#""test": { "word": ["one"] }"#, "test.word: must be one value, not a list"),
        (#""test": { "wrod": "one" }"#, "test.wrod: there is no such key; did you mean test.word?"),
    ]

    @Test(arguments: faults) func `a wrong value of a new row is refused`(row: (members: String, fault: String)) throws
    {
        let faults = try Self.load(row.members, ScratchFolder()).1
        #expect(faults.map { "\($0.key): \($0.reason)" } == [row.fault])
    }

    @Test func `a new row is read from the file, a variable and a credential, and its secret is not shown`() throws {
        let folder = try ScratchFolder()
        _ = try folder.makeFolder("credentials")
        try folder.write("tuesday\n", to: "credentials/test.word")
        let variables = ["APP_BACKEND_TEST_LINES": "5", "CREDENTIALS_DIRECTORY": folder.path("credentials")]
        let (read, faults) = try Self.load(#""test": { "lines": 3, "word": "monday" }"#, folder, variables)
        let configuration = try #require(read)
        #expect(faults == [] && configuration.sessionHours == 5 && configuration.realm == "tuesday")
        let shown = try SiteConfiguration.settings(
            of: configuration, file: folder.path("app-backend.json"), environment: Environment(variables))
        #expect(
            shown.settings.filter { $0.key.hasPrefix("test.") } == [
                ConfigurationSetting(key: "test.lines", value: .text("5"), source: .environment),
                ConfigurationSetting(key: "test.word", value: .secret, source: .credential),
            ])
    }

    @Test func `a secret of a new row is named in a file that is open to others`() throws {
        let folder = try ScratchFolder()
        let file = try folder.write(#"{ "store.path": "/s", "test.word": "monday" }"#, to: "app-backend.json")
        #expect(chmod(file, 0o640) == 0 && chmod(file, 0o644) == 0)
        let (configuration, _) = SiteConfiguration.load(
            file: file, environment: Environment([:]), table: Self.table)
        #expect(try #require(configuration).exposures.map(\.key) == ["test.word"])
    }

    @Test func `a reload changes a new row, unless the row waits for a restart`() throws {
        let folder = try ScratchFolder()
        let running = try #require(try Self.load(#""test": { "lines": 3, "word": "monday" }"#, folder).0)
        var wanted = try #require(try Self.load(#""test": { "lines": 4, "word": "friday" }"#, folder).0)
        #expect(wanted.keepFixed(of: running) == ["test.word"])
        #expect(wanted.sessionHours == 4 && wanted.realm == "monday")
    }

    @Test func `a new row is in the schema, by both spellings, with its words`() throws {
        let properties = try JSONValue(parsing: Array(Self.table.schema.utf8))["properties"]
        let row = properties?["test.lines"]
        #expect(row?["maximum"]?.integer == 9 && row?["default"]?.integer == 168)
        #expect(row?["description"]?.string == "Lines of a page.")
        #expect(properties?["test.word"]?["writeOnly"]?.bool == true)
        let reference = properties?["test"]?["properties"]?["lines"]?["$ref"]
        #expect(reference?.string == "#/properties/test.lines")
    }

    @Test func `each key has one row, with sentences`() {
        let rows = SettingTable.all.sections.flatMap(\.rows)
        #expect(Set(rows.map(\.key)).count == rows.count)
        #expect(rows.filter { !$0.about.hasSuffix(".") }.map(\.key) == [])
    }

    @Test func `the schema of the documentation is the program's`() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../docs/reference/settings.schema.json").standardized
        let documented = try JSONValue(parsing: Array(Data(contentsOf: file)))
        #expect(
            try documented == JSONValue(parsing: Array(SettingTable.all.schema.utf8)),
            "build the program and run script/reference")
    }

    @Test func `a file may name the schema`() throws {
        #expect(try WrittenConfiguration(#"{ "$schema": "settings.schema.json", "store.path": "/s" }"#).faults == [])
        let faults = try WrittenConfiguration(#"{ "store.path": "/s", "hub": { "$schema": "x" } }"#).faults
        #expect(faults.map(\.key) == ["hub.$schema"])
    }
}
