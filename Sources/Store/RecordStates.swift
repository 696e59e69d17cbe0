// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

/// A record as it stands: its last whole line, and what ops behind it have done to it.
struct RecordState {
    typealias Op = (name: String, line: [UInt8])

    let key: String
    let id: JSONValue
    /// All members of the line, those included that this version does not know, and the checksum.
    let line: JSONValue
    /// The ops behind it, the first of each name, with their lines (without line feed).
    var ops: [Op] = []

    var isRead: Bool { line["read"]?.bool == true || ops.contains { $0.name == readOp } }

    func isExpired(_ schema: TableSchema, now: Timestamp) -> Bool {
        guard schema.expires, let end = line.time("expiresAt") else { return false }
        return end <= now
    }

    /// The members without the checksum, with what the ops say.
    var value: JSONValue {
        var members = (line.members ?? []).filter { $0.name != "crc" && !(isRead && $0.name == "read") }
        if isRead { members.append(JSONValue.Member("read", .bool(true))) }
        return .object(members)
    }
}

/// The records of one file, or those of one key in it.
struct RecordStates {
    /// In the order of their lines.
    private(set) var states: [RecordState] = []

    private struct Found {
        var place: Int
        var state: RecordState
    }

    /// - Parameter key: nil: all records; lines of others are then not looked at.
    init(_ content: BucketContent?, _ table: BucketTable, key: String? = nil) {
        guard let content else { return }
        let probe = key.map { LineProbe(table.schema, key: $0, id: nil) }
        var found: [BucketCensus.Identity: Found] = [:]
        content.forEachLine { raw in
            if case .other = probe?.examine(raw.bytes) { return }
            guard let line = table.decode(raw, of: content) else { return }
            if let key, !line.key.hasSameBytes(as: key) { return }
            Self.apply(line, raw, to: &found[BucketCensus.Identity(line)])
        }
        states = found.values.sorted { $0.place < $1.place }.map(\.state)
    }

    private static func apply(_ line: Line, _ raw: BucketContent.RawLine, to found: inout Found?) {
        switch line.op {
        case nil:
            found = Found(place: raw.offset, state: RecordState(key: line.key, id: line.id, line: line.value))
        case deleteOp: found = nil
        case let op?:
            if found?.state.ops.contains(where: { $0.name == op }) == false {
                found?.state.ops.append((op, Array(raw.bytes)))
            }
        }
    }
}
