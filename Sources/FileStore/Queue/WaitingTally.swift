// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
import System

/// What waits in the file of a queue, and how much of it is whose, as far as one process has read the file (`FileTail`).
///
/// It counts lines and does not prove them: who wants an entry reads its line again.
struct WaitingTally {
    /// The newest line of an entry.
    struct Entry {
        /// Nil: no user's.
        let owner: [UInt8]?
        /// Where it begins, and how long it is with its line feed.
        let start: Int
        let count: Int
        /// Its place among the entries by their first lines.
        let place: Int
    }

    private(set) var bytes = 0
    private var entries: [[UInt8]: Entry] = [:]
    private var bytesByOwner: [[UInt8]: Int] = [:]
    private var places = 0
    private var tail = FileTail()

    subscript(id: String) -> Entry? { entries[Array(id.utf8)] }

    func bytes(of owner: String) -> Int { bytesByOwner[Array(owner.utf8), default: 0] }

    /// Those of the owner, and those without an owner.
    func entries(of owner: String) -> [Entry] {
        let owner = Array(owner.utf8)
        return entries.values.filter { $0.owner == nil || $0.owner == owner }.sorted { $0.place < $1.place }
    }

    /// Reads what was appended since the last call, or all of a file that is not the one that was read then.
    mutating func catchUp(with file: OpenFile, _ schema: TableSchema) throws(StoreError) {
        guard let lines = try tail.read(file) else { return }
        if lines.areAll { (bytes, entries, bytesByOwner) = (0, [:], [:]) }
        lines.forEach { raw, start in
            guard let line = QueuedLine.Beginning(raw.bytes, schema) else { return }
            remove(line.id, keepingPlace: !line.isRemoval)
            if !line.isRemoval { insert(line, start, raw.bytes.count + 1) }
        }
    }

    private mutating func insert(_ line: QueuedLine.Beginning, _ start: Int, _ count: Int) {
        let place = entries[line.id]?.place ?? places
        places = max(places, place + 1)
        entries[line.id] = Entry(owner: line.owner, start: start, count: count, place: place)
        bytes += count
        if let owner = line.owner { bytesByOwner[owner, default: 0] += count }
    }

    /// - Parameter keepingPlace: another line of it follows.
    private mutating func remove(_ id: [UInt8], keepingPlace: Bool) {
        guard let entry = entries[id] else { return }
        bytes -= entry.count
        if let owner = entry.owner {
            let rest = bytesByOwner[owner, default: 0] - entry.count
            bytesByOwner[owner] = rest > 0 ? rest : nil
        }
        if !keepingPlace { entries[id] = nil }
    }
}

extension QueuedLine {
    /// What the beginning of a line tells: whose entry it is of, and whether it ends its wait.
    struct Beginning {
        let id: [UInt8]
        let owner: [UInt8]?
        let isRemoval: Bool

        private static let key = LinePrefilter.bytes(.string(QueuedLine.keyName)) + [UInt8(ascii: ":")]
        private static let owner = [UInt8]("\"owner\":".utf8)
        private static let removal = LinePrefilter.bytes(.string(deleteOp))

        /// Nil for a line that cannot be read, and for an op of another version. A line of our own form is not parsed.
        init?(_ line: UnsafeBufferPointer<UInt8>, _ schema: TableSchema) {
            guard let found = Self.ofOwnForm(line) ?? Self.parsed(line, schema) else { return nil }
            self = found
        }

        /// Nil for a line of another form.
        private static func ofOwnForm(_ line: UnsafeBufferPointer<UInt8>) -> Beginning? {
            var rest = LinePrefilter.Reader(line: line)
            guard rest.take(LinePrefilter.start), let id = rest.token() else { return nil }
            if rest.take(LinePrefilter.opName) {
                guard let op = rest.token(), op.elementsEqual(removal) else { return nil }
                return Beginning(id: text(id), owner: nil, isRemoval: true)
            }
            guard rest.take(key), rest.token() != nil else { return nil }
            guard rest.take(owner) else { return Beginning(id: text(id), owner: nil, isRemoval: false) }
            return rest.token().map { Beginning(id: text(id), owner: text($0), isRemoval: false) }
        }

        private static func parsed(_ line: UnsafeBufferPointer<UInt8>, _ schema: TableSchema) -> Beginning? {
            guard let line = try? LineCodec.decode(line, schema), let id = line.id.string,
                line.op == nil || line.op == deleteOp
            else { return nil }
            let owner = line.value["owner"]?.string.map { Array($0.utf8) }
            return Beginning(id: Array(id.utf8), owner: owner, isRemoval: line.op != nil)
        }

        private init(id: [UInt8], owner: [UInt8]?, isRemoval: Bool) {
            (self.id, self.owner, self.isRemoval) = (id, owner, isRemoval)
        }

        /// - Parameter token: a string without escapes.
        private static func text(_ token: LinePrefilter.Token) -> [UInt8] { Array(token.dropFirst().dropLast()) }
    }
}
