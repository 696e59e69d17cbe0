// SPDX-License-Identifier: Apache-2.0
internal import Text

/// `<?xml version="1.0" encoding="utf-16"?>` in front of a document.
enum XMLDeclaration {
    private static let begin = Array("<?xml".utf8)
    private static let end = Array("?>".utf8)
    private static let name = Array("encoding".utf8)
    private static let utf8 = Array("utf-8".utf8)

    /// A document in UTF-8 whose declaration says so. .NET writes the encoding of its texts in memory, `utf-16`, in front of
    /// a document that it then sends in UTF-8.
    static func asUTF8(_ document: [UInt8]) -> [UInt8] {
        guard document.starts(with: begin), let end = document.firstRange(of: Self.end),
            let name = document[..<end.lowerBound].firstRange(of: Self.name)
        else { return document }
        let rest = document[name.upperBound..<end.lowerBound]
        guard let open = rest.firstIndex(where: { "\"'".utf8.contains($0) }),
            rest[..<open].allSatisfy({ ASCII.isBlank($0) || $0 == UInt8(ascii: "=") }),
            case let value = rest[open...].dropFirst(), let close = value.firstIndex(of: rest[open])
        else { return document }
        return Array(document[..<value.startIndex]) + utf8 + Array(document[close...])
    }
}
