// SPDX-License-Identifier: Apache-2.0
import Store

/// Something that the operator should know about the store's files. It names places, never contents.
package enum StoreEvent: Equatable, Sendable {
    /// The line is valid, but not as it was written: it was edited by hand. It counts. Reported once per process.
    case editedLine(file: String, line: Int)
    /// The line cannot be read and counts as absent; compaction moves it to `quarantine/`. Reported once per process.
    case brokenLine(file: String, line: Int, reason: String)
    /// So many unreadable lines were moved from the file to `quarantine/`.
    case quarantined(file: String, lines: Int)
    /// The file was rewritten with its live lines only.
    case compacted(file: String, bytesBefore: Int, bytesAfter: Int)
    /// The file had grown too large and became a folder of smaller ones.
    case split(file: String)
    /// The folder is a copy that is opened for the first time, and so many lines were missing in its indexes; they are
    /// there now.
    case reindexed(lines: Int)
    /// The store was of an older format, and is of this version's now.
    case migrated(from: Int, to: Int)
    /// Another process brings the store to this version's format, and this one waits until that is done.
    case awaitsMigration
    /// So many registrations of the hub, which belong to no user's device, are in the namespace of the served hub now. A
    /// migration reports it for every piece of its work.
    case movedRegistrations(Int)
    /// Tidying failed and was given up until the next time; nothing is lost by that.
    case tidyingFailed(file: String, StoreError)
    /// A file cannot be written: no space, a quota, a read-only mount, another owner. Reported once, until something is
    /// written again.
    case unwritable(file: String, reason: String)
    /// The store is on a network file system, or on one that a program makes. Whether its locks exclude other processes is
    /// for the administrator to know.
    case remoteFileSystem(kind: String)
    /// A flush failed; this process writes no more.
    case poisoned(file: String, reason: String)
}

extension StoreEvent {
    /// How much it matters to who reads a log.
    package enum Weight: Equatable, Sendable {
        /// The store does what it always does.
        case detail
        /// Nothing is wrong, and an operator may wonder who did that, or when.
        case note
        /// An operator should look at it.
        case trouble
        /// The process cannot go on.
        case failure
    }

    package var weight: Weight {
        switch self {
        case .compacted, .split: .detail
        case .editedLine, .reindexed, .migrated, .awaitsMigration, .movedRegistrations: .note
        case .brokenLine, .quarantined, .tidyingFailed, .unwritable, .remoteFileSystem: .trouble
        case .poisoned: .failure
        }
    }
}

extension StoreEvent: CustomStringConvertible {
    /// For people; names files and lines, never contents.
    package var description: String {
        switch self {
        case .editedLine(let file, let line): "\(file), line \(line), was edited by hand, and counts"
        case .brokenLine(let file, let line, let reason):
            "\(file), line \(line), cannot be read and counts as absent: \(reason)"
        case .quarantined(let file, let lines): "\(file): lines moved to quarantine/, which cannot be read: \(lines)"
        case .compacted(let file, let before, let after): "\(file) was rewritten: \(before) bytes are \(after) now"
        case .split(let file): "\(file) had grown too large, and is a folder now"
        case .reindexed(let lines): "a copy, opened for the first time; lines added to its indexes: \(lines)"
        case .migrated(let old, let new):
            "the store was of format \(old) and is of format \(new) now; older versions of this program do not open it"
        case .awaitsMigration: "another process brings the store to this version's format; waiting until that is done"
        case .movedRegistrations(let count):
            "registrations of the hub that belong to no user's device are of the served hub alone now: \(count)"
        case .tidyingFailed(let file, let error): "\(file) could not be tidied, and will be later: \(error)"
        case .unwritable(let file, let reason): "\(file) cannot be written: \(reason)"
        case .remoteFileSystem(let kind):
            "the folder is on \(kind): one machine alone may write to it, and locks must work there"
        case .poisoned(let file, let reason): "\(file) could not be flushed: \(reason)"
        }
    }
}
