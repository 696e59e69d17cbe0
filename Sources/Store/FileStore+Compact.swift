// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a pass over a table's files has done, one file after the other.
package struct RewriteReport: Equatable, Sendable {
    /// Files that were looked at.
    package internal(set) var files = 0
    /// Those that were written anew.
    package internal(set) var rewritten = 0
    /// Those whose lock another process had for too long; they are as they were.
    package internal(set) var busy = 0
    /// Of the lines of the files that were looked at.
    package internal(set) var bytesBefore = 0
    package internal(set) var bytesAfter = 0
    /// Lines that got a new checksum.
    package internal(set) var sealedLines = 0

    package init() {}

    package static func += (one: inout RewriteReport, other: RewriteReport) {
        one.files += other.files
        one.rewritten += other.rewritten
        one.busy += other.busy
        one.bytesBefore += other.bytesBefore
        one.bytesAfter += other.bytesAfter
        one.sealedLines += other.sealedLines
    }
}

extension FileStore {
    /// Rewrites every file of the table that holds what was superseded, was removed or has expired, or cannot be read;
    /// each under its own lock, which is given back before the next. Others may read and write meanwhile.
    /// - Parameter onFile: is called after each file.
    /// - Throws: as every write, but for `busy`, which is counted.
    package func compact(
        _ table: StoreTable, now: Timestamp, onFile: () -> Void = {}
    ) throws(StoreError) -> RewriteReport {
        try table.table.rewriteFiles(onFile) { (hash) throws(StoreError) in try table.table.compactNow(hash, now: now) }
    }
}

extension BucketTable {
    /// Calls `rewrite` with a hash of every file, in their order, and adds up what it reports; nil: there was no file.
    func rewriteFiles(
        _ onFile: () -> Void, _ rewrite: (_ hash: UInt64) throws(StoreError) -> RewriteReport?
    ) throws(StoreError) -> RewriteReport {
        try context.checkWritable()
        var total = RewriteReport()
        var position: UInt64? = 0
        while let hash = position {
            do throws(StoreError) {
                if let report = try rewrite(hash) {
                    total += report
                    onFile()
                }
            } catch {
                guard case .busy = error else { throw error }
                (total.files, total.busy) = (total.files + 1, total.busy + 1)
            }
            // Asked anew, for the file may have been split just now.
            position = nextHash(hash, depth: depth(hash))
        }
        return total
    }

    fileprivate func compactNow(_ hash: UInt64, now: Timestamp) throws(StoreError) -> RewriteReport? {
        guard let (file, depth) = try open(hash, O_RDONLY) else { return nil }
        let seen = try Waste(Self.content(of: file), self, depth, now)
        guard seen.isThere else { return seen.report }
        return try withLock(hash) { () throws(StoreError) -> RewriteReport? in
            guard let (file, depth) = try open(hash, O_RDWR | O_APPEND) else { return nil }
            // Ends a half line, which would else be taken for nothing.
            _ = try BucketWriter(context, file)
            let found = try Waste(Self.content(of: file), self, depth, now)
            guard found.isThere else { return found.report }
            try compact(file, hash, depth: depth, now: now)
            var report = found.report
            (report.rewritten, report.bytesAfter) = (1, found.liveBytes)
            return report
        }
    }
}

/// What of a file's lines need not be there.
private struct Waste {
    let bytes: Int
    let liveBytes: Int

    init(_ content: BucketContent, _ table: BucketTable, _ depth: Int, _ now: Timestamp) {
        bytes = content.bytes.count - content.start
        liveBytes = BucketCensus(content, table, depth: depth, now: now).liveBytes
    }

    var isThere: Bool { liveBytes < bytes }

    /// Of a file that stays as it is.
    var report: RewriteReport {
        var report = RewriteReport()
        (report.files, report.bytesBefore, report.bytesAfter) = (1, bytes, bytes)
        return report
    }
}
