// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension FileSiteStore {
    /// Reads every line of the store, and looks for every record in its indexes.
    /// Changes nothing, also no store that is open for reading only; others may read and write meanwhile.
    /// - Parameter onTable: hears the name of each table when all of it was read.
    /// - Throws: when a file cannot be read at all.
    package func verify(
        now: Timestamp, onTable: (_ name: String) -> Void = { _ in }
    ) throws(StoreError) -> StoreReport {
        var report = StoreReport()
        report.isUnopenedCopy = !CleanMarker(context).isHere
        for table in tables + (try dueTables()) {
            try table.forEachFile { (content, range) in table.verifyLines(content, range, &report) }
            onTable(table.schema.name)
        }
        func count(_ table: IndexedTable<some IndexedRecord>) throws(StoreError) {
            try table.forEachBatch(now: now) { (index, postings) throws(StoreError) in
                let missing = try table.reallyMissing(index.missing(postings)).count
                if missing > 0 { report.missingIndexLines[index.schema.name, default: 0] += missing }
            }
        }
        try count(deviceTable)
        try count(registrationTable)
        try count(sessionTable)
        try count(tokenTable)
        return report
    }
}

extension BucketTable {
    fileprivate func verifyLines(_ content: BucketContent, _ range: HashRange, _ report: inout StoreReport) {
        content.forEachLine { raw in
            report.lines += 1
            do throws(LineFault) {
                let line = try LineCodec.decode(raw.bytes, schema)
                if !line.hasValidChecksum { report.editedLines += 1 }
                guard !range.contains(hash(of: line.key)) else { return }
                // Moved by hand, or under another salt: that of another store's store.json.
                throw LineFault(reason: "is in the wrong file")
            } catch {
                // Every line ends so. A damaged one that has lost its end as well cannot be told from one cut short.
                if raw.bytes.last != UInt8(ascii: "}"), Self.mayBegin(raw.bytes) {
                    report.cutLines += 1
                    return
                }
                report.add(StoreReport.Fault(file: content.name, line: raw.number, reason: error.reason))
            }
        }
        verifyTail(content, &report)
    }

    /// What follows the last line feed may still be on its way. Zeros, as a loss of power leaves them, are not.
    private func verifyTail(_ content: BucketContent, _ report: inout StoreReport) {
        let end = content.bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let tail = content.bytes[end...]
        guard !tail.isEmpty, !Self.mayBegin(tail) else { return }
        let number = content.bytes.prefix(end).count { $0 == 0x0A } + 1
        report.add(StoreReport.Fault(file: content.name, line: number, reason: "is no line of this store"))
    }

    /// Whether a line of this store can begin so: with an object, and without the control characters that JSON has not.
    private static func mayBegin(_ bytes: some Collection<UInt8>) -> Bool {
        (bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "#")) && bytes.allSatisfy { $0 >= 0x20 }
    }
}

/// What a look at every line of a store has found. It names files and lines, never what they hold.
package struct StoreReport: Equatable, Sendable {
    /// A line that something is wrong with.
    package struct Fault: Equatable, Sendable {
        /// Relative to the store's folder.
        package let file: String
        /// From 1.
        package let line: Int
        package let reason: String
    }

    /// So many faults are kept one by one; all are counted.
    static let maximumFaults = 1_000

    /// Lines that were read.
    package internal(set) var lines = 0
    /// Lines that cannot be read, or lie in a file where no call looks for them: what they say is lost.
    package internal(set) var faultyLines = 0
    /// The first of those.
    package internal(set) var faults: [Fault] = []
    /// Lines that end in their middle: their writer died, or they were copied while it wrote. No caller was told that
    /// they were kept.
    package internal(set) var cutLines = 0
    /// Lines that were edited by hand; they count.
    package internal(set) var editedLines = 0
    /// How many lines are missing of each index: their records are there, but are not found by it.
    package internal(set) var missingIndexLines: [String: Int] = [:]
    /// Whether the folder is a copy, or of an older version, and was not opened yet: what is missing in its indexes is
    /// added when it is.
    package internal(set) var isUnopenedCopy = false

    /// Whether all is as it should be.
    package var isWhole: Bool { faultyLines == 0 && (isUnopenedCopy || missingIndexLines.isEmpty) }

    mutating func add(_ fault: Fault) {
        faultyLines += 1
        if faults.count < Self.maximumFaults { faults.append(fault) }
    }
}
