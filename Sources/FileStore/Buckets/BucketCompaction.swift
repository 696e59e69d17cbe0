// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
internal import JSON
import Store
internal import Text

/// Which lines of a bucket still count.
struct LiveLines {
    /// Line feed included.
    typealias Range = Swift.Range<Int>

    /// The lines to keep, as raw bytes in their old order, each with the hash of its key.
    private(set) var live: [(range: Range, hash: UInt64)] = []
    /// The lines that cannot be read.
    let broken: [Range]
    let liveBytes: Int
    /// Whether a record has outlived its time, or was removed from a table in which that is to go soon.
    let hasExpired: Bool
    /// What is not kept because there are too many.
    private(set) var excess: [CurrentRecord] = []
    private let records: CurrentRecords
    /// How many different keys live here.
    let keys: Int

    /// - Parameter depth: how deep the file lies.
    init(_ content: BucketContent, _ table: BucketTable, depth: Int, now: Timestamp?) {
        records = CurrentRecords(content, table, parsingAll: true)
        broken = records.broken.map(\.range)
        var kept = records.all.filter { record in
            guard let now, let end = record.expiresAt else { return true }
            return end > now
        }
        hasExpired = kept.count < records.count || table.schema.erasesRemoved && records.hasRemovals
        if table.schema.recordsPerKey != nil || table.schema.maximumRecords != nil {
            excess = Self.dropExcess(from: &kept, table, depth: depth) { [records] record in
                records.line(of: record)?.value["owner"]?.string ?? ""
            }
        }
        var hashes: Set<UInt64> = []
        for record in kept {
            let hash = table.hash(of: record.name.keyText)
            hashes.insert(hash)
            live.append((record.newest.range, hash))
            live += record.ops.map { ($0.place.range, hash) }
        }
        live.sort { $0.range.lowerBound < $1.range.lowerBound }
        liveBytes = live.reduce(0) { $0 + $1.range.count }
        keys = hashes.count
    }

    /// The lines of what is not kept because there are too many.
    var excessLines: [JSONValue] { excess.compactMap { records.line(of: $0)?.value } }

    /// - Returns: those that are too many.
    private static func dropExcess(
        from records: inout [CurrentRecord], _ table: BucketTable, depth: Int, owner: (CurrentRecord) -> String
    ) -> [CurrentRecord] {
        let (perKey, limit) = (table.schema.recordsPerKey ?? .max, table.recordLimit(depth: depth) ?? .max)
        var (kept, ofKey, excess) = ([CurrentRecord](), [ArraySlice<UInt8>: Int](), [CurrentRecord]())
        for record in records.sorted(by: { $0.newest.start > $1.newest.start }) {
            let others = ofKey[record.name.key, default: 0]
            if others < perKey {
                kept.append(record)
                ofKey[record.name.key] = others + 1
            } else {
                excess.append(record)
            }
        }
        if kept.count > limit, table.schema.sharesRecords { kept = inTurns(kept, owner) }
        records = Array(kept.prefix(limit))
        return excess + kept.dropFirst(limit)
    }

    /// The newest record of each owner, then the second of each, and so on.
    private static func inTurns(
        _ records: [CurrentRecord], _ owner: (CurrentRecord) -> String
    ) -> [CurrentRecord] {
        var ofOwner: [String: Int] = [:]
        let ranked = records.enumerated().map { (place, record) in
            let owner = owner(record)
            let turn = ofOwner[owner, default: 0]
            ofOwner[owner] = turn + 1
            return (turn: turn, place: place, record: record)
        }
        return ranked.sorted { ($0.turn, $0.place) < ($1.turn, $1.place) }.map(\.record)
    }
}

extension BucketTable {
    /// Rewrites a file with its live lines only, or splits it where they are still too many. Under the lock.
    ///
    /// The raw bytes of the lines are kept, so members that an administrator or a newer version added survive. Lines
    /// that cannot be read go to `quarantine/` first. A crash at any point leaves the old file or the new one.
    func compact(_ file: OpenFile, _ hash: UInt64, depth: Int, now: Timestamp?) throws(StoreError) {
        let content = try Self.content(of: file)
        let liveLines = LiveLines(content, self, depth: depth, now: now)
        try quarantine(liveLines.broken, of: content)
        let isCrowded = liveLines.liveBytes > context.options.bucketBytes / 2
        if isCrowded, liveLines.keys > 1, depth < Self.maximumDepth, schema.maximumRecords == nil {
            try split(content, liveLines, path(hash, depth: depth), depth)
        } else {
            try rewrite(content, liveLines, path(hash, depth: depth))
        }
        if !liveLines.excess.isEmpty { schema.onForgotten?(liveLines.excessLines) }
    }

    private func rewrite(_ content: BucketContent, _ liveLines: LiveLines, _ path: String) throws(StoreError) {
        let lines = Self.file(of: liveLines.live.map { content.bytes[$0.range] })
        try replaceFile(path + Self.fileSuffix, with: lines)
        context.report(
            .compacted(file: content.name, bytesBefore: content.bytes.count, bytesAfter: lines.count))
    }

    /// Removes the file of a table that is one file, when no record of it is left at that time. Lines that cannot be read go to
    /// `quarantine/` first.
    /// - Returns: whether it was removed.
    func removeFile(_ hash: UInt64, ifEmptyAt now: Timestamp) throws(StoreError) -> Bool {
        try withLock(hash) { () throws(StoreError) -> Bool in
            guard let (file, depth) = try open(hash, O_RDWR | O_APPEND), depth == 0 else { return false }
            // It ends the tail first, which would otherwise be taken for nothing.
            _ = try BucketWriter(context, file)
            let content = try Self.content(of: file)
            let liveLines = LiveLines(content, self, depth: depth, now: now)
            guard liveLines.live.isEmpty else { return false }
            try quarantine(liveLines.broken, of: content)
            unlink(context.path + "/" + file.name)
            try context.flushFolder(Self.folder(of: file.name))
            return true
        }
    }

    /// Writes the bytes whole under another name, then renames them. Under the lock.
    func replaceFile(_ name: String, with bytes: [UInt8]) throws(StoreError) {
        let temporary = name + ".tmp"
        do throws(StoreError) {
            try context.flush(try newFile(temporary, bytes))
        } catch {
            unlink(context.path + "/" + temporary)
            throw error
        }
        try rename(temporary, name)
        try context.flushFolder(Self.folder(of: name))
    }

    /// Makes the folder whole under another name, then renames it: from that moment on it wins over the file.
    ///
    /// The file stays for a while (`FileSiteStore.Options.splitFileLifetime`). A program that copies the store may have read
    /// the names of this folder before, and would find neither the file nor, among its names, the new folder.
    private func split(
        _ content: BucketContent, _ liveLines: LiveLines, _ path: String, _ depth: Int
    ) throws(StoreError) {
        let shift = UInt64(64 - (schema.beginsWhole ? 0 : 8) - 4 * (depth + 1))
        var parts = [[ArraySlice<UInt8>]](repeating: [], count: 16)
        for line in liveLines.live { parts[Int(line.hash >> shift & 15)].append(content.bytes[line.range]) }
        let temporary = path + ".tmp"
        do throws(StoreError) {
            try removeFolder(temporary)
            try makeFolder(temporary)
            try writeParts(parts, into: temporary)
            try context.flushFolder(temporary)
        } catch {
            try removeFolder(temporary)
            throw error
        }
        try rename(temporary, path)
        try context.flushFolder(Self.folder(of: path))
        markAsSplit(path + Self.fileSuffix)
        context.report(.split(file: content.name))
    }

    /// Files of a split that are flushed together. All threads may split at the same time, and each file that is open
    /// counts against the process.
    private static let filesAtOnce = 4

    /// Writes and flushes the parts that hold something, each into the file that its digit names.
    private func writeParts(_ parts: [[ArraySlice<UInt8>]], into folder: String) throws(StoreError) {
        let digits = parts.indices.filter { !parts[$0].isEmpty }
        for start in stride(from: 0, to: digits.count, by: Self.filesAtOnce) {
            var files: [OpenFile] = []
            for digit in digits[start...].prefix(Self.filesAtOnce) {
                let name = folder + "/" + String(digit, radix: 16) + Self.fileSuffix
                files.append(try newFile(name, Self.file(of: parts[digit])))
            }
            // The disk works on all of them while the first is waited for.
            for file in files { file.startWriting() }
            for file in files { try context.flush(file) }
        }
    }

    /// Header and lines.
    private static func file(of lines: [ArraySlice<UInt8>]) -> [UInt8] {
        let base = lines.reduce(0) { $0 + $1.count }
        var bytes = BucketContent.header + Array("\(base)}\n".utf8)
        bytes.reserveCapacity(bytes.count + base)
        for line in lines { bytes += line }
        return bytes
    }

    private func quarantine(_ broken: [LiveLines.Range], of content: BucketContent) throws(StoreError) {
        guard !broken.isEmpty else { return }
        let name = "quarantine/" + content.name.split(separator: "/").joined(separator: "-")
        let file = try OpenFile.open(context, name, O_WRONLY | O_APPEND | O_CREAT)
        try file.write(broken.flatMap { content.bytes[$0] })
        try context.flush(file)
        try context.flushFolder("quarantine")
        context.report(.quarantined(file: content.name, lines: broken.count))
    }

    /// - Returns: the file, which has yet to be flushed.
    private func newFile(_ name: String, _ bytes: [UInt8]) throws(StoreError) -> OpenFile {
        let file = try OpenFile.open(context, name, O_WRONLY | O_CREAT | O_TRUNC)
        try file.write(bytes)
        return file
    }

    private func rename(_ old: String, _ new: String) throws(StoreError) {
        guard Glibc.rename(context.path + "/" + old, context.path + "/" + new) == 0 else {
            throw StoreError(errno, "rename", old, writing: true)
        }
    }

    private func makeFolder(_ name: String) throws(StoreError) {
        guard mkdir(context.path + "/" + name, 0o700) == 0 else {
            throw StoreError(errno, "mkdir", name, writing: true)
        }
    }

    /// Sets the time of the last status change (ctime), from which the file's lifetime counts; its own time of change
    /// stays. Where that fails the lifetime counts from the last line: a copy may miss the file then, and says so.
    private func markAsSplit(_ name: String) {
        _ = platform_touch_status(context.path + "/" + name)
    }

    /// Removes what a split that was cut short left under its temporary name: at most 16 files.
    func removeFolder(_ name: String) throws(StoreError) {
        for digit in 0..<16 { unlink(context.path + "/" + name + "/" + String(digit, radix: 16) + ".jsonl") }
        guard rmdir(context.path + "/" + name) == 0 || errno == ENOENT else {
            throw StoreError(errno, "rmdir", name, writing: true)
        }
    }
}
