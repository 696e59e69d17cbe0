// SPDX-License-Identifier: Apache-2.0

/// What a table of the store consists of. It names files, never what they hold.
package struct TableStatistics: Equatable, Sendable {
    package let name: String
    /// Files that are read, and their bytes.
    package internal(set) var files = 0
    package internal(set) var bytes = 0
    /// All lines of these, without headers.
    package internal(set) var lines = 0
    /// Records, or hints of an index, that count.
    package internal(set) var records = 0
    /// Those that have outlived their time, and wait to be swept away.
    package internal(set) var expired = 0
    /// Lines that change or remove what an earlier one says.
    package internal(set) var opLines = 0
    /// Lines that cannot be read.
    package internal(set) var brokenLines = 0
    /// Lines that could not be read and were moved to `quarantine/`.
    package internal(set) var quarantinedLines = 0
    /// The largest file; nil where there is none.
    package internal(set) var largest: FileSize?
    /// Files and folders, those included that nobody reads any more.
    package internal(set) var inodes = 0
    /// When the oldest and the youngest of the records were made or last changed, as far as they say.
    package internal(set) var oldest: Timestamp?
    package internal(set) var newest: Timestamp?

    package struct FileSize: Equatable, Sendable {
        /// Relative to the store's folder.
        package let name: String
        package let bytes: Int
    }

    mutating func add(_ content: BucketContent, _ table: BucketTable, now: Timestamp) {
        files += 1
        bytes += content.bytes.count
        if content.bytes.count > largest?.bytes ?? -1 {
            largest = FileSize(name: content.name, bytes: content.bytes.count)
        }
        let found = RecordStates(content, table)
        lines += found.lines
        opLines += found.opLines
        brokenLines += found.brokenLines
        for state in found.states {
            if state.isExpired(table.schema, now: now) { expired += 1 } else { add(state) }
        }
    }

    private mutating func add(_ state: RecordState) {
        records += 1
        guard let time = state.line.time("updatedAt") ?? state.line.time("createdAt") else { return }
        oldest = min(oldest ?? time, time)
        newest = max(newest ?? time, time)
    }
}

/// What a whole store consists of.
package struct StoreStatistics: Equatable, Sendable {
    package internal(set) var tables: [TableStatistics] = []
    /// Records, and hints of indexes, that count.
    package var records: Int { tables.reduce(0) { $0 + $1.records } }
    /// Of all that lies in the store's folder: locks, quarantine and files of split buckets included.
    package internal(set) var bytes = 0
    package internal(set) var inodes = 0
}
