// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
internal import Text

/// A record that comes from another store, and where it goes.
struct ImportRecord {
    let table: BucketTable
    let id: JSONValue
    let key: String
    let line: [UInt8]
    let postings: [IndexPosting]

    init(_ table: BucketTable, _ record: some LineRecord, id: JSONValue, key: String, postings: [IndexPosting] = []) {
        self.table = table
        self.id = id
        self.key = key
        self.postings = postings
        line = LineCodec.encode { record.write(to: &$0) }
    }

    init<Record: IndexedRecord>(_ table: IndexedTable<Record>, _ record: Record) {
        let postings = table.entries(record).map { IndexPosting(id: record.id, entry: $0) }
        self.init(table.records, record, id: .string(record.id), key: record.id, postings: postings)
    }

    var name: RecordName { RecordName(id: id, key: table.schema.keyIsID ? nil : key) }
}

extension BucketTable {
    typealias Placed = (hash: UInt64, element: ImportRecord)

    /// Adds those of the records whose names are free, and before them what leads to them.
    ///
    /// The postings are not written under the lock of each record, as those of other writes are, but for all records at once.
    /// A caller that makes a record of the same name at this moment, and removes it again, deletes its postings, and
    /// ours with them. Hence they are looked for once more when the records are there.
    /// - Returns: how many were added.
    func put(_ records: [ImportRecord], now: Timestamp) throws(StoreError) -> Int {
        var new: [Placed] = []
        try forEachFile(holding: records.map { (hash: hash(of: $0.key), element: $0) }) { (group, content) in
            new += free(group, in: content, now: now)
        }
        try addPostings(of: new)
        // They come in the order of their hashes.
        let added = try append(new, now: now)
        try addPostings(of: new)
        return added
    }

    private func addPostings(of records: [Placed]) throws(StoreError) {
        let postings = records.flatMap(\.element.postings)
        for (_, postings) in Dictionary(grouping: postings, by: { $0.entry.table.schema.name }) {
            _ = try postings.first?.entry.table.add(postings)
        }
    }

    /// - Parameter records: sorted by their hashes.
    private func append(_ records: [Placed], now: Timestamp) throws(StoreError) -> Int {
        var rest = records[...]
        var added = 0
        while let first = rest.first {
            let count = try write(first.element.key, now: now) { (bucket) throws(StoreError) -> Int in
                // Under the lock the file is not split, so what it holds is known for good.
                let range = HashRange(first: first.hash, end: nextHash(first.hash, depth: depth(first.hash)))
                let group = rest.prefix { range.contains($0.hash) }
                let new = free(group, in: try bucket.content(), now: now)
                if !new.isEmpty { try bucket.append(new.flatMap(\.element.line)) }
                added += new.count
                return group.count
            }
            rest = rest.dropFirst(count)
        }
        return added
    }

    /// Those whose names no record in the file has that has not expired; of those that come twice, the first.
    private func free(_ group: ArraySlice<Placed>, in content: BucketContent?, now: Timestamp) -> [Placed] {
        let records = CurrentRecords(content, self)
        var seen: Set<RecordName> = []
        return group.filter { record in
            let name = record.element.name
            let line = records[name].flatMap { records.line(of: $0) }
            if let line, !schema.isExpired(line.value, now: now) { return false }
            return seen.insert(name).inserted
        }
    }
}
