// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store
import System

/// Records that were read, of files that have not changed since: every request asks for its user, and an app asks for
/// the same notification again and again.
///
/// Nothing is believed that is not checked, by two `stat`: the file is still the one that was read, and no folder has
/// taken its place. What any process appends, compacts or splits, and what an editor saves, is seen by the next call.
final class RecordCache<Key: Hashable & Sendable, Record: Sendable>: Sendable {
    /// Bytes that all entries together may take.
    private static var maximumBytes: Int { 4 << 20 }
    /// What an entry takes beside the texts of its record, in bytes: itself, its place in the table, two paths.
    private static var overhead: Int { 512 }

    /// A class, because each request looks up several, and a copy of a record is one of all of its texts.
    private final class Entry: Sendable {
        let record: Record
        let size: Int
        private let identity: FileIdentity
        private let file: String
        /// Where the file's lines are once it was split.
        private let folder: String

        init(record: Record, size: Int, identity: FileIdentity, file: String) {
            (self.record, self.size, self.identity, self.file) = (record, size, identity, file)
            folder = String(file.dropLast(BucketTable.fileSuffix.utf8.count))
        }

        /// If the file is there, so are the folders above it; only its own could hide it.
        var isCurrent: Bool { !BucketTable.isFolder(folder) && FileIdentity(path: file) == identity }
    }

    private struct Entries {
        var byKey: [Key: Entry] = [:]
        var bytes = 0

        /// Forgets all of them where one more would be too many: what is asked for is back at once.
        mutating func insert(_ entry: Entry, _ key: Key) {
            if let old = byKey.removeValue(forKey: key) { bytes -= old.size }
            if bytes + entry.size > maximumBytes { self = Entries() }
            byKey[key] = entry
            bytes += entry.size
        }
    }

    private let entries = Lock(Entries())

    /// The record as it is in its file, even if it has expired; nil when the file has to be asked.
    func record(_ key: Key) -> Record? {
        guard let entry = entries.withLock({ $0.byKey[key] }), entry.isCurrent else { return nil }
        return entry.record
    }

    /// Remembers what was found in `content`, unless that has changed too lately for the next change to show.
    /// - Parameters:
    ///   - bytes: of the record's texts.
    ///   - asked: `FileIdentity.clock` before the file was opened.
    func remember(
        _ record: Record, as key: Key, bytes: Int, of content: BucketContent, in context: StoreContext, asked: Int
    ) {
        let (age, overflow) = asked.subtractingReportingOverflow(content.identity.changedAt)
        guard !overflow, .nanoseconds(age) >= context.options.settlingTime else { return }
        let entry = Entry(
            record: record, size: bytes + Self.overhead, identity: content.identity,
            file: context.path + "/" + content.name)
        entries.withLock { $0.insert(entry, key) }
    }
}
