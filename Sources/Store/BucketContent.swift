// SPDX-License-Identifier: Apache-2.0
import Glibc

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
    }

    /// Calls `body` with every line that ends in a line feed, but not with the header and empty lines.
    /// What stands behind the last line feed is half a line: its writer died, or is still writing.
    func forEachLine(_ body: (RawLine) -> Void) {
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            var number = linesBefore + 1
            while start < bytes.count, let found = memchr(base + start, 0x0A, bytes.count - start) {
                let end = UnsafeRawPointer(found) - UnsafeRawPointer(base)
                if end > start, start > 0 || linesBefore > 0 || !bytes.starts(with: Self.header) {
                    let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
                    body(RawLine(bytes: line, offset: start, number: number))
                }
                start = end + 1
                number += 1
            }
        }
    }

    /// Lends the lines that are wanted all at once, oldest first.
    func withLines<Outcome>(where isWanted: (RawLine) -> Bool, _ body: ([RawLine]) -> Outcome) -> Outcome {
        // Around the other one, so that the bytes stay where they are until `body` is done.
        bytes.withUnsafeBufferPointer { _ in
            var lines: [RawLine] = []
            forEachLine { if isWanted($0) { lines.append($0) } }
            return body(lines)
        }
    }

    /// Where the lines begin: behind the header, where there is one.
    var start: Int {
        guard bytes.starts(with: Self.header) else { return 0 }
        return bytes.firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
    }

    /// The number in the header; 0 when there is none.
    static func base(_ beginning: [UInt8]) -> Int {
        guard beginning.starts(with: header) else { return 0 }
        let digits = beginning.dropFirst(header.count).prefix { $0 >= 0x30 && $0 <= 0x39 }
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }
}
