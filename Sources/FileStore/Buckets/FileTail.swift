// SPDX-License-Identifier: Apache-2.0
import Store

/// What one process has read of a file that grows: the next look reads what was appended since.
///
/// A file is appended to, or replaced by another. So what was read is believed as long as the file is the same one and its
/// bytes in front of the place where the reading ended are those that were there. A caller who keeps places of lines reads the
/// lines themselves again, and takes the whole file where one is not what it should be.
struct FileTail {
    /// Bytes in front of `end` that are compared: they hold the checksum of a line.
    private static let endingBytes = 16

    /// The file when it was last looked at; nil: it was not.
    private(set) var seen: FileIdentity?
    /// Behind the last line.
    private var end = 0
    private var ending: [UInt8] = []

    /// The whole lines that were not read before.
    struct Lines {
        /// Whether they are all lines of the file: what was known of it is of another.
        let areAll: Bool
        fileprivate let content: BucketContent
        /// Of the content's first byte in the file.
        fileprivate let offset: Int
        fileprivate let first: Int

        /// - Parameter body: hears where in the file the line begins.
        func forEach(_ body: (BucketContent.RawLine, _ start: Int) -> Void) {
            content.forEachLine { raw in
                // What is read again of the last line is the end of one.
                if offset + raw.offset >= first { body(raw, offset + raw.offset) }
            }
        }
    }

    /// - Parameter skipsAppended: whether only the lines of another file are wanted.
    /// - Returns: nil where there is nothing new.
    mutating func read(_ file: OpenFile, skipsAppended: Bool = false) throws(StoreError) -> Lines? {
        let identity = try file.identity()
        guard identity != seen else { return nil }
        var isAnother = !hasGrown(to: identity)
        if isAnother { self = FileTail() }
        guard isAnother || !skipsAppended else {
            seen = identity
            return nil
        }
        try BucketTable.checkSize(identity.size, of: file)
        var bytes = try file.read(identity.size - end + ending.count, from: end - ending.count)
        if !bytes.starts(with: ending) {
            self = FileTail()
            isAnother = true
            bytes = try file.read(identity.size)
        }
        seen = identity
        let (first, offset) = (end, end - ending.count)
        let content = BucketContent(bytes: bytes, name: file.name, identity: identity, linesBefore: offset)
        if let last = bytes.lastIndex(of: 0x0A) { end = offset + last + 1 }
        ending = Array(bytes.prefix(end - offset).suffix(Self.endingBytes))
        return Lines(areAll: isAnother, content: content, offset: offset, first: first)
    }

    private func hasGrown(to file: FileIdentity) -> Bool {
        guard let seen else { return false }
        return seen.inode == file.inode && seen.device == file.device && seen.size < file.size && end <= file.size
    }
}
