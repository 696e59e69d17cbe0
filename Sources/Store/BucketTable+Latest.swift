// SPDX-License-Identifier: Apache-2.0
internal import JSON

extension BucketTable {
    /// How many records of that key are there, expired ones too. Our own lines are neither parsed nor copied for that:
    /// ids are told apart by their hashes, and a collision in 2^64 makes it one too few.
    func countIDs(_ content: BucketContent, key: String) -> Int {
        let probe = LineProbe(schema, key: key, id: nil)
        var found: Set<Int> = []
        content.forEachLine { raw in
            switch probe.examine(raw.bytes) {
            case .other: return
            case .record(let id):
                found.insert(Self.hash(ofID: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: id))))
            case .unclear:
                guard let line = decode(raw, of: content), line.key.hasSameBytes(as: key) else { return }
                var id = JSONWriter(reservingCapacity: 64)
                id.value(line.id)
                let hash = id.bytes.withUnsafeBytes(Self.hash(ofID:))
                if line.op == nil { found.insert(hash) } else if line.op == deleteOp { found.remove(hash) }
            }
        }
        return found.count
    }

    /// - Parameter id: as JSON.
    private static func hash(ofID id: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: id)
        return hasher.finalize()
    }

    /// Calls `body` with the last whole line of every record of that key that is there, and with the number of the
    /// first of its lines, in no order of meaning. Of our own lines only these are parsed, and removals.
    /// - Parameter isWanted: is asked for an id before anything of it is parsed.
    func forEachLatestLine(
        _ content: BucketContent?, key: String, where isWanted: (_ id: String) -> Bool, _ body: (Line, Int) -> Void
    ) {
        guard let content else { return }
        let probe = LineProbe(schema, key: key, id: nil)
        content.withLines(where: { _ in true }) { lines in
            var found: [String: [BucketContent.RawLine]] = [:]
            for raw in lines {
                switch probe.examine(raw.bytes) {
                case .other: continue
                case .record(let token):
                    let id = Self.text(ofID: token)
                    if isWanted(id) { found[id, default: []].append(raw) }
                case .unclear:
                    guard let line = decode(raw, of: content), line.key.hasSameBytes(as: key),
                        let id = line.id.string, isWanted(id)
                    else { continue }
                    if line.op == nil { found[id, default: []].append(raw) } else { found[id] = nil }
                }
            }
            for lines in found.values {
                guard let first = lines.first,
                    let line = lines.reversed().lazy.compactMap({ decode($0, of: content) }).first
                else { continue }
                body(line, first.number)
            }
        }
    }

    /// The version of the next write of the record of that id, in a table whose key is the id. A record that was removed
    /// counts on from there as long as the removal's line stands, so that nobody who still has a version of the old one
    /// overwrites its successor with it.
    /// - Parameter version: of the record; nil when there is none.
    /// - Throws: `conflict`, at the end of all numbers.
    func nextVersion(
        of id: String, after version: Int?, in content: BucketContent
    ) throws(StoreError) -> Int {
        var last = version ?? 0
        if version == nil {
            forEachLine(content, key: id, id: nil) { line in
                if line.op == deleteOp, line.value["version"] != nil { last = line.value.version ?? last }
            }
        }
        guard last < .max - 1 else { throw .conflict }
        return last + 1
    }
}
