// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
internal import Text

/// What an index line says: the record of that id is listed under that key.
struct Hint {
    let id: String
    let entry: IndexEntry
}

extension BucketTable {
    /// Those of the hints that the file does not have, each once.
    func missing(_ hints: some Sequence<Hint>, in content: BucketContent?) -> [Hint] {
        let listed = CurrentRecords(content, self)
        var seen: Set<RecordName> = []
        return hints.filter { hint in
            let name = RecordName(id: .string(hint.id), key: hint.entry.key, schema)
            return listed[name] == nil && seen.insert(name).inserted
        }
    }

    /// As `missing(_:in:)`, in all files.
    func missing(_ hints: [Hint]) throws(StoreError) -> [Hint] {
        var missing: [Hint] = []
        let placed = hints.map { (hash: hash(of: $0.entry.key), element: $0) }
        try forEachFile(holding: placed) { (group, content) in
            missing += self.missing(group.lazy.map(\.element), in: content)
        }
        return missing
    }

    /// Adds those of the hints that are missing, durably.
    ///
    /// Under the lock of the index alone, not of the records: a record that is changed or removed at this moment may
    /// leave a hint that leads nowhere, which readers pass over; since none is taken back, none can be lost.
    /// - Returns: how many were missing.
    func add(_ hints: [Hint]) throws(StoreError) -> Int {
        var rest = hints.map { (hash: hash(of: $0.entry.key), hint: $0) }.sorted { $0.hash < $1.hash }[...]
        var added = 0
        while let first = rest.first {
            let count = try write(first.hint.entry.key) { (bucket) throws(StoreError) -> Int in
                // The file was perhaps split since the hints were looked for; under the lock that cannot happen.
                let range = HashRange(first: first.hash, end: nextHash(first.hash, depth: depth(first.hash)))
                let group = rest.prefix { range.contains($0.hash) }
                let missing = self.missing(group.map(\.hint), in: try bucket.content())
                if !missing.isEmpty { try bucket.append(missing.flatMap { $0.entry.line(id: $0.id) }) }
                added += missing.count
                return group.count
            }
            rest = rest.dropFirst(count)
        }
        return added
    }
}

extension IndexedTable {
    /// Hints that are in memory together: some 10 MB.
    private static var batch: Int { 50_000 }
    /// A record that ends so soon is passed over: its hint may end before it, in seconds.
    private static var endingSeconds: Int64 { 3_600 }

    /// Calls `body` with the hints that the records should have, many of one index at once.
    func forEachBatch(
        now: Timestamp, _ body: (_ index: BucketTable, _ hints: [Hint]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var wanted: [Hint] = []
        func handOver() throws(StoreError) {
            for (_, hints) in Dictionary(grouping: wanted, by: { $0.entry.table.schema.name }) {
                if let index = hints.first?.entry.table { try body(index, hints) }
            }
            wanted.removeAll(keepingCapacity: true)
        }
        try records.forEachFile { (content, _) throws(StoreError) in
            for record in CurrentRecords(content, records).decoded(as: Record.self) {
                for entry in entries(record) where entry.expiresAt.map({ $0 > now + Self.endingSeconds }) ?? true {
                    wanted.append(Hint(id: record.id, entry: entry))
                }
            }
            if wanted.count >= Self.batch { try handOver() }
        }
        try handOver()
    }

    /// Whether the record is there, lists itself so, and the index does not have it. Asked again for a hint that was
    /// missed while others write: the record may have been changed between the two readings.
    func isReallyMissing(_ hint: Hint) throws(StoreError) -> Bool {
        guard let before = try record(hint.id), hint.entry.isIn(entries(before)) else { return false }
        let index = hint.entry.table
        guard try !index.missing([hint], in: index.read(hint.entry.key)).isEmpty else { return false }
        // A hint is taken back only behind the record's next line, so the same version means that it was not.
        return try record(hint.id)?.version == before.version
    }
}
