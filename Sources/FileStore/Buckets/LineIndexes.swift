// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
import System

/// The indexes of the files that this process has read lately: what a reader of one record wants of a bucket is a line of
/// hundreds.
final class LineIndexes: Sendable {
    /// Many threads read at once, and one lock for all of them would be what they wait for. What is on one shelf is forgotten
    /// together.
    private static let shelfCount = 64
    /// Each takes some 25 bytes.
    private static let entriesPerShelf = LineIndex.maximumEntries

    private final class File: Sendable {
        let index = Lock(LineIndex())
    }

    private struct Shelf {
        /// Each with what it counts for.
        private var files: [UInt64: (file: File, entries: Int)] = [:]
        private var entries = 0

        /// - Returns: nil for a file that is asked for the first time: reading it once costs less without an index.
        mutating func file(_ inode: UInt64) -> File? {
            if let known = files[inode] { return known.file }
            note(File(), inode, entries: 0)
            return nil
        }

        mutating func note(_ file: File, _ inode: UInt64, entries new: Int) {
            // A file of which nothing is known yet counts as well.
            let new = new + 1
            entries += new - (files[inode]?.entries ?? 0)
            if entries > LineIndexes.entriesPerShelf { (files, entries) = ([:], new) }
            files[inode] = (file, new)
        }
    }

    private let shelves = (0..<shelfCount).map { _ in ShelfLock() }

    private final class ShelfLock: Sendable {
        let shelf = Lock(Shelf())
    }

    /// Where the lines of that name begin in the file, and which state of the file that is.
    /// - Returns: nil where the whole file has to be read.
    func starts(
        of name: UInt32, in file: OpenFile, _ identity: FileIdentity, _ names: LineNames, limit: Int
    ) throws(StoreError) -> (starts: [Int], identity: FileIdentity)? {
        let shelf = shelves[Int(identity.inode % UInt64(shelves.count))].shelf
        guard let known = shelf.withLock({ $0.file(identity.inode) }) else { return nil }
        let (found, entries, hasChanged) = try known.index.withLock {
            index throws(StoreError) -> ((starts: [Int], identity: FileIdentity)?, Int, Bool) in
            let before = index.count
            try index.catchUp(with: file, names)
            let starts = index.starts(of: name, limit: limit)
            let found = index.seen.flatMap { seen in starts.map { (starts: $0, identity: seen) } }
            return (found, index.count, index.count != before)
        }
        if hasChanged { shelf.withLock { $0.note(known, identity.inode, entries: entries) } }
        return found
    }
}

extension BucketTable {
    /// More lines than these are not read one by one.
    private static let maximumSingleLines = 16
    /// A larger file holds little but the records of one key.
    private static let maximumIndexedBytes = 1 << 20
    /// What is read at once where a line begins: most are shorter.
    private static let usualLineBytes = 512

    /// The lines of the key, or of its record of that id, in their order; other lines of the file may be among them.
    func readLines(of key: String, id: JSONValue? = nil) throws(StoreError) -> BucketContent? {
        guard let (file, _) = try open(hash(of: key), O_RDONLY) else { return nil }
        return try lines(of: key, id: id, in: file)
    }

    /// As `readLines(of:id:)`, of a file that is open.
    func lines(of key: String, id: JSONValue? = nil, in file: OpenFile) throws(StoreError) -> BucketContent {
        let identity = try file.identity()
        if let lines = try indexedLines(of: key, id: id, in: file, identity) { return lines }
        return try Self.content(of: file, identity)
    }

    /// - Parameter identity: of the file, at present.
    /// - Returns: nil where the whole file has to be read.
    func indexedLines(
        of key: String, id: JSONValue?, in file: OpenFile, _ identity: FileIdentity
    ) throws(StoreError) -> BucketContent? {
        guard identity.size > context.options.indexedFileBytes, identity.size <= Self.maximumIndexedBytes,
            let name = lineNames.name(key: key, id: id),
            let (starts, seen) = try context.lineIndexes.starts(
                of: name, in: file, identity, lineNames, limit: Self.maximumSingleLines)
        else { return nil }
        let probe = LinePrefilter(schema, key: key, id: id)
        var bytes: [UInt8] = []
        for start in starts {
            let line = try Self.line(at: start, of: file)
            let isRight = line.withUnsafeBufferPointer { line in
                guard let line = line.last == 0x0A ? UnsafeBufferPointer(rebasing: line.dropLast()) : nil else {
                    return false
                }
                if case .other = probe.examine(line) { return true }
                return LineCodec.hasValidChecksum(line)
            }
            // A broken or an edited line is reported with its number, which is not known here.
            guard isRight else { return nil }
            bytes += line
        }
        return BucketContent(bytes: bytes, name: file.name, identity: seen, linesBefore: 1)
    }

    /// - Returns: with its line feed; without one at the end of the file.
    private static func line(at start: Int, of file: OpenFile) throws(StoreError) -> [UInt8] {
        var count = usualLineBytes
        while true {
            let bytes = try file.read(count, from: start)
            if let end = bytes.firstIndex(of: 0x0A) { return Array(bytes[...end]) }
            guard bytes.count == count, count < maximumFileBytes else { return bytes }
            count *= 4
        }
    }
}
