// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
internal import Text

/// What names a record in its table: id and key as JSON. Bytes, because Swift takes two texts for equal that only look
/// alike (canonical equivalence).
struct RecordName: Hashable {
    let id: ArraySlice<UInt8>
    /// Empty where the key is the id, or all names have the same key.
    let key: ArraySlice<UInt8>

    init(id: ArraySlice<UInt8>, key: ArraySlice<UInt8>) {
        (self.id, self.key) = (id, key)
    }

    /// - Parameter key: nil where it is left out.
    init(id: JSONValue, key: String?) {
        self.init(id: LinePrefilter.bytes(id)[...], key: key.map { LinePrefilter.bytes(.string($0))[...] } ?? [])
    }

    /// All bytes at once; a slice would hash them one by one.
    func hash(into hasher: inout Hasher) {
        id.withUnsafeBytes { hasher.combine(bytes: $0) }
        key.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    /// A number, or what a text says.
    var idText: String { Self.text(id) }
    /// The key that chose the file.
    var keyText: String { Self.text(key.isEmpty ? id : key) }

    private static func text(_ json: ArraySlice<UInt8>) -> String {
        let quotes = json.first == UInt8(ascii: "\"") ? 1 : 0
        if json.contains(UInt8(ascii: "\\")), let value = try? JSONValue(parsing: Array(json)).string { return value }
        return String(decoding: json.dropFirst(quotes).dropLast(quotes), as: UTF8.self)
    }
}

/// Where the lines of a record are in its file.
struct CurrentRecord {
    typealias Place = BucketContent.Place

    let name: RecordName
    /// The newest of its own lines. Whether it is whole shows when it is parsed; if not, the one before it counts.
    fileprivate(set) var newest: Place
    fileprivate var older: [Place] = []
    /// What was done to the record since, the first line of each op.
    fileprivate(set) var ops: [(name: String, place: Place)] = []
    /// What was done to it before its newest line: it counts as long as that line turns out to be broken.
    fileprivate var formerOps: [(name: String, place: Place)] = []
    /// When it expires; known only where all lines were parsed.
    fileprivate(set) var expiresAt: Timestamp?

    /// The oldest line that was seen of it since it was last removed.
    var first: Place { older.first ?? newest }

    fileprivate mutating func supersede(with place: Place) {
        older.append(newest)
        newest = place
        if !ops.isEmpty { (formerOps, ops) = (formerOps + ops, []) }
    }
}

/// The records of a file, or of one key in it, as they are now: the one way to read a table's records.
///
/// A line as this program writes it is recognised by its beginning and not parsed. So what was superseded costs little,
/// and a record is parsed when a caller asks for its line.
struct CurrentRecords {
    private let content: BucketContent?
    private let table: BucketTable
    /// Whether they all have one key, which their names then leave out.
    private let hasOneKey: Bool
    /// Those that were not removed, in the order in which they were first seen.
    private var records: [CurrentRecord?] = []
    /// Where each is in `records`.
    private var indices: [RecordName: Int] = [:]
    /// The lines that cannot be read, where all lines were parsed.
    private(set) var broken: [BucketContent.Place] = []
    /// Whether a line removes a record.
    private(set) var hasRemovals = false

    /// - Parameters:
    ///   - key: nil: of all keys.
    ///   - id: with a key: the record of that id alone.
    ///   - parsingAll: parses every line, so that all records are known to be whole, and broken lines are found.
    init(
        _ content: BucketContent?, _ table: BucketTable, key: String? = nil, id: JSONValue? = nil,
        parsingAll: Bool = false
    ) {
        (self.content, self.table) = (content, table)
        hasOneKey = key != nil || table.schema.keyIsID
        guard let content else { return }
        let probe = LinePrefilter(table.schema, key: key, id: id)
        content.forEachLine { raw in
            if !parsingAll {
                switch probe.examine(raw.bytes) {
                case .other: return
                case .record(let ownID, let ownKey):
                    let name = RecordName(
                        id: content.slice(ownID, of: raw), key: hasOneKey ? [] : content.slice(ownKey, of: raw))
                    return add(name, raw.place)
                case .unclear: break
                }
            }
            guard let line = table.decode(raw, of: content) else { return broken.append(raw.place) }
            if let key, !line.key.hasSameBytes(as: key) { return }
            if let id, !table.schema.keyIsID, id != line.id { return }
            apply(line, raw.place, isWhole: parsingAll)
        }
    }

    private func name(id: JSONValue, key: String) -> RecordName {
        RecordName(id: id, key: hasOneKey ? nil : key)
    }

    private mutating func add(_ name: RecordName, _ place: BucketContent.Place) {
        if let index = index(of: name) {
            records[index]?.supersede(with: place)
        } else {
            append(CurrentRecord(name: name, newest: place))
        }
    }

    private mutating func append(_ record: CurrentRecord) {
        indices[record.name] = records.count
        records.append(record)
    }

    /// Mostly that of the record before: what is looked for is one record, and one that is written again and again leaves
    /// hundreds of lines.
    private func index(of name: RecordName) -> Int? {
        if let last = records.last, last?.name == name { return records.count - 1 }
        return indices[name]
    }

    private mutating func apply(_ line: Line, _ place: BucketContent.Place, isWhole: Bool) {
        let name = name(id: line.id, key: line.key)
        switch line.op {
        case nil where isWhole:
            remove(name)
            append(
                CurrentRecord(
                    name: name, newest: place, expiresAt: table.schema.expires ? line.value.time("expiresAt") : nil))
        case nil: add(name, place)
        case deleteOp:
            hasRemovals = true
            remove(name)
        // Ops that this version does not know are kept: a newer version wrote them. The first of a name counts.
        case let op?:
            guard let index = index(of: name), records[index]?.ops.contains(where: { $0.name == op }) == false else {
                return
            }
            records[index]?.ops.append((op, place))
        }
    }

    private mutating func remove(_ name: RecordName) {
        if let index = indices.removeValue(forKey: name) { records[index] = nil }
    }
}

extension CurrentRecords {
    /// Some of them may have no whole line, unless all lines were parsed.
    var count: Int { indices.count }

    /// In no order of meaning.
    var all: some Collection<CurrentRecord> { records.lazy.compactMap(\.self) }

    /// In the order of their newest lines.
    var inOrder: [CurrentRecord] { all.sorted { $0.newest.start < $1.newest.start } }

    func record(id: JSONValue, key: String) -> CurrentRecord? { self[name(id: id, key: key)] }

    /// Of the records of a whole file.
    subscript(name: RecordName) -> CurrentRecord? { index(of: name).flatMap { records[$0] } }

    /// The record's newest whole line; nil when it has none: what cannot be read is reported.
    func line(of record: CurrentRecord) -> Line? { wholeLine(of: record)?.line }

    private func wholeLine(of record: CurrentRecord) -> (line: Line, place: BucketContent.Place)? {
        guard let content else { return nil }
        for place in [record.newest] + record.older.reversed() {
            if let line = content.withLine(at: place, { table.decode($0, of: content) }) { return (line, place) }
        }
        return nil
    }

    /// The bytes of the record's newest line, to be read without parsing all of it.
    func withNewestLine<Outcome>(of record: CurrentRecord, _ body: (UnsafeBufferPointer<UInt8>) -> Outcome?) -> Outcome?
    {
        content?.withLine(at: record.newest) { body($0.bytes) }
    }

    /// All members but the checksum, with what the ops say, and those included that this version does not know.
    func value(of record: CurrentRecord) -> JSONValue? {
        guard let (line, place) = wholeLine(of: record) else { return nil }
        let isRead = (record.formerOps + record.ops).contains { $0.name == readOp && $0.place.start > place.start }
        var members = (line.value.members ?? []).filter { $0.name != "crc" && !(isRead && $0.name == "read") }
        if isRead { members.append(JSONValue.Member("read", .bool(true))) }
        return .object(members)
    }

    /// All that have a whole line, as what their table holds.
    func decoded<Record: LineRecord>(as type: Record.Type = Record.self) -> [Record] {
        all.compactMap { line(of: $0).flatMap { Record(line: $0.value) } }
    }

    /// The record of that id, in a table whose key is the id; nil when it has no whole line, too.
    func decoded<Record: LineRecord>(_ id: String, as type: Record.Type = Record.self) -> Record? {
        record(id: .string(id), key: id).flatMap { line(of: $0) }.flatMap { Record(line: $0.value) }
    }
}

extension BucketTable {
    /// The newest whole line of one record; nil when there is none, or it was removed.
    /// - Parameter id: nil where the key is the id.
    func current(_ key: String, id: JSONValue? = nil, in content: BucketContent?) -> JSONValue? {
        let records = CurrentRecords(content, self, key: key, id: id)
        return records.all.first.flatMap { records.line(of: $0) }?.value
    }

    /// The version of the next write of the record of that id, in a table whose key is the id. A record that was removed
    /// counts on from there as long as the removal's line is in the file, so that a caller who still has a version of the
    /// old one does not overwrite its successor.
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
