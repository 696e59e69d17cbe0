// SPDX-License-Identifier: Apache-2.0
internal import JSON
package import Text

/// A whole site as JSON Lines: a header, a line for each record, and a last line that counts them, so that a
/// reader knows that nothing is missing.
///
///     {"export":"app-backend","format":1,"version":"0.1.0","exportedAt":"2026-11-21T12:00:00Z"}
///     {"table":"users","id":"alice","passwordHash":"$y$…","version":3}
///     {"export":"end","records":1,"tables":{"users":1}}
package enum Export {
    /// The only format there is.
    static let format = 1
    static let name = "app-backend"
    static let end = "end"
    static let member = "export"

    /// How many records of each table there are.
    typealias Counts = [String: Int]
}

/// Makes the lines of an export.
package struct ExportWriter: Sendable {
    package private(set) var counts: [String: Int] = [:]

    package init() {}

    /// The first line.
    /// - Parameter version: of this program, for people.
    package func header(version: String, now: Timestamp) -> [UInt8] {
        Self.line {
            $0.member(Export.member, Export.name)
            $0.member("format", Export.format)
            $0.member("version", version)
            $0.member("exportedAt", now.text)
        }
    }

    package mutating func line(_ record: StoredRecord) -> [UInt8] {
        counts[record.table, default: 0] += 1
        return record.line
    }

    /// The last line.
    package var trailer: [UInt8] {
        Self.line { json in
            json.member(Export.member, Export.end)
            json.member("records", counts.values.reduce(0, +))
            json.member("tables") { $0.members(counts) }
        }
    }

    private static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        JSONWriter.object(body).bytes + [0x0A]
    }
}

/// Reads the lines of an export, one after the other.
package struct ExportReader: Sendable {
    /// Of each table, as far as it was read.
    package private(set) var counts: [String: Int] = [:]
    /// Whether the first line was read, and was one.
    package private(set) var hasBegun = false
    /// Whether the last line was read, so that nothing is missing.
    package private(set) var hasEnded = false

    private let decoders: [String: StoredRecord.Decoder]

    /// - Parameter decoders: how a line of each table is read.
    package init(decoders: [String: StoredRecord.Decoder] = StoredRecord.decoders) {
        self.decoders = decoders
    }

    /// - Parameter line: without its line feed.
    /// - Returns: nil for the first line and the last.
    /// - Throws: `ExportFault`; the line counts as none then, and the next one can be read.
    package mutating func read(_ line: UnsafeBufferPointer<UInt8>) throws(ExportFault) -> StoredRecord? {
        guard !hasEnded else { throw ExportFault(reason: "comes after the end") }
        let value = try ExportFault.parse(line)
        guard hasBegun else {
            try Self.checkHeader(value)
            hasBegun = true
            return nil
        }
        if value[Export.member]?.string == Export.end {
            hasEnded = true
            try checkCounts(value)
            return nil
        }
        let record = try StoredRecord(value, decoders)
        counts[record.table, default: 0] += 1
        return record
    }

    private static func checkHeader(_ value: JSONValue) throws(ExportFault) {
        guard value[Export.member]?.string == Export.name, let format = value["format"]?.integer else {
            throw ExportFault(reason: "is not the first line of an export")
        }
        guard format == Export.format else {
            throw ExportFault(
                reason: "format \(format) is that of another version; this one knows format \(Export.format)")
        }
    }

    private func checkCounts(_ value: JSONValue) throws(ExportFault) {
        let members = value["tables"]?.members ?? []
        let counted = Dictionary(members.map { ($0.name, $0.value.integer ?? -1) }) { first, _ in first }
        guard counted == counts else {
            throw ExportFault(reason: "counts other records than there are: lines were lost, added or refused")
        }
    }
}
