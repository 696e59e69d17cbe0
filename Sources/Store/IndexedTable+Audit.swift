// SPDX-License-Identifier: Apache-2.0
internal import Text

/// What the indexes of a table should hold and do not.
///
/// Everything is read a file at a time, and so many hints are gathered that each file of the other side is read for
/// many of them at once.
struct IndexAudit {
    /// Hints that are held in memory together: some 10 MB.
    static let batch = 50_000
    /// A record that ends so soon is not looked for: its hint may end before it, in seconds.
    static let endingSeconds: Int64 = 3_600

    let now: Timestamp
    var batch = Self.batch

    fileprivate func isAwaited(_ entry: IndexEntry) -> Bool {
        entry.expiresAt.map { $0 > now + Self.endingSeconds } ?? true
    }
}

extension IndexedTable {
    /// The tables that hold its indexes, which the entries of any record name.
    typealias Missing = (_ index: BucketTable, _ hints: [Hint]) throws(StoreError) -> Void

    /// Calls `body` with the hints that records should have and that no index has, those of one file together.
    func forEachMissingHint(_ audit: IndexAudit, _ body: Missing) throws(StoreError) {
        var wanted: [Hint] = []
        try records.forEachFile { (content, _) throws(StoreError) in
            for record in allRecords(in: content) {
                for entry in entries(record) where audit.isAwaited(entry) {
                    wanted.append(Hint(id: record.id, entry: entry))
                }
            }
            guard wanted.count >= audit.batch else { return }
            try lookFor(wanted, body)
            wanted.removeAll(keepingCapacity: true)
        }
        try lookFor(wanted, body)
    }

    private func lookFor(_ wanted: [Hint], _ body: Missing) throws(StoreError) {
        for (_, hints) in Dictionary(grouping: wanted, by: { $0.entry.table.schema.name }) {
            guard let index = hints.first?.entry.table else { continue }
            let sorted = hints.map { (hash: index.hash(of: $0.entry.key), element: $0) }
            try index.forEachFile(holding: sorted) { (group, content) throws(StoreError) in
                let missing = index.missing(group.lazy.map(\.element), in: content)
                if !missing.isEmpty { try body(index, missing) }
            }
        }
    }

    /// Whether the record is there, lists itself so, and the index does not have it. Asked again for a hint that was
    /// missed while others write: the record may have been changed between the two readings.
    func isReallyMissing(_ hint: Hint) throws(StoreError) -> Bool {
        guard let before = try record(hint.id), hint.entry.isIn(entries(before)) else { return false }
        let index = hint.entry.table
        guard try index.missing([hint], in: index.read(hint.entry.key)).count == 1 else { return false }
        // A hint is taken back only behind the record's next line, so the same version means that nobody did.
        return try record(hint.id)?.version == before.version
    }

    /// All records of a file, in no order.
    func allRecords(in content: BucketContent) -> [Record] {
        var found: [[UInt8]: Record] = [:]
        records.forEachLine(content) { line in
            if line.op == nil {
                found[Array(line.key.utf8)] = Record(line: line.value)
            } else if line.op == deleteOp {
                found[Array(line.key.utf8)] = nil
            }
        }
        return Array(found.values)
    }
}
