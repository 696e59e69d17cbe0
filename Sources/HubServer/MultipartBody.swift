// SPDX-License-Identifier: Apache-2.0
import Text

/// The parts of a `multipart/…` body by their names (RFC 2046 section 5.1, RFC 7578 section 4.2).
///
/// SDKs call it `multipart/mixed` or `multipart/form-data`, and write blanks around `=`, so any subtype is taken.
struct MultipartBody {
    /// Longer ones are against RFC 2046.
    private static let maximumBoundary = 70
    /// A body with more parts is refused.
    private static let maximumParts = 8

    private let parts: [String: (type: String, bytes: ArraySlice<UInt8>)]

    /// - Returns: nil for another type, a body that is not of that form, and two parts of one name.
    init?(_ body: [UInt8], contentType: String) {
        guard contentType.lowercased().hasPrefix("multipart/"),
            let boundary = Self.parameter("boundary", of: contentType),
            (1...Self.maximumBoundary).contains(boundary.utf8.count)
        else { return nil }
        var parts: [String: (type: String, bytes: ArraySlice<UInt8>)] = [:]
        guard let sections = Self.sections(of: body, boundary: Array("--\(boundary)".utf8)) else { return nil }
        for section in sections {
            guard let (fields, bytes) = Self.split(section), let disposition = fields["content-disposition"],
                let name = Self.parameter("name", of: disposition)?.lowercased(), parts[name] == nil
            else { return nil }
            parts[name] = (fields["content-type"] ?? "", bytes)
        }
        self.parts = parts
    }

    /// The part of that name, and its type.
    func part(_ name: String) -> (type: String, bytes: [UInt8])? {
        parts[name].map { ($0.type, Array($0.bytes)) }
    }

    /// What is between the lines of the boundary.
    private static func sections(of body: [UInt8], boundary: [UInt8]) -> [ArraySlice<UInt8>]? {
        var sections: [ArraySlice<UInt8>] = []
        var begin: Int?
        for (start, end) in lines(of: body) {
            let line = body[start..<end]
            guard line.starts(with: boundary) else { continue }
            let rest = line.dropFirst(boundary.count).drop(while: ASCII.isBlank)
            let isLast = rest.starts(with: "--".utf8)
            guard isLast || rest.isEmpty else { continue }
            if let begin {
                guard begin <= start, sections.count < maximumParts else { return nil }
                sections.append(withoutLineEnd(body[begin..<start]))
            }
            if isLast { return sections }
            begin = end
        }
        return nil
    }

    /// The lines with their ends.
    private static func lines(of bytes: [UInt8]) -> [(start: Int, end: Int)] {
        var lines: [(Int, Int)] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            lines.append((start, index + 1))
            start = index + 1
        }
        return lines + [(start, bytes.count)]
    }

    private static func withoutLineEnd(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let bytes = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
        return bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
    }

    /// The fields of a part by their names in lower case, and what follows them.
    private static func split(_ section: ArraySlice<UInt8>) -> (fields: [String: String], bytes: ArraySlice<UInt8>)? {
        var fields: [String: String] = [:]
        var rest = section
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = withoutLineEnd(rest[...end])
            rest = rest[(end + 1)...]
            guard !line.isEmpty else { return (fields, rest) }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            fields[name] = trimmed(line[(colon + 1)...])
        }
        return nil
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes.drop(while: ASCII.isBlank)
        while let last = bytes.last, ASCII.isBlank(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value of a parameter, without its quotation marks: `multipart/mixed; boundary = "x"`.
    private static func parameter(_ name: String, of field: String) -> String? {
        for item in field.utf8.split(separator: UInt8(ascii: ";")).dropFirst() {
            let pair = item.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard pair.count == 2, trimmed(ArraySlice(Array(pair[0]))).lowercased() == name else { continue }
            let value = trimmed(ArraySlice(Array(pair[1])))
            return value.hasPrefix("\"") && value.hasSuffix("\"") && value.count > 1
                ? String(value.dropFirst().dropLast()) : value
        }
        return nil
    }
}
