// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store

/// What a bucket's file held at one moment.
struct BucketContent {
    /// How the first line of a rewritten file begins: `{"base":N}`, N being its size behind that line.
    static let header = [UInt8]("{\"base\":".utf8)

    let bytes: [UInt8]
    /// Relative to the store's folder, for messages.
    let name: String
    let identity: FileIdentity
    /// Lines of the file that stand before these bytes.
    var linesBefore = 0

    /// A line without its line feed, and where it stands.
    struct RawLine {
        let bytes: UnsafeBufferPointer<UInt8>
        let offset: Int
        /// From 1, as editors count.
        let number: Int

        var place: Place { Place(start: offset, count: bytes.count, number: number) }
    }

    /// Calls `body` with every line that ends in a line feed, but not with the header and empty lines.
    /// What follows the last line feed is half a line: its writer died, or is still writing.
    func forEachLine(_ body: (RawLine) -> Void) {
        visitLines(while: { line in
            body(line)
            return true
        })
    }

    /// As `forEachLine(_:)`, until `body` says that it has seen enough.
    /// - Parameter body: returns whether it wants the next line.
    func visitLines(while body: (RawLine) -> Bool) {
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            var number = linesBefore + 1
            while start < bytes.count, let found = memchr(base + start, 0x0A, bytes.count - start) {
                let end = UnsafeRawPointer(found) - UnsafeRawPointer(base)
                if end > start, start > 0 || linesBefore > 0 || !bytes.starts(with: Self.header) {
                    let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
                    guard body(RawLine(bytes: line, offset: start, number: number)) else { return }
                }
                start = end + 1
                number += 1
            }
        }
    }

    /// The first ids of that key's lines, in a table of other records' ids; they may have been removed since.
    /// - Returns: besides, whether there is no other.
    func firstIDs(of key: String, _ schema: TableSchema, limit: Int) -> (ids: [String], areAll: Bool) {
        let probe = LinePrefilter(schema, key: key, id: nil)
        var ids: [String] = []
        var areAll = true
        visitLines(while: { line in
            switch probe.examine(line.bytes) {
            case .other: break
            case .record(let id, _) where ids.count < limit:
                ids.append(RecordName(id: slice(id, of: line), key: []).idText)
            case .record, .unclear: areAll = false
            }
            return areAll || ids.count < limit
        })
        return (ids, areAll)
    }

    /// Where a line is: its bytes without the line feed, and its number from 1.
    struct Place {
        let start: Int
        let count: Int
        let number: Int

        /// With the line feed.
        var range: Range<Int> { start..<start + count + 1 }
    }

    /// Calls `body` with a line that was met before; nil where there is none at that place.
    func withLine<Outcome>(at place: Place, _ body: (RawLine) -> Outcome?) -> Outcome? {
        bytes.withUnsafeBufferPointer { bytes in
            guard place.start >= 0, place.count >= 0, place.start <= bytes.count - place.count else { return nil }
            let line = UnsafeBufferPointer(rebasing: bytes[place.start..<place.start + place.count])
            return body(RawLine(bytes: line, offset: place.start, number: place.number))
        }
    }

    /// The bytes of a piece of a line, which are not copied.
    func slice(_ token: LinePrefilter.Token, of line: RawLine) -> ArraySlice<UInt8> {
        bytes[line.offset + token.startIndex..<line.offset + token.endIndex]
    }

    /// The number in the header; 0 when there is none.
    static func base(_ beginning: [UInt8]) -> Int {
        guard beginning.starts(with: header) else { return 0 }
        let digits = beginning.dropFirst(header.count).prefix { $0 >= 0x30 && $0 <= 0x39 }
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }
}

extension BucketTable {
    /// Bytes of a file that are in memory at once where its lines are wanted one after the other. Most files are smaller.
    static let pieceBytes = 256 << 10

    /// Calls `body` with the file's whole lines, piece by piece, so that a large file takes no more memory than a small one,
    /// or than its longest line.
    static func forEachPiece(
        of file: OpenFile, _ body: (BucketContent) throws(StoreError) -> Void
    ) throws(StoreError) {
        let identity = try file.identity()
        try checkSize(identity.size, of: file)
        var (bytes, offset, lines) = ([UInt8](), 0, 0)
        while offset < identity.size {
            let new = try file.read(min(pieceBytes, identity.size - offset), from: offset)
            guard !new.isEmpty else { return }
            offset += new.count
            let end = new.lastIndex(of: 0x0A)
            bytes = bytes.isEmpty ? new : bytes + new
            guard let end else { continue }
            let rest = new[(end + 1)...]
            let piece = BucketContent(bytes: bytes, name: file.name, identity: identity, linesBefore: lines)
            try body(piece)
            lines = piece.linesBefore + piece.lineFeeds
            bytes = Array(rest)
        }
    }
}

extension BucketContent {
    fileprivate var lineFeeds: Int {
        bytes.withUnsafeBytes { bytes in
            var count = 0
            var rest = bytes[...]
            while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                let found = memchr(base, 0x0A, rest.count)
            {
                count += 1
                rest = rest.dropFirst(UnsafeRawPointer(found) - base + 1)
            }
            return count
        }
    }
}
