// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// The records of one key as they were at one moment, for a person to change.
package struct RecordEdit: Sendable {
    /// What is wrong with a line of the changed text. The reason never repeats the line.
    package struct Fault: Error, Equatable, Sendable {
        /// From 1, as editors count.
        package let line: Int
        package let reason: String
    }

    /// A record that was changed, added (`old` is nil) or removed (`new` is nil).
    package struct Change: Sendable {
        let id: JSONValue
        let old: JSONValue?
        let new: JSONValue?
    }

    let table: EditableTable
    /// As its bucket knows it.
    let key: String
    let records: [JSONValue]
    /// Held as long as the queue is edited, so that nobody delivers what is being changed.
    let turn: QueueTurn?

    /// Whether there is nothing to change.
    package var isEmpty: Bool { records.isEmpty }

    /// One JSON object a line, without checksums.
    package var text: [UInt8] {
        records.flatMap { Self.bytes($0) + [0x0A] }
    }

    /// What a person has made of `text`. Empty lines, and those that begin with `#`, are passed over.
    /// - Returns: the changes, none when there is any fault; and the faults.
    package func changes(in text: [UInt8]) -> (changes: [Change], faults: [Fault]) {
        var new: [[UInt8]: JSONValue] = [:]
        var order: [[UInt8]] = []
        var faults: [Fault] = []
        for (index, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }),
                first != UInt8(ascii: "#")
            else { continue }
            do throws(LineFault) {
                let value = try record(Array(line))
                let name = Self.bytes(value["id"] ?? .null)
                guard new.updateValue(value, forKey: name) == nil else {
                    throw LineFault(reason: "the same \"id\" as in a line before")
                }
                order.append(name)
            } catch {
                faults.append(Fault(line: index + 1, reason: error.reason))
            }
        }
        return (faults.isEmpty ? changes(new, order) : [], faults)
    }

    /// - Throws: `LineFault`, when the line is no record of this table and key.
    private func record(_ line: [UInt8]) throws(LineFault) -> JSONValue {
        let found: Result<Line, LineFault> = line.withUnsafeBufferPointer { bytes in
            do throws(LineFault) {
                return .success(try LineCodec.decode(bytes, table.table.schema))
            } catch {
                return .failure(error)
            }
        }
        let decoded = try found.get()
        guard decoded.op == nil else { throw LineFault(reason: "\"op\" is nothing to write: change the record itself") }
        guard decoded.key.hasSameBytes(as: key) else {
            throw LineFault(reason: "\"\(table.table.schema.key)\" must stay: another one is another record's")
        }
        return .object((decoded.value.members ?? []).filter { $0.name != "crc" })
    }

    private func changes(_ new: [[UInt8]: JSONValue], _ order: [[UInt8]]) -> [Change] {
        var old: [[UInt8]: JSONValue] = [:]
        for record in records { old[Self.bytes(record["id"] ?? .null)] = record }
        let written = order.compactMap { name -> Change? in
            guard let value = new[name], let id = value["id"] else { return nil }
            let before = old[name]
            return before.map(Self.bytes) == Self.bytes(value) ? nil : Change(id: id, old: before, new: value)
        }
        let removed = records.compactMap { record -> Change? in
            guard let id = record["id"], new[Self.bytes(id)] == nil else { return nil }
            return Change(id: id, old: record, new: nil)
        }
        return written + removed
    }

    /// To be compared: two texts may be equal that only look alike.
    static func bytes(_ value: JSONValue) -> [UInt8] { LineProbe.bytes(value) }
}
