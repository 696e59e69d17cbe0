// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
import System
internal import Text

/// How much waits, as it was counted last, and of what state of the queue.
final class CountedBacklog: Sendable {
    private let last = Lock<(revision: QueueRevision, backlog: QueueBacklog)?>(nil)

    func backlog(at revision: QueueRevision) -> QueueBacklog? {
        last.withLock { $0?.revision == revision ? $0?.backlog : nil }
    }

    func remember(_ backlog: QueueBacklog, at revision: QueueRevision) {
        last.withLock { $0 = (revision, backlog) }
    }
}

extension FileSiteStore {
    /// Looks through the file when something has changed since the last time, without parsing our own lines: of a message
    /// only its id and when it came are wanted.
    package func hubQueueBacklog() throws(StoreError) -> QueueBacklog {
        // Before it is read: what comes meanwhile makes the next call look again.
        let revision = hubQueueRevision()
        if let known = countedBacklog.backlog(at: revision) { return known }
        guard let content = try queueTable.read(QueuedLine.key) else { return QueueBacklog() }
        let records = CurrentRecords(content, queueTable, key: QueuedLine.key)
        let times = records.all.compactMap { record in
            records.withNewestLine(of: record, Self.creation) ?? records.line(of: record)?.value["createdAt"]?.string
        }
        // Of this form the earliest is the first in the order of texts, too.
        let oldest = times.min().flatMap { Timestamp(text: $0) }
        let backlog = QueueBacklog(messages: times.count, oldest: oldest, bytes: content.bytes.count)
        countedBacklog.remember(backlog, at: revision)
        return backlog
    }

    /// What stands in the `createdAt` of a line as this version writes it, whose end has a fixed length; nil for others.
    private static func creation(_ line: UnsafeBufferPointer<UInt8>) -> String? {
        let start = line.count - creationTail
        guard start > 0, line[start..<start + creationName.count].elementsEqual(creationName) else { return nil }
        let text = line[(start + creationName.count)...].prefix(timeLength)
        guard line[start + creationName.count + timeLength] == UInt8(ascii: "\"") else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    private static let creationName = [UInt8](",\"createdAt\":\"".utf8)
    /// Of `2026-12-21T00:00:00Z`.
    private static let timeLength = 20
    /// Of `,"createdAt":"…","expiresAt":"…","crc":"c72f8ef9"}`.
    private static let creationTail =
        creationName.count + timeLength + "\",\"expiresAt\":\"".utf8.count + timeLength
        + "\",\"crc\":\"c72f8ef9\"}".utf8.count
}
