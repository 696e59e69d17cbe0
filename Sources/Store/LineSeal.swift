// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// Gives lines that were edited by hand the checksum of what they hold now.
enum LineSeal {
    /// Blanks that JSON allows, and that an editor may leave: a carriage return above all.
    private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]

    /// The line with the right checksum, and otherwise the bytes that were there.
    ///
    /// Where the checksum is not the last member, or is written in another way than ours, the members are kept and the
    /// blanks between them are not.
    /// - Parameters:
    ///   - line: a JSON object, without its line feed.
    ///   - value: the same, parsed.
    /// - Returns: with the line feed.
    static func seal(_ line: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> [UInt8] {
        if let body = body(of: line, value) { return LineCodec.seal(body) }
        return LineCodec.encode { json in
            for member in value.members ?? [] where member.name != "crc" {
                json.name(member.name)
                json.value(member.value)
            }
        }
    }

    /// What comes before the checksum's comma; nil where the checksum stands elsewhere.
    private static func body(of line: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> ArraySlice<UInt8>? {
        var body = Array(line)[...]
        while let last = body.last, blanks.contains(last) { body.removeLast() }
        body = body.drop { blanks.contains($0) }
        guard value["crc"] != nil else { return body.dropLast() }
        return LineCodec.isEndingInSeal(body) ? body.dropLast(LineCodec.sealLength) : nil
    }
}
