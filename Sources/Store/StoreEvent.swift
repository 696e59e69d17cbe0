// SPDX-License-Identifier: Apache-2.0

/// Something that the operator should know about the store's files. It names places, never contents.
package enum StoreEvent: Equatable, Sendable {
    /// The line is valid, but not as it was written: somebody edited it. It counts. Reported once per process.
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
    /// Tidying failed and was given up until the next time; nothing is lost by that.
    case tidyingFailed(file: String, StoreError)
    /// The store lies on a network file system, or on one that a program makes. Locks were tried: they keep processes of
    /// this machine out. Of other machines' that says nothing.
    case remoteFileSystem(kind: String)
    /// A flush failed; this process writes no more.
    case poisoned(file: String, reason: String)
}
