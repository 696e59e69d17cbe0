// SPDX-License-Identifier: Apache-2.0

/// What an index line says: the record of that id is listed under that key.
struct Hint {
    let id: String
    let entry: IndexEntry

    /// Tells it from other hints of the same index. No byte of UTF-8 is 0xFF.
    var name: [UInt8] { Self.name(id: id.utf8, key: entry.key.utf8) }

    static func name(id: some Collection<UInt8>, key: some Collection<UInt8>) -> [UInt8] {
        var name: [UInt8] = []
        name.reserveCapacity(id.count + key.count + 1)
        name += id
        name.append(0xFF)
        name += key
        return name
    }
}

extension BucketTable {
    /// Calls `body` with the name of every index line, oldest first, and whether it takes the hint back. Our own lines
    /// are not parsed for that.
    func forEachHintName(_ content: BucketContent, _ body: (_ name: [UInt8], _ isRemoval: Bool) -> Void) {
        let reader = LineProbe.HintReader(schema)
        content.forEachLine { raw in
            if let name = reader.name(of: raw.bytes) { return body(name, false) }
            guard let line = decode(raw, of: content), let id = line.id.string else { return }
            if line.op == nil || line.op == deleteOp {
                body(Hint.name(id: id.utf8, key: line.key.utf8), line.op == deleteOp)
            }
        }
    }

    /// Those of the hints that the file does not have, each once.
    func missing(_ hints: some Sequence<Hint>, in content: BucketContent?) -> [Hint] {
        var missing: [[UInt8]: Hint] = [:]
        for hint in hints { missing[hint.name] = hint }
        guard let content else { return Array(missing.values) }
        var found: Set<[UInt8]> = []
        forEachHintName(content) { name, isRemoval in
            guard missing[name] != nil else { return }
            if isRemoval { found.remove(name) } else { found.insert(name) }
        }
        return missing.filter { !found.contains($0.key) }.map(\.value)
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
