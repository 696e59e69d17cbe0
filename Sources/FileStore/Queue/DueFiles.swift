// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store
import System
internal import Text

/// The files of messages that wait for their time, one for each hour in which some are due.
///
/// A message stays in the file of its hour until it has been delivered; none is moved, so a crash can neither lose nor repeat
/// one by that. A file whose hour is still to come is not opened for a look, for a count, or when the store is opened.
final class DueFiles: Sendable {
    static let folder = "hub/due"

    private let context: StoreContext
    private let locks: BucketLocks?
    private let known = Lock(Known())

    private struct Known {
        /// The hours that there are files of, and the folder as it was when its names were read.
        var hours: [DueHour] = []
        var folder: FileIdentity?
        /// Files in which nothing was due when they were read, and until when that holds while they do not change.
        var idle: [DueHour: (identity: FileIdentity, until: Timestamp?)] = [:]
    }

    init(_ context: StoreContext) throws(StoreError) {
        self.context = context
        locks = context.isReadOnly ? nil : try BucketLocks(context, name: "lock/hub-due")
    }

    /// The file of that hour, as a table of its own.
    func table(_ hour: DueHour) -> BucketTable {
        BucketTable(context, .due(hour, Self.folder), locks)
    }

    func identity(_ hour: DueHour) -> FileIdentity? {
        FileIdentity(path: context.path + "/" + Self.folder + "/" + hour.name + BucketTable.fileSuffix)
    }

    /// The hours that there are files of, in their order. Their names are read again when the folder has changed.
    func hours() throws(StoreError) -> [DueHour] {
        let asked = FileIdentity.clock
        guard let folder = FileIdentity(path: context.path + "/" + Self.folder) else {
            // Of the first format, and opened for reading only.
            guard errno == ENOENT else { throw StoreError(errno, "stat", Self.folder, writing: false) }
            return []
        }
        if let hours = known.withLock({ $0.folder == folder ? $0.hours : nil }) { return hours }
        let names = try FolderNames.all(in: context.path + "/" + Self.folder)
        let suffix = BucketTable.fileSuffix
        let hours = names.compactMap { $0.hasSuffix(suffix) ? DueHour(name: String($0.dropLast(suffix.count))) : nil }
            .sorted()
        // As `RecordCache`: the next change might not show otherwise.
        let (age, overflow) = asked.subtractingReportingOverflow(folder.changedAt)
        let isSettled = !overflow && .nanoseconds(age) >= context.options.settlingTime
        known.withLock { known in
            (known.hours, known.folder) = (hours, isSettled ? folder : nil)
            known.idle = known.idle.filter { hours.contains($0.key) }
        }
        return hours
    }

    /// What all files take on the disk, in bytes.
    func size() throws(StoreError) -> Int {
        try hours().reduce(0) { $0 + (identity($1)?.size ?? 0) }
    }

    // MARK: What is due

    /// Messages of one hour that are due, and when the next one in its file is.
    struct Found {
        var messages: [(message: HubMessage, place: Int)] = []
        var next: Timestamp?
    }

    /// Reads the file of an hour that has begun, unless it is known that nothing in it is due.
    /// - Parameter ids: of messages that are left out.
    func read(
        _ hour: DueHour, except ids: Set<String> = [], limit: Int = .max, now: Timestamp
    ) throws(StoreError) -> Found {
        if let idle = known.withLock({ $0.idle[hour] }), idle.until.map({ now < $0 }) ?? true,
            identity(hour) == idle.identity
        {
            return Found(next: idle.until)
        }
        let table = table(hour)
        guard let content = try table.read(QueuedLine.key) else { return Found() }
        let records = CurrentRecords(content, table, key: QueuedLine.key)
        var (found, due) = (Found(), [(record: CurrentRecord, at: Timestamp)]())
        for record in records.all {
            // Of another hour: moved by hand. Its changes would be written elsewhere.
            guard let at = records.time(.notBefore, of: record), hour.contains(at) else { continue }
            if at <= now { due.append((record, at)) } else { found.next = min(at, found.next ?? at) }
        }
        let next = found.next
        if due.isEmpty { known.withLock { $0.idle[hour] = (content.identity, next) } }
        due.sort { ($0.at, $0.record.first.number) < ($1.at, $1.record.first.number) }
        for (record, _) in due where !ids.contains(record.name.idText) {
            guard found.messages.count < limit else { break }
            guard let message = records.line(of: record).flatMap({ HubMessage(line: $0.value) }) else { continue }
            if message.dueAt <= now { found.messages.append((message, record.first.number)) }
        }
        return found
    }
}

extension CurrentRecords {
    /// A time at the end of a line of the queue.
    enum LineTime {
        case notBefore, createdAt

        /// The end of a line as this version writes it: `,"notBefore":"…","createdAt":"…","expiresAt":"…","crc":"…"}`. Times
        /// are as long as `2026-12-21T00:00:00Z`.
        private static let parts = [",\"notBefore\":\"", "\",\"createdAt\":\"", "\",\"expiresAt\":\""].map {
            Array($0.utf8)
        }
        private static let timeLength = 20
        private static let checksum = "\",\"crc\":\"c72f8ef9\"}".utf8.count
        private static let endings = parts.indices.map { index in
            parts[index...].reduce(checksum) { $0 + $1.count + timeLength }
        }

        var name: String { self == .notBefore ? "notBefore" : "createdAt" }

        /// What the line says, without parsing all of it; nil for lines of another form.
        func text(in line: UnsafeBufferPointer<UInt8>) -> String? {
            let index = self == .notBefore ? 0 : 1
            let (part, start) = (Self.parts[index].dropFirst(index), line.count - Self.endings[index] + index)
            guard start > 0, line[start..<start + part.count].elementsEqual(part) else { return nil }
            let begin = start + part.count
            guard line[begin + Self.timeLength] == UInt8(ascii: "\"") else { return nil }
            return String(decoding: line[begin..<begin + Self.timeLength], as: UTF8.self)
        }
    }

    /// A record's time as a text; nil where it has none.
    func timeText(_ time: LineTime, of record: CurrentRecord) -> String? {
        withNewestLine(of: record, time.text) ?? line(of: record)?.value[time.name]?.string
    }

    func time(_ time: LineTime, of record: CurrentRecord) -> Timestamp? {
        timeText(time, of: record).flatMap { Timestamp(text: $0) }
    }
}

/// An hour in which messages are due. It names their file: `hub/due/2026-11-29T10.jsonl`.
struct DueHour: Hashable, Comparable {
    /// What a name lacks of a time.
    private static let rest = ":00:00Z"

    /// `2026-11-29T10`
    let name: String
    let start: Timestamp

    /// The hour that holds that moment.
    init(of time: Timestamp) {
        name = String(time.text.dropLast(Self.rest.utf8.count))
        start = Timestamp(text: name + Self.rest) ?? time
    }

    /// Nil for what names no hour.
    init?(name: String) {
        guard let start = Timestamp(text: name + Self.rest) else { return nil }
        (self.name, self.start) = (name, start)
    }

    func contains(_ time: Timestamp) -> Bool { time >= start && time < start + 3_600 }

    static func < (one: DueHour, other: DueHour) -> Bool { one.start < other.start }
}

extension FileSiteStore {
    /// The files of `DueFiles`, as tables.
    func dueTables() throws(StoreError) -> [BucketTable] { try dueFiles.hours().map(dueFiles.table) }
}

extension DueFiles {
    /// Looks after one file, as `BucketTable.tidy(_:now:)` does; removes it when nothing in it waits any more. Of an hour that
    /// is still to come nothing is read.
    /// - Returns: whether it was rewritten or removed.
    @discardableResult
    func tidy(_ hour: DueHour, now: Timestamp) throws(StoreError) -> Bool {
        let table = table(hour)
        let hash = table.hash(of: QueuedLine.key)
        guard hour.start <= now else {
            try table.removeTemporaries(hash, depth: 0)
            return false
        }
        let isCompacted = try table.tidy(hash, now: now)
        let isRemoved = try table.removeFile(hash, ifEmptyAt: now)
        return isCompacted || isRemoved
    }
}
