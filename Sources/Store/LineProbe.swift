// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// Tells, mostly without parsing, which lines of a bucket cannot belong to a record that is looked for.
///
/// Our own lines begin `{"id":…,` and, where the key is another member, `"op":"…",` if there is one and `"owner":"…"`.
/// A line of that form is decided by comparing bytes. Any other form (blanks, another order, an escape) was written
/// by hand; such a line always passes and is parsed. So editing costs speed, never truth.
struct LineProbe {
    /// The id as JSON; nil: any.
    private let id: [UInt8]?
    /// `"owner":`, and the value as JSON with its quotation marks; nil where the key is the id itself.
    private let key: (name: [UInt8], value: [UInt8])?

    private static let start = [UInt8]("{\"id\":".utf8)
    private static let opName = [UInt8]("\"op\":".utf8)

    /// - Parameter id: nil looks for all records of the key.
    init(_ schema: TableSchema, key: String, id: JSONValue?) {
        let keyText = Self.bytes(.string(key))
        if schema.key == "id" {
            self.id = keyText
            self.key = nil
        } else {
            self.id = id.map(Self.bytes)
            self.key = (Self.bytes(.string(schema.key)) + [UInt8(ascii: ":")], keyText)
        }
    }

    private static func bytes(_ value: JSONValue) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 64)
        json.value(value)
        return json.bytes
    }

    func mayMatch(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        var rest = Reader(line: line)
        guard rest.take(Self.start), let foundID = rest.token() else { return true }
        if let id, !foundID.elementsEqual(id) { return false }
        guard let key else { return true }
        if rest.take(Self.opName) { guard rest.token() != nil else { return true } }
        guard rest.take(key.name), let foundKey = rest.token() else { return true }
        return foundKey.elementsEqual(key.value)
    }

    private struct Reader {
        let line: UnsafeBufferPointer<UInt8>
        var offset = 0

        mutating func take(_ text: [UInt8]) -> Bool {
            guard line.count - offset >= text.count else { return false }
            for index in 0..<text.count where line[offset + index] != text[index] { return false }
            offset += text.count
            return true
        }

        /// A whole number or a string without escapes, and the comma behind it; nil for anything else.
        mutating func token() -> Slice<UnsafeBufferPointer<UInt8>>? {
            let start = offset
            var end = offset
            if end < line.count, line[end] == UInt8(ascii: "\"") {
                end += 1
                while end < line.count, line[end] != UInt8(ascii: "\"") {
                    if line[end] == UInt8(ascii: "\\") { return nil }
                    end += 1
                }
                end += 1
            } else {
                while end < line.count, line[end] >= UInt8(ascii: "0"), line[end] <= UInt8(ascii: "9") { end += 1 }
            }
            guard end > start, end < line.count, line[end] == UInt8(ascii: ",") else { return nil }
            offset = end + 1
            return line[start..<end]
        }
    }
}
