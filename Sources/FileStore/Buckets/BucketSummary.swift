// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
import System

/// What a process knows of a bucket of notifications without reading it again: which ids are free in it, and that none of
/// its owners can have come to the quota. So a create costs the same whatever the bucket holds.
///
/// It is valid if the inode is unchanged and the checksum at the last known end still matches. Newer lines are then read.
/// A rewritten bucket is another file. Ids that an editor puts into the middle of a file are not known, and would be drawn
/// once in 2^31 times.
struct BucketSummary {
    /// Ids are told apart by so many of their lowest bits: an id of the same bits counts as taken, and is drawn again.
    private static let idBits = 11
    /// With more records than this half of all ids that are drawn would be taken; larger buckets are read.
    static let maximumRecords = 1 << (idBits - 1)
    /// The checksum stands so far before the end of a line, line feed included.
    private static let checksumOffset = 11

    /// The lines that create a record, also those of removed and expired ones.
    private(set) var records = 0
    private var taken = [UInt64](repeating: 0, count: 1 << (idBits - 6))
    private let device: UInt64
    private let inode: UInt64
    private var size = 0
    /// The eight bytes at `checksumOffset` before `size`.
    private var checksum: [UInt8] = []

    /// Of a bucket of which nothing has been read.
    init(of bucket: BucketWriter) {
        (device, inode) = (bucket.identity.device, bucket.identity.inode)
    }

    private static func place(of id: Int32) -> (word: Int, bit: UInt64) {
        let bits = Int(truncatingIfNeeded: id) & (1 << idBits - 1)
        return (bits >> 6, 1 << UInt64(bits & 63))
    }

    /// Whether no record of any owner has that id.
    func isFree(_ id: Int32) -> Bool {
        let place = Self.place(of: id)
        return taken[place.word] & place.bit == 0
    }

    private mutating func insert(_ id: Int32) {
        let place = Self.place(of: id)
        taken[place.word] |= place.bit
    }

    /// Reads what others have appended since.
    /// - Returns: false when this is another file, or it was edited: then the summary must be made again.
    mutating func catchUp(with bucket: BucketWriter) throws(StoreError) -> Bool {
        let file = bucket.identity
        guard file.inode == inode, file.device == device, bucket.size >= size else { return false }
        guard bucket.size > size else { return true }
        let overlap = checksum.isEmpty ? 0 : Self.checksumOffset
        let tail = try bucket.content(from: size - overlap)
        guard tail.bytes.starts(with: checksum) else { return false }
        tail.forEachLine { raw in
            // What is read again of the last line is the end of one.
            if raw.offset + raw.bytes.count >= overlap { insert(raw.bytes) }
        }
        end(at: bucket.size, tail.bytes)
        return true
    }

    /// Takes in the line that was just appended.
    mutating func append(_ id: Int32, _ line: [UInt8], to bucket: BucketWriter) {
        insert(id)
        records += 1
        end(at: bucket.size, line)
    }

    private mutating func end(at size: Int, _ bytes: [UInt8]) {
        self.size = size
        checksum = bytes.count < Self.checksumOffset ? [] : Array(bytes.suffix(Self.checksumOffset).prefix(8))
    }

    private mutating func insert(_ line: UnsafeBufferPointer<UInt8>) {
        if let own = LinePrefilter.numbered(line) {
            insert(own.id)
            if !own.isOp { records += 1 }
        } else {
            // Written by hand: it counts, even an op, and whether it is whole is for those to report who want it.
            records += 1
            guard let value = try? JSONValue(parsing: line), let id = value["id"] else { return }
            if let id = (id.integer ?? id.string.flatMap { Int($0) }).flatMap(Int32.init(exactly:)) { insert(id) }
        }
    }
}

/// The summaries of the buckets that this process has written to last.
final class BucketSummaries: Sendable {
    /// Each takes about 400 bytes; so many buckets hold three million records.
    private static let maximumBuckets = 8_192
    /// By file. Many threads write at once, and one lock for all of them would be what they wait for.
    private let shelves = (0..<64).map { _ in Shelf() }

    private final class Shelf: Sendable {
        let known = Lock<[UInt64: BucketSummary]>([:])
    }

    /// Lends the summary of the bucket, which is up to date while its lock is held.
    func withSummary<Outcome>(
        of bucket: BucketWriter, _ body: (inout BucketSummary) throws(StoreError) -> Outcome
    ) throws(StoreError) -> Outcome {
        let inode = bucket.identity.inode
        let shelf = shelves[Int(inode % UInt64(shelves.count))]
        // Taken out, so that there is one of it and it is changed in place.
        var summary = shelf.known.withLock { $0.removeValue(forKey: inode) } ?? BucketSummary(of: bucket)
        if try !summary.catchUp(with: bucket) {
            summary = BucketSummary(of: bucket)
            _ = try summary.catchUp(with: bucket)
        }
        let outcome = Result { () throws(StoreError) in try body(&summary) }
        shelf.known.withLock { [summary] in
            if $0.count >= Self.maximumBuckets / shelves.count { $0.removeAll(keepingCapacity: true) }
            $0[inode] = summary
        }
        return try outcome.get()
    }
}
