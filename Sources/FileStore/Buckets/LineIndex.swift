// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
internal import Text

/// Where in a bucket's file the lines of each record are, as far as one process has read the file (`FileTail`).
struct LineIndex {
    /// A file with more entries is not indexed: it is one of a key that is in very many records.
    static let maximumEntries = 8_192

    /// A line under one of its names. 32 bits of a keyed hash stand for the name: two names may share them.
    private struct Entry {
        let hash: UInt32
        let start: UInt32
        /// The entry before of the same slot, counted from 1; 0: none.
        var previous: UInt32
    }

    private var entries: [Entry] = []
    /// For each slot the last entry, counted from 1. As many slots as a power of two.
    private var slots: [UInt32] = []
    /// Lines of another form than this program writes, which may be of any name.
    private var unclear: [Int] = []
    private var tail = FileTail()
    private var isTooLarge = false

    var count: Int { entries.count + unclear.count }
    /// As `FileTail.seen`.
    var seen: FileIdentity? { tail.seen }

    /// Reads what was appended since the last call, or all of a file that is not the one that was read then.
    mutating func catchUp(with file: OpenFile, _ names: LineNames) throws(StoreError) {
        guard let lines = try tail.read(file, skipsAppended: isTooLarge) else { return }
        if lines.areAll { (entries, slots, unclear, isTooLarge) = ([], [], [], false) }
        lines.forEach { raw, start in
            guard !isTooLarge else { return }
            if !names.forEach(of: raw.bytes, { insert($0, at: start) }) { unclear.append(start) }
            isTooLarge = count > Self.maximumEntries
        }
        if isTooLarge { (entries, slots, unclear) = ([], [], []) }
    }

    private mutating func insert(_ hash: UInt32, at start: Int) {
        if entries.count >= slots.count { grow() }
        entries.append(Entry(hash: hash, start: UInt32(truncatingIfNeeded: start), previous: 0))
        link(entries.count - 1)
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: max(64, slots.count * 2))
        for index in entries.indices { link(index) }
    }

    private mutating func link(_ index: Int) {
        let slot = Int(truncatingIfNeeded: entries[index].hash) & (slots.count - 1)
        entries[index].previous = slots[slot]
        slots[slot] = UInt32(truncatingIfNeeded: index + 1)
    }

    /// Where the lines of that name begin, in their order, and those that may be.
    /// - Returns: nil where there are more than `limit`, or too many lines to know.
    func starts(of hash: UInt32, limit: Int) -> [Int]? {
        guard !isTooLarge, unclear.count <= limit else { return nil }
        guard !slots.isEmpty else { return unclear }
        var found = unclear
        var next = slots[Int(truncatingIfNeeded: hash) & (slots.count - 1)]
        while next > 0 {
            let entry = entries[Int(next) - 1]
            if entry.hash == hash { found.append(Int(entry.start)) }
            guard found.count <= limit else { return nil }
            next = entry.previous
        }
        return found.sorted()
    }
}

/// The names under which a table's lines are indexed: of the record, and, where a key has many, of the key.
struct LineNames {
    private let hash: SipHash
    private let prefilter: LinePrefilter
    private let schema: TableSchema

    init(_ hash: SipHash, _ schema: TableSchema) {
        (self.hash, self.schema) = (hash, schema)
        prefilter = LinePrefilter(schema, key: nil, id: nil)
    }

    /// What `forEach(of:_:)` gives of the lines of that key, or of its record of that id; nil where the lines of a key are not
    /// indexed.
    func name(key: String, id: JSONValue?) -> UInt32? {
        let key = LinePrefilter.bytes(.string(key))
        if schema.keyIsID { return name(id: key, key: nil) }
        guard let id else { return schema.listsKeys ? name(key: key) : nil }
        return name(id: LinePrefilter.bytes(id), key: key)
    }

    /// - Returns: false for a line of another form.
    func forEach(of line: UnsafeBufferPointer<UInt8>, _ body: (UInt32) -> Void) -> Bool {
        guard let (id, key) = prefilter.names(of: line) else { return false }
        body(name(id: id, key: key))
        if let key, schema.listsKeys { body(name(key: key)) }
        return true
    }

    private func name(key: some Sequence<UInt8>) -> UInt32 { UInt32(truncatingIfNeeded: hash(key)) }

    private func name<Bytes: Sequence<UInt8>>(id: Bytes, key: Bytes?) -> UInt32 {
        UInt32(truncatingIfNeeded: hash(id) &+ (key.map { hash($0) } ?? 0) &* 3)
    }

    private func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.withContiguousStorageIfAvailable { hash.hash($0) } ?? 0
    }
}
