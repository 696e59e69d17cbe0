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

    /// A waiting message, in the file of the queue that it belongs to.
    init(_ table: BucketTable, _ message: HubMessage) {
        self.init(table, QueuedLine(message), id: .string(message.id), key: QueuedLine.key)
    }

    /// Nil if the record's kind does not have the table's key.
    init?<Record: KindRecord>(_ table: BucketTable, kept record: Record) {
        let kind = Record.kind
        guard let content = kind.content("id", of: record), let key = kind.content(table.schema.key, of: record)?.text
        else { return nil }
        let id: JSONValue =
            if case .integer(let number?) = content { .number(String(number)) } else { .string(content.text ?? "") }
        self.init(table, record, id: id, key: key)
    }

    var name: RecordName { RecordName(id: id, key: table.schema.keyIsID ? nil : key) }
}

/// Adds the records of one table, many at once: each file is read once, written to once, and flushed with others.
struct RecordImport {
    typealias Placed = (hash: UInt64, element: ImportRecord)

    let table: BucketTable
    let now: Timestamp
    /// What the files were that were looked through, by their inodes.
    private var seen: [UInt64: FileIdentity] = [:]
    /// Files that are open until they are flushed together.
    static let filesAtOnce = 64

    init(_ table: BucketTable, now: Timestamp) {
        (self.table, self.now) = (table, now)
    }

    /// Adds those of the records whose names are free, and before them what leads to them.
    ///
    /// The postings are not written under the lock of each record, as those of other writes are, but for all records at once.
    /// A caller that makes a record of the same name at this moment, and removes it again, deletes its postings, and
    /// ours with them. Hence they are looked for once more when the records are there.
    /// - Returns: how many were added.
    mutating func put(_ records: [ImportRecord]) throws(StoreError) -> Int {
        var new: [Placed] = []
        try table.forEachFile(holding: records.map { (hash: table.hash(of: $0.key), element: $0) }) {
            (group, content) in
            if let content { seen[content.identity.inode] = content.identity }
            new += free(group, in: content)
        }
        let postings = try PostingImport(new.flatMap(\.element.postings), table.context)
        // They come in the order of their hashes.
        let added = try append(new)
        try postings.restore()
        return added
    }

    /// - Parameter records: sorted by their hashes.
    private func append(_ records: [Placed]) throws(StoreError) -> Int {
        var rest = records[...]
        var (added, flushes) = (0, FlushBatch(table.context, maximumFiles: Self.filesAtOnce))
        while let first = rest.first {
            let change = { (bucket: BucketWriter) throws(StoreError) -> Int in
                // Under the lock the file is not split, so what it holds is known for good.
                let group = table.prefix(of: rest)
                // A file that has not changed since it was looked through needs no second look.
                let isKnown = seen[bucket.identity.inode] == bucket.identity && bucket.size == bucket.identity.size
                let new = isKnown ? Array(group) : free(group, in: try bucket.content())
                if !new.isEmpty { try bucket.append(new.flatMap(\.element.line)) }
                added += new.count
                return group.count
            }
            let (count, bucket) = try table.writeWithoutFlush(first.element.key, now: now, change)
            try flushes.add(bucket)
            rest = rest.dropFirst(count)
        }
        try flushes.finish()
        return added
    }

    /// Those whose names no record in the file has that has not expired; of those that come twice, the first.
    private func free(_ group: ArraySlice<Placed>, in content: BucketContent?) -> [Placed] {
        let hashes = Set(group.compactMap { table.lineNames.name(key: $0.element.key, id: $0.element.id) })
        let mayBeThere = content?.hasLine(of: hashes, table.lineNames) ?? false
        let records = CurrentRecords(mayBeThere ? content : nil, table)
        var seen: Set<RecordName> = []
        return group.filter { record in
            let name = record.element.name
            let line = records[name].flatMap { records.line(of: $0) }
            if let line, !table.schema.isExpired(line.value, now: now) { return false }
            return seen.insert(name).inserted
        }
    }
}

extension BucketTable {
    /// The elements in front that lie in the same file as the first. Under the lock of that file.
    /// - Parameter elements: sorted by their hashes.
    func prefix<Element>(
        of elements: ArraySlice<(hash: UInt64, element: Element)>
    ) -> ArraySlice<(hash: UInt64, element: Element)> {
        guard let first = elements.first?.hash else { return elements }
        let range = HashRange(first: first, end: nextHash(first, depth: depth(first)))
        return elements.prefix { range.contains($0.hash) }
    }
}

extension BucketContent {
    /// Whether a line has one of the names, or is of a form that may be of any name.
    fileprivate func hasLine(of hashes: Set<UInt32>, _ names: LineNames) -> Bool {
        var isFound = false
        forEachLine { raw in
            guard !isFound else { return }
            isFound = !names.forEach(of: raw.bytes) { if hashes.contains($0) { isFound = true } } || isFound
        }
        return isFound
    }
}
