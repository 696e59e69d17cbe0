// SPDX-License-Identifier: Apache-2.0
import Glibc

extension FileStore {
    /// Gives the lines that were edited by hand the right checksum, so that they count as written. Every other byte
    /// stays. One file after the other is written anew under its lock; others may read and write meanwhile.
    /// - Parameter onFile: is called after each file.
    /// - Throws: as every write, but for `busy`, which is counted.
    package func seal(_ table: StoreTable, onFile: () -> Void = {}) throws(StoreError) -> RewriteReport {
        try table.table.rewriteFiles(onFile) { (hash) throws(StoreError) in try table.table.seal(hash) }
    }
}

extension BucketTable {
    fileprivate func seal(_ hash: UInt64) throws(StoreError) -> RewriteReport? {
        guard let (file, _) = try open(hash, O_RDONLY) else { return nil }
        let seen = Resealing(try Self.content(of: file), schema)
        guard seen.lines > 0 || seen.hasTail else { return seen.report }
        return try withLock(hash) { () throws(StoreError) -> RewriteReport? in
            guard let (file, depth) = try open(hash, O_RDWR | O_APPEND) else { return nil }
            // A last line without its end is an editor's, or that of a writer who has died.
            let writer = try BucketWriter(context, file)
            let new = Resealing(try writer.content(), schema)
            guard new.lines > 0 else {
                try writer.flush()
                return new.report
            }
            try replaceFile(path(hash, depth: depth) + Self.fileSuffix, with: new.bytes)
            return new.report
        }
    }
}

/// A file's bytes with every line sealed that can be.
private struct Resealing {
    private(set) var bytes: [UInt8] = []
    private(set) var lines = 0
    /// Whether something stands behind the last line feed.
    let hasTail: Bool
    private let before: Int

    init(_ content: BucketContent, _ schema: TableSchema) {
        before = content.bytes.count
        hasTail = content.bytes.last.map { $0 != 0x0A } ?? false
        bytes.reserveCapacity(before + 1_024)
        var copied = 0
        content.forEachLine { raw in
            // A line that cannot be read stays as it is: `verify` names it.
            guard !LineCodec.isSealed(raw.bytes), let line = try? LineCodec.decode(raw.bytes, schema) else { return }
            bytes += content.bytes[copied..<raw.offset]
            bytes += LineSeal.seal(raw.bytes, line.value)
            copied = raw.offset + raw.bytes.count + 1
            lines += 1
        }
        bytes += content.bytes[copied...]
    }

    var report: RewriteReport {
        var report = RewriteReport()
        (report.files, report.rewritten) = (1, lines > 0 ? 1 : 0)
        (report.bytesBefore, report.bytesAfter, report.sealedLines) = (before, bytes.count, lines)
        return report
    }
}
