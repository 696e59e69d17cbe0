// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
import System
package import Text

/// How much waits, as it was counted last, of what state of the queue, and for how long that holds while the state stays.
final class CountedBacklog: Sendable {
    private struct Count {
        let revision: QueueRevision
        let backlog: QueueBacklog
        let from: Timestamp
        let until: Timestamp?
    }

    private let last = Lock<Count?>(nil)

    func backlog(at revision: QueueRevision, now: Timestamp) -> QueueBacklog? {
        guard let last = last.withLock({ $0 }), last.revision == revision, now >= last.from,
            last.until.map({ now < $0 }) ?? true
        else { return nil }
        return last.backlog
    }

    func remember(_ backlog: QueueBacklog, at revision: QueueRevision, from: Timestamp, until: Timestamp?) {
        last.withLock { $0 = Count(revision: revision, backlog: backlog, from: from, until: until) }
    }
}

extension FileSiteStore {
    /// Looks through the files when something has changed since the last time, or has become due. Our own lines are not
    /// parsed: of a message only its id and when it came are wanted.
    package func hubQueueBacklog(now: Timestamp) throws(StoreError) -> QueueBacklog {
        // Before they are read: what comes meanwhile makes the next call look again.
        let revision = hubQueueRevision(now: now)
        if let known = countedBacklog.backlog(at: revision, now: now) { return known }
        var backlog = try readyBacklog()
        var until: Timestamp?
        for hour in try dueFiles.hours() {
            guard hour.start <= now else {
                until = min(hour.start, until ?? hour.start)
                break
            }
            let inHour = try dueFiles.read(hour, now: now)
            backlog.messages += inHour.messages.count
            backlog.bytes += dueFiles.identity(hour)?.size ?? 0
            if let oldest = inHour.messages.first?.message.dueAt {
                backlog.oldest = min(oldest, backlog.oldest ?? oldest)
            }
            if let next = inHour.next { until = min(next, until ?? next) }
        }
        countedBacklog.remember(backlog, at: revision, from: now, until: until)
        return backlog
    }

    private func readyBacklog() throws(StoreError) -> QueueBacklog {
        guard let content = try queueTable.read(QueuedLine.key) else { return QueueBacklog() }
        let records = CurrentRecords(content, queueTable, key: QueuedLine.key)
        let times = records.all.compactMap { records.timeText(.createdAt, of: $0) }
        // Of this form the earliest is the first in the order of texts, too.
        let oldest = times.min().flatMap { Timestamp(text: $0) }
        return QueueBacklog(messages: times.count, oldest: oldest, bytes: content.bytes.count)
    }
}
