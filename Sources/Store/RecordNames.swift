// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

/// Where the newest line of each record of a file stands, by the record's name; found mostly without parsing.
///
/// A line of our own form is read as far as its id and key. So a name that is not among these is free; one that is has a
/// line that may yet be broken behind its beginning.
struct RecordNames {
    /// Line feeds are not in the ranges.
    private var places: [[UInt8]: Range<Int>] = [:]

    init(_ content: BucketContent, _ table: BucketTable) {
        let keyName = table.schema.key == "id" ? nil : LineProbe.bytes(.string(table.schema.key)) + [UInt8(ascii: ":")]
        content.forEachLine { raw in
            let place = raw.offset..<raw.offset + raw.bytes.count
            if let name = Self.name(of: raw.bytes, keyName: keyName) {
                places[name] = place
            } else if let line = table.decode(raw, of: content) {
                let name = Self.name(id: line.id, key: line.key)
                if line.op == nil { places[name] = place } else if line.op == deleteOp { places[name] = nil }
            }
        }
    }

    func place(of id: JSONValue, key: String) -> Range<Int>? {
        places[Self.name(id: id, key: key)]
    }

    /// Of a record's line of our own form; nil for all others.
    private static func name(of line: UnsafeBufferPointer<UInt8>, keyName: [UInt8]?) -> [UInt8]? {
        var rest = LineProbe.Reader(line: line)
        guard rest.take(LineProbe.start), let id = rest.token(), !rest.take(LineProbe.opName) else { return nil }
        guard let keyName else {
            guard id.first == UInt8(ascii: "\"") else { return nil }
            return Hint.name(id: id, key: id.dropFirst().dropLast())
        }
        guard rest.take(keyName), let key = rest.token(), key.first == UInt8(ascii: "\"") else { return nil }
        return Hint.name(id: id, key: key.dropFirst().dropLast())
    }

    private static func name(id: JSONValue, key: String) -> [UInt8] {
        Hint.name(id: LineProbe.bytes(id), key: key.utf8)
    }
}

extension BucketTable {
    /// Whether the file has a record of that name that has not expired.
    func hasRecord(
        _ id: JSONValue, key: String, in content: BucketContent, _ names: RecordNames, now: Timestamp
    ) -> Bool {
        guard let place = names.place(of: id, key: key) else { return false }
        let end: Timestamp?? = content.bytes.withUnsafeBufferPointer { bytes in
            let line = try? LineCodec.decode(UnsafeBufferPointer(rebasing: bytes[place]), schema)
            return line.map { schema.expires ? $0.value.time("expiresAt") : nil }
        }
        if let end { return end.map { $0 > now } ?? true }
        // It is broken, so an older line of the record counts, if there is one.
        let identity = BucketCensus.Identity(key: key, id: id)
        return RecordStates(content, self, key: key).states.contains {
            BucketCensus.Identity(key: $0.key, id: $0.id) == identity && !$0.isExpired(schema, now: now)
        }
    }
}
