// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
internal import Text

/// One line of a bucket, parsed: `{"id":7,"owner":"alice",…,"crc":"c72f8ef9"}`.
struct Line {
    /// All members, also those that this version does not know.
    let value: JSONValue
    /// A string or a number, whatever the table uses.
    let id: JSONValue
    /// The text whose hash chose the bucket.
    let key: String
    /// What the line does to the record of an earlier line; nil when it is the record itself.
    let op: String?
    /// Whether the checksum is there and matches; otherwise the line was written or edited by hand.
    let hasValidChecksum: Bool
}

/// Why a line cannot be used. The reason never repeats the line.
struct LineFault: Error, Equatable {
    let reason: String
}

/// The op that removes a record.
let deleteOp = "delete"

/// Lines in bytes: one JSON object each, its last member the checksum of everything before it.
enum LineCodec {
    private static let checksumPrefix = [UInt8](",\"crc\":\"".utf8)
    /// Length of `,"crc":"c72f8ef9"}`.
    static let checksumLength = 18

    /// The members that `body` writes, with checksum and line feed.
    static func encode(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        addingChecksum(JSONWriter.object(reservingCapacity: 512, body).bytes.dropLast())
    }

    /// Ends an object that has all but its checksum.
    static func addingChecksum(_ body: ArraySlice<UInt8>) -> [UInt8] {
        var line = Array(body)
        let checksum = CRC32.checksum(line)
        line += checksumPrefix
        for index in 0..<8 { line.append(hexDigit(index, of: checksum)) }
        line += [UInt8(ascii: "\""), UInt8(ascii: "}"), UInt8(ascii: "\n")]
        return line
    }

    /// The line of a record that takes the place of an older one. Members of that one that no record of this version has
    /// stay: another version, or an administrator, wrote them.
    static func encode<Record: LineRecord>(_ record: Record, keepingUnknownOf old: JSONValue?) -> [UInt8] {
        encode { json in
            record.write(to: &json)
            for member in old?.members ?? [] where !Record.members.contains(member.name) && member.name != "crc" {
                json.member(member.name, member.value)
            }
        }
    }

    /// The line that removes the record of that id. Compaction drops it; then the record's versions begin at 1 again.
    static func removal(of id: String, version: Int) -> [UInt8] {
        encode {
            $0.member("id", id)
            $0.member("op", deleteOp)
            $0.member("version", version)
        }
    }

    /// The line that removes the owner's record of that id, in a table whose key is the owner.
    static func removal(of id: JSONValue, owner: String) -> [UInt8] {
        encode {
            $0.name("id")
            $0.value(id)
            $0.member("op", deleteOp)
            $0.member("owner", owner)
        }
    }

    /// - Parameter line: without its line feed.
    static func decode(_ line: UnsafeBufferPointer<UInt8>, _ schema: TableSchema) throws(LineFault) -> Line {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: line)
        } catch {
            throw LineFault(reason: "not JSON: \(error)")
        }
        guard let id = value["id"] else { throw LineFault(reason: "no \"id\"") }
        guard let key = value[schema.key]?.string else { throw LineFault(reason: "no text in \"\(schema.key)\"") }
        let op = value["op"]
        guard op == nil || op?.string != nil else { throw LineFault(reason: "\"op\" is not a text") }
        guard op != nil || schema.accepts(value) else {
            throw LineFault(reason: "a member is missing or of a wrong kind")
        }
        return Line(value: value, id: id, key: key, op: op?.string, hasValidChecksum: hasValidChecksum(line))
    }

    static func hasValidChecksum(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard line.count > checksumLength else { return false }
        let body = line.count - checksumLength
        guard line[body..<body + checksumPrefix.count].elementsEqual(checksumPrefix) else { return false }
        let checksum = CRC32.checksum(UnsafeBufferPointer(rebasing: line[..<body]))
        let start = body + checksumPrefix.count
        return (0..<8).allSatisfy { line[start + $0] == hexDigit($0, of: checksum) }
    }

    private static func hexDigit(_ index: Int, of checksum: UInt32) -> UInt8 {
        ASCII.lowerHexDigits[Int(checksum >> UInt32(28 - 4 * index) & 15)]
    }
}
