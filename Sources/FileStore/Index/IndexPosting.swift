// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
internal import Text

/// What an index line says: the record of that id is listed under that key.
struct IndexPosting {
    typealias Placed = (hash: UInt64, element: IndexPosting)

    let id: String
    let entry: IndexEntry

    /// The postings by their tables, each time in the order of their hashes.
    static func placed(_ postings: [IndexPosting]) -> [(table: BucketTable, postings: ArraySlice<Placed>)] {
        Dictionary(grouping: postings) { $0.entry.table.schema.name }.values.compactMap { postings in
            guard let table = postings.first?.entry.table else { return nil }
            let placed = postings.map { (hash: table.hash(of: $0.entry.key), element: $0) }
            return (table, placed.sorted { $0.hash < $1.hash }[...])
        }
    }
}

extension BucketTable {
    /// Those of the postings that the file does not have, each once.
    func missing(_ postings: some Sequence<IndexPosting>, in content: BucketContent?) -> [IndexPosting] {
        let listed = CurrentRecords(content, self)
        var seen: Set<RecordName> = []
        return postings.filter { posting in
            let name = RecordName(id: .string(posting.id), key: schema.keyIsID ? nil : posting.entry.key)
            // A line that cannot be read counts as absent, and goes when its file is rewritten.
            if let line = listed[name], listed.line(of: line) != nil { return false }
            return seen.insert(name).inserted
        }
    }

    /// As `missing(_:in:)`, in all files.
    func missing(_ postings: [IndexPosting]) throws(StoreError) -> [IndexPosting] {
        var missing: [IndexPosting] = []
        let placed = postings.map { (hash: hash(of: $0.entry.key), element: $0) }
        try forEachFile(holding: placed) { (group, content) in
            missing += self.missing(group.lazy.map(\.element), in: content)
        }
        return missing
    }

    /// Adds those of the postings that are missing, durably.
    ///
    /// Under the lock of the index alone, not of the records: a record that is changed or removed at this moment may
    /// leave a dangling posting, which readers pass over; since none is deleted, none can be lost.
    /// - Returns: how many were missing.
    func add(_ postings: [IndexPosting]) throws(StoreError) -> Int {
        var rest = postings.map { (hash: hash(of: $0.entry.key), posting: $0) }.sorted { $0.hash < $1.hash }[...]
        var added = 0
        while let first = rest.first {
            let count = try write(first.posting.entry.key) { (bucket) throws(StoreError) -> Int in
                // The file was perhaps split since the postings were looked for; under the lock that cannot happen.
                let range = HashRange(first: first.hash, end: nextHash(first.hash, depth: depth(first.hash)))
                let group = rest.prefix { range.contains($0.hash) }
                let missing = self.missing(group.map(\.posting), in: try bucket.content())
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
    /// Postings that are in memory together: some 10 MB.
    private static var batch: Int { 50_000 }
    /// A record that ends so soon is passed over: its posting may end before it, in seconds.
    private static var endingSeconds: Int64 { 3_600 }

    /// Calls `body` with the postings that the records should have, many of one index at once.
    func forEachBatch(
        now: Timestamp, _ body: (_ index: BucketTable, _ postings: [IndexPosting]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var wanted: [IndexPosting] = []
        func handOver() throws(StoreError) {
            for (_, postings) in Dictionary(grouping: wanted, by: { $0.entry.table.schema.name }) {
                if let index = postings.first?.entry.table { try body(index, postings) }
            }
            wanted.removeAll(keepingCapacity: true)
        }
        try records.forEachFile { (content, _) throws(StoreError) in
            for record in CurrentRecords(content, records).decoded(as: Record.self) {
                for entry in entries(record) where entry.expiresAt.map({ $0 > now + Self.endingSeconds }) ?? true {
                    wanted.append(IndexPosting(id: record.id, entry: entry))
                }
            }
            if wanted.count >= Self.batch { try handOver() }
        }
        try handOver()
    }

    /// Those of the postings of one index whose records are there and list themselves so, and that the index does not have.
    /// They are looked for once more because other processes write: a record may have been changed between two readings.
    func reallyMissing(_ postings: [IndexPosting]) throws(StoreError) -> [IndexPosting] {
        guard let index = postings.first?.entry.table else { return [] }
        let before = try versions(of: postings)
        let missing = try index.missing(postings.filter { before[$0.id] != nil })
        // A posting is deleted only behind the record's next line, so the same version means that it was not.
        let after = try versions(of: missing)
        return missing.filter { after[$0.id] == before[$0.id] }
    }

    /// The versions of those records that are listed as their postings say, by id. Each file is read once.
    private func versions(of postings: [IndexPosting]) throws(StoreError) -> [String: Int] {
        var versions: [String: Int] = [:]
        try records.forEachFile(holding: postings.map { (hash: records.hash(of: $0.id), element: $0) }) {
            (group, content) in
            let current = CurrentRecords(content, records)
            for (_, posting) in group {
                guard let record = current.decoded(posting.id, as: Record.self), posting.entry.isIn(entries(record))
                else { continue }
                versions[posting.id] = record.version
            }
        }
        return versions
    }
}
