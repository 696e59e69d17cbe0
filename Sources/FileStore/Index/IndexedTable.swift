// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
internal import Text

/// A record that others find by more than its id.
protocol IndexedRecord: LineRecord {
    var id: String { get }
    var version: Int { get set }
}

/// Where a record is listed: in `table`, under `key`.
struct IndexEntry {
    let table: BucketTable
    let key: String
    /// When the record, and with it the posting, expires; nil where it stays until it is removed.
    var expiresAt: Timestamp?
}

/// Records by id, with versions, and indexes from other keys to the ids.
///
/// A record's line is the truth; an index line, a posting, is only a hint, verified against the record by every reader.
/// So that no record is ever missing from its indexes, postings are durable *before* the record's line is written, and are
/// deleted only *after* its next line is durable. A crash in between leaves a dangling posting, and nothing else. All
/// postings of one id are written under the lock of that id's record, so they cannot overtake each other. The order of
/// locks is always record (of two, the lower one first), then one index bucket.
struct IndexedTable<Record: IndexedRecord>: Sendable {
    let records: BucketTable
    let entries: @Sendable (Record) -> [IndexEntry]
    private let cache = RecordCache<String, Record>()

    /// What a record takes in memory for each byte of its line, about: its texts, and their places.
    private static var memoryPerByte: Int { 3 }

    /// Costs two `stat` where the file has not changed since the record was last asked for.
    func record(_ id: String) throws(StoreError) -> Record? {
        // Two ids may be equal that only look alike.
        if let known = cache.record(id), known.id.hasSameBytes(as: id) { return known }
        let asked = FileIdentity.clock
        guard let content = try records.readLines(of: id) else { return nil }
        let lines = CurrentRecords(content, records, key: id)
        guard let current = lines.all.first, let record = lines.line(of: current).flatMap({ Record(line: $0.value) })
        else { return nil }
        cache.remember(
            record, as: id, bytes: Self.memoryPerByte * current.newest.count, of: content, in: records.context,
            asked: asked)
        return record
    }

    func record(_ id: String, in content: BucketContent?) -> Record? {
        records.current(id, in: content).flatMap { Record(line: $0) }
    }

    /// Creates the record (version 0) or replaces the one at that version.
    /// - Parameters:
    ///   - durably: false leaves the flush of the record to a later write of its bucket.
    ///   - maximum: how many records may be listed under one key.
    ///   - isCounted: whether a record is one of them.
    ///   - check: looks at the record that is replaced, and may refuse that.
    /// - Throws: `conflict`; `quotaExceeded`; what `check` throws.
    func put(
        _ record: Record, durably: Bool = true, atMost maximum: Int = .max,
        where isCounted: (Record) -> Bool = { _ in true },
        replacing check: (Record) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) -> Record {
        try records.write(record.id, durably: durably) { (bucket) throws(StoreError) -> Record in
            let content = try records.lines(of: record.id, in: bucket.file)
            let oldLine = records.current(record.id, in: content)
            let old = oldLine.flatMap { Record(line: $0) }
            guard record.version == old?.version ?? 0 else { throw .conflict }
            if let old { try check(old) }
            var new = record
            new.version = try records.nextVersion(of: record.id, after: old?.version, in: content)
            let oldEntries = old.map(entries) ?? []
            let newEntries = entries(new)
            try addPostings(newEntries.filter { !$0.isIn(oldEntries) }, id: new.id) { entry, index throws(StoreError) in
                guard maximum < .max else { return }
                let lines = try entry.table.lines(of: entry.key, in: index.file)
                try checkRoom(entry.key, in: lines, entry.table, atMost: maximum, where: isCounted)
            }
            try bucket.append(LineCodec.encode(new, keepingUnknownOf: oldLine))
            try records.deletePostings(oldEntries.filter { !$0.isIn(newEntries) }, id: new.id, bucket)
            return new
        }
    }

    /// - Parameters:
    ///   - content: the lines of that key in the index.
    ///   - maximum: how many records may be listed under the key, with the one to come.
    ///   - isCounted: whether a record is one of them.
    /// - Throws: `quotaExceeded`.
    func checkRoom(
        _ key: String, in content: BucketContent?, _ index: BucketTable, atMost maximum: Int,
        where isCounted: (Record) -> Bool
    ) throws(StoreError) {
        guard Self.ids(key, in: content, index).count >= maximum else { return }
        // Postings may be stale, so those that are right are counted before a request is refused.
        guard try records(key, index).count(where: isCounted) < maximum else { throw .quotaExceeded }
    }

    /// Index files that one write has open at once: all threads may write, and a process has some 1,000 descriptors.
    private static var indexFilesAtOnce: Int { 8 }

    /// Written before the first is waited for, so that they are flushed together.
    /// - Parameter admit: runs before a posting is added, under the lock of its bucket; may refuse.
    private func addPostings(
        _ postings: [IndexEntry], id: String, _ admit: (IndexEntry, BucketWriter) throws(StoreError) -> Void
    ) throws(StoreError) {
        var flushes = FlushBatch(records.context, maximumFiles: Self.indexFilesAtOnce)
        for posting in postings {
            let (_, index) = try posting.table.writeWithoutFlush(posting.key) { (index) throws(StoreError) in
                try admit(posting, index)
                try index.append(posting.line(id: id))
            }
            try flushes.add(index)
        }
        try flushes.finish()
    }

    /// - Parameter version: nil removes whatever version there is.
    /// - Returns: false when there is none.
    /// - Throws: `conflict`.
    func remove(_ id: String, version: Int?) throws(StoreError) -> Bool {
        guard try record(id) != nil else { return false }
        return try records.write(id) { (bucket) throws(StoreError) in try remove(id, version: version, from: bucket) }
    }

    /// As `remove(_:version:)`, while `successor` is there at its version: the locks of both records are held. A caller
    /// that takes two of them takes the lower one first, so no two callers wait for each other.
    /// - Throws: `conflict`.
    func remove(_ id: String, version: Int, inFavorOf successor: Record) throws(StoreError) -> Bool {
        guard try record(id) != nil else { return false }
        let hash = records.hash(of: successor.id)
        let (own, other) = (records.lockIndex(records.hash(of: id)), records.lockIndex(hash))
        let change = { (bucket: BucketWriter) throws(StoreError) -> Bool in
            guard try record(successor.id)?.version == successor.version else { throw .conflict }
            return try remove(id, version: version, from: bucket)
        }
        if other < own {
            return try records.withLock(hash) { () throws(StoreError) in try records.write(id, change) }
        }
        return try records.write(id) { (bucket) throws(StoreError) in
            if other == own { return try change(bucket) }
            return try records.withLock(hash) { () throws(StoreError) in try change(bucket) }
        }
    }

    private func remove(_ id: String, version: Int?, from bucket: BucketWriter) throws(StoreError) -> Bool {
        guard let old = record(id, in: try records.lines(of: id, in: bucket.file)) else { return false }
        guard version == nil || version == old.version else { throw .conflict }
        try bucket.append(LineCodec.removal(of: id, version: old.version))
        try records.deletePostings(entries(old), id: id, bucket)
        return true
    }

    /// The ids that the index has under that key: all that are right, and perhaps some that are not any more.
    static func ids(_ key: String, in content: BucketContent?, _ index: BucketTable) -> [String] {
        CurrentRecords(content, index, key: key).all.map(\.name.idText)
    }

    /// Records that are read one by one, before all records under a key are read together.
    private static var firstTried: Int { 8 }

    /// Whether any record that really is listed under that key is one that is looked for. Of a key of thousands the ids are not
    /// even told apart where one of the first will do.
    func hasRecord(
        _ key: String, _ index: BucketTable, where isWanted: (Record) -> Bool
    ) throws(StoreError) -> Bool {
        let content = try index.readLines(of: key)
        let entry = IndexEntry(table: index, key: key)
        let first = content?.firstIDs(of: key, index.schema, limit: Self.firstTried) ?? (ids: [], areAll: true)
        for id in first.ids {
            if let record = try record(id), entry.isIn(entries(record)), isWanted(record) { return true }
        }
        guard !first.areAll else { return false }
        var isFound = false
        try forEachRecord(key, in: content, index) { isFound = isFound || isWanted($0) }
        return isFound
    }

    /// At most `limit` records behind the id `after` that really are listed under that key, sorted by id.
    func records(
        _ key: String, _ index: BucketTable, after: String? = nil, limit: Int = .max
    ) throws(StoreError) -> [Record] {
        var ids = Self.ids(key, in: try index.readLines(of: key), index).sorted()
        if let after { ids.removeAll { $0 <= after } }
        var found: [Record] = []
        for id in ids {
            if found.count >= limit { break }
            guard let record = try record(id) else { continue }
            if IndexEntry(table: index, key: key).isIn(entries(record)) { found.append(record) }
        }
        return found
    }
}

extension IndexedTable {
    /// Calls `body` with every record that really is listed under that key, in no order of meaning. Of many, those that lie
    /// in one file are read together, so they cost little more than their files.
    func forEachRecord(_ key: String, _ index: BucketTable, _ body: (Record) -> Void) throws(StoreError) {
        try forEachRecord(key, in: try index.readLines(of: key), index, body)
    }

    /// - Parameter content: the lines of that key in the index.
    private func forEachRecord(
        _ key: String, in content: BucketContent?, _ index: BucketTable, _ body: (Record) -> Void
    ) throws(StoreError) {
        let ids = Self.ids(key, in: content, index)
        let entry = IndexEntry(table: index, key: key)
        guard ids.count > Self.firstTried else {
            for id in ids {
                if let record = try record(id), entry.isIn(entries(record)) { body(record) }
            }
            return
        }
        let wanted = ids.map { (hash: records.hash(of: $0), id: $0) }.sorted { $0.hash < $1.hash }
        var bucketContent: BucketContent?
        // The first hash that `bucketContent` does not hold; nil: it holds all that follow.
        var end: UInt64? = 0
        for (hash, id) in wanted {
            if let limit = end, hash >= limit {
                let bucket = try records.open(hash, O_RDONLY)
                bucketContent = nil
                if let file = bucket?.file { bucketContent = try BucketTable.content(of: file) }
                end = records.nextHash(hash, depth: bucket?.depth ?? records.depth(hash))
            }
            guard let record = record(id, in: bucketContent) else { continue }
            if entry.isIn(entries(record)) { body(record) }
        }
    }
}

extension BucketTable {
    /// Failing to delete a posting is no failure of the write, which is durable by then.
    func deletePostings(_ postings: [IndexEntry], id: String, _ bucket: BucketWriter) throws(StoreError) {
        guard !postings.isEmpty else { return }
        try bucket.flush()
        for posting in postings {
            do throws(StoreError) {
                try posting.table.write(posting.key, durably: false) { (index) throws(StoreError) in
                    try index.append(posting.line(id: id, op: deleteOp))
                }
            } catch {
                context.report(.tidyingFailed(file: posting.table.schema.name, error))
            }
        }
    }
}

extension IndexEntry {
    /// The members of an index line: the id, and the key under the index's own name for it.
    func line(id: String, op: String? = nil) -> [UInt8] {
        LineCodec.encode { json in
            json.member("id", id)
            if let op { json.member("op", op) }
            json.member(table.schema.key, key)
            if op == nil, let expiresAt { json.member("expiresAt", expiresAt.text) }
        }
    }

    func isIn(_ entries: [IndexEntry]) -> Bool {
        entries.contains { $0.key.hasSameBytes(as: key) && $0.table.schema.name == table.schema.name }
    }

    /// The schema of a table that holds index lines only.
    static func schema(_ name: String, key: String, expires: Bool = false) -> TableSchema {
        TableSchema(name: name, key: key, expires: expires) { $0["id"]?.string != nil }
    }
}
