// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// Which records a file may hold, by their names; mostly without parsing.
///
/// A line of our own form is read as far as its id and key. So a name that is not among these is free, and one that is
/// may be free all the same: its line may be broken behind its beginning.
struct RecordNames {
    private var names: Set<[UInt8]> = []

    init(_ content: BucketContent, _ table: BucketTable) {
        let keyName = table.schema.key == "id" ? nil : LineProbe.bytes(.string(table.schema.key)) + [UInt8(ascii: ":")]
        content.forEachLine { raw in
            if let name = Self.name(of: raw.bytes, keyName: keyName) {
                names.insert(name)
            } else if let line = table.decode(raw, of: content) {
                names.insert(Self.name(id: line.id, key: line.key))
            }
        }
    }

    func contains(_ id: JSONValue, key: String) -> Bool {
        names.contains(Self.name(id: id, key: key))
    }

    /// Of a record's line of our own form; nil for all others.
    private static func name(of line: UnsafeBufferPointer<UInt8>, keyName: [UInt8]?) -> [UInt8]? {
        var rest = LineProbe.Reader(line: line)
        guard rest.take(LineProbe.start), let id = rest.token() else { return nil }
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
