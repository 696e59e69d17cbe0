// SPDX-License-Identifier: Apache-2.0

/// The bytes of a tar archive (POSIX.1-1988 `ustar`), which every tar reads.
enum TarWriter {
    static let blockBytes = 512
    /// What a header can say: eleven octal digits.
    static let maximumFileBytes = 1 << 33 - 1

    enum Kind: UInt8 {
        case file = 0x30
        case folder = 0x35
    }

    struct Entry {
        /// Relative; of a folder without a slash at its end.
        var name: String
        var kind: Kind
        var mode: UInt32
        var size: Int
        /// Seconds since 1970.
        var modified: Int
    }

    /// - Returns: nil, when a header cannot say it: a name of more than 100 bytes, a file of more than `maximumFileBytes`.
    static func header(_ entry: Entry) -> [UInt8]? {
        let name = Array((entry.name + (entry.kind == .folder ? "/" : "")).utf8)
        guard name.count <= 100, entry.size <= maximumFileBytes else { return nil }
        var header = name + [UInt8](repeating: 0, count: 100 - name.count)
        header += octal(Int(entry.mode & 0o7777), digits: 7)
        // Whoever unpacks it owns it: the numbers of this host mean nothing on another.
        header += octal(0, digits: 7) + octal(0, digits: 7)
        header += octal(entry.size, digits: 11) + octal(max(0, entry.modified), digits: 11)
        let checksumPlace = header.count
        header += [UInt8](repeating: 0x20, count: 8) + [entry.kind.rawValue]
        header += [UInt8](repeating: 0, count: 100) + [UInt8]("ustar\u{0}00".utf8)
        header += [UInt8](repeating: 0, count: blockBytes - header.count)
        let sum = header.reduce(0) { $0 + Int($1) }
        header.replaceSubrange(checksumPlace..<checksumPlace + 8, with: octal(sum, digits: 6) + [0x20])
        return header
    }

    /// What fills a file of that size up to whole blocks.
    static func padding(_ size: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: (blockBytes - size % blockBytes) % blockBytes)
    }

    /// Two empty blocks: who unpacks knows by them that nothing is missing.
    static let end = [UInt8](repeating: 0, count: 2 * blockBytes)

    /// So many digits and a NUL.
    private static func octal(_ value: Int, digits: Int) -> [UInt8] {
        let text = [UInt8](String(value, radix: 8).utf8)
        return [UInt8](repeating: 0x30, count: max(0, digits - text.count)) + text.suffix(digits) + [0]
    }
}
