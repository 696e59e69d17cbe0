// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import JSON
import Store
import StoreContract
import Support
import Testing
import Text

/// Lines, folders and exports as versions in use have written them. The records are those of `RecordSample`.
///
/// A new field makes these tests fail until the files are written again: `APP_BACKEND_WRITE_GOLDEN=1 swift test --filter GoldenTests`.
/// Then the difference shows in the commit. A line that is there already may only get members.
@Suite struct GoldenTests {
    private static let records = RecordSample.all.flatMap { [$0.full, $0.bare] }
    private static let settings = #"{"format":3,"salt":"000102030405060708090a0b0c0d0e0f"}"#

    @Test func `an export is written byte for byte, and read`() throws {
        var writer = ExportWriter()
        var bytes = writer.header(version: "0.0.0", now: noon)
        for record in Self.records { bytes += writer.line(record) }
        bytes += writer.trailer
        try Golden("export.jsonl").expect(String(decoding: bytes, as: UTF8.self))
        #expect(try Self.imported("export.jsonl") == Self.records)
    }

    @Test func `a folder of this format is written byte for byte, and read`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.settings, to: "store.json")
        #expect(try folder.open().putRecords(Self.records, now: noon) == Self.records.count)
        let golden = Golden("format-3")
        for file in try folder.files() { try golden.file(file).expect(folder.text(file)) }
        #expect(try folder.files() == golden.folder().files())
        try expectRecords(golden.folder())
    }

    @Test func `a folder of format 2 is read`() throws {
        let folder = try Golden("format-3").folder()
        try folder.write(Self.settings.replacing(#"t":3"#, with: #"t":2"#), to: "store.json")
        try expectRecords(folder)
    }

    @Test func `a folder of format 1 has the export that it had`() throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        var text = ""
        try folder.open().forEachRecord(now: noon) { text += String(decoding: $0.line, as: UTF8.self) }
        try Golden("format-1.jsonl").expect(text)
        #expect(try folder.text("store.json").contains("3"))
    }

    /// For each member the values that a line may have in its place, and how the record is written then.
    @Test func `a line is read or refused by the same rules`() throws {
        let lines = try RecordSample.all.flatMap { sample in
            try Self.members(sample.full).filter { $0.name != "table" }.map { try Self.rules($0.name, sample.full) }
        }
        try Golden("rules.txt").expect(lines.joined(separator: "\n") + "\n")
    }

    private func expectRecords(_ folder: TemporaryFolder) throws {
        let store = try folder.open()
        var found: Set<StoredRecord> = []
        try store.forEachRecord(now: noon) { found.insert($0) }
        #expect(found == Set(Self.records))
        let report = try store.verify(now: noon)
        #expect(report.isWhole && report.editedLines == 0)
        withExtendedLifetime(folder) {}
    }

    private static func imported(_ name: String) throws -> [StoredRecord] {
        var reader = ExportReader()
        let lines = try Golden(name).text().split(separator: "\n").map { Array($0.utf8) }
        let records = try lines.compactMap { try $0.withUnsafeBufferPointer { try reader.read($0) } }
        #expect(reader.hasEnded)
        return records
    }

    // MARK: Rules

    private static let values =
        [
            "null", "false", "true", "-1", "0", "1", "200", "1.5", "2147483648", "9007199254740992",
            "9223372036854775806", "9223372036854775807", "9223372036854775808", #""""#, #""x""#,
            #""2027-01-15T08:00:00Z""#, "[]", #"["x"]"#, "[1]", "[{}]", "{}", #"{"a":1}"#,
        ]

    private static func members(_ record: StoredRecord) throws -> [JSONValue.Member] {
        try JSONValue(parsing: record.line.dropLast()).members ?? []
    }

    private static func rules(_ name: String, _ record: StoredRecord) throws -> String {
        let members = try members(record)
        let others = members.filter { $0.name != name }
        var rules = [(try outcome(others, members)).map { "missing\($0)" }]
        for text in values {
            let value = JSONValue.Member(name, try JSONValue(parsing: Array(text.utf8)))
            rules.append(try outcome(members.map { $0.name == name ? value : $0 }, members).map { text + $0 })
        }
        return "\(record.table).\(name): " + rules.compactMap(\.self).joined(separator: ", ")
    }

    /// - Returns: nil if the line is refused; otherwise the members that the record is written with, if they are others.
    private static func outcome(_ given: [JSONValue.Member], _ before: [JSONValue.Member]) throws -> String? {
        let line = JSONWriter(.object(given)).bytes
        guard let record = try? line.withUnsafeBufferPointer({ try StoredRecord(line: $0) }) else { return nil }
        let written = try members(record)
        if written == given { return "" }
        let names = before.map(\.name)
        let changed = names.filter { name in
            written.first { $0.name == name } != before.first { $0.name == name }
        }
        let texts = changed.map { name in
            name + "=" + (written.first { $0.name == name }.map { JSONWriter($0.value).text } ?? "none")
        }
        return " (\(texts.joined(separator: " ")))"
    }
}

/// A file that a test expects, or a folder of them.
private struct Golden {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures").path
    private static let isWriting = ProcessInfo.processInfo.environment["APP_BACKEND_WRITE_GOLDEN"] != nil

    private let path: String

    init(_ name: String) { path = Self.fixtures + "/" + name }

    func file(_ name: String) -> Golden { Golden(String(path.dropFirst(Self.fixtures.count + 1)) + "/" + name) }

    func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    func expect(_ text: String) throws {
        if Self.isWriting {
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let (found, golden) = (text.split(separator: "\n"), try self.text().split(separator: "\n"))
        for (found, golden) in zip(found, golden) { #expect(found == golden) }
        #expect(found.count == golden.count)
    }

    func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: folder.path + "/" + name)
        }
        return folder
    }
}
