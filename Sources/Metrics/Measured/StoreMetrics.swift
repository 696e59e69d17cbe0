// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import Store

/// What the store asks of the disk, and what happens to its files.
package struct StoreMetrics: Sendable {
    private let writes = CounterFamily<NoLabels>(
        MetricName(
            "app_backend_store_writes_total",
            "Writes to the store's files. Each health check and each scrape tries one of 4 KiB."))
    private let bytes = CounterFamily<NoLabels>(
        MetricName("app_backend_store_written_bytes_total", "Bytes written to the store's files."))
    private let failures = CounterFamily<DiskCallLabel>(
        MetricName(
            "app_backend_store_call_failures_total",
            "Writes and fsyncs that failed. One failed flush ends the process."))
    private let flushes = HistogramFamily<FlushLabel>(
        MetricName(
            "app_backend_store_flush_duration_seconds",
            "Duration of an fsync. Every acknowledged write waits for one."))
    private let events = CounterFamily<StoreEventLabel>(
        MetricName("app_backend_store_events_total", "Events of the store's files. The log names the files."))

    var collectors: [any Collector] { [writes, bytes, failures, flushes, events] }

    package init() {}

    /// The same calls, counted and timed. `errno` stays what they left.
    package func measuring(
        _ inner: DiskCalls, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> DiskCalls {
        DiskCalls(
            write: { descriptor, buffer in
                let written = inner.write(descriptor, buffer)
                let code = errno
                if written < 0 {
                    if code != EINTR { failures.increment(.write) }
                } else {
                    writes.increment()
                    bytes.increment(by: written)
                }
                errno = code
                return written
            },
            flushFile: { timed($0, inner.flushFile, .file, clock) },
            flushFolder: { timed($0, inner.flushFolder, .folder, clock) })
    }

    private func timed(
        _ descriptor: Int32, _ call: (Int32) -> Int32, _ label: FlushLabel, _ clock: () -> ContinuousClock.Instant
    ) -> Int32 {
        let start = clock()
        let status = call(descriptor)
        let code = errno
        flushes.observe(label, start.duration(to: clock()))
        if status != 0 { failures.increment(.flush) }
        errno = code
        return status
    }

    /// Counts what the store reports.
    package func count(_ event: StoreEvent) {
        events.increment(StoreEventLabel(event))
    }
}

private enum DiskCallLabel: String, LabelSet, CaseIterable {
    static let names: [StaticString] = ["call"]
    case write, flush
}

private enum FlushLabel: String, LabelSet, CaseIterable {
    static let names: [StaticString] = ["target"]
    case file, folder
}

private enum StoreEventLabel: String, LabelSet, CaseIterable {
    static let names: [StaticString] = ["event"]
    case editedLine = "edited_line"
    case brokenLine = "broken_line"
    case quarantined, compacted, split, reindexed, migrated
    case awaitsMigration = "awaits_migration"
    case movedRegistrations = "moved_registrations"
    case tidyingFailed = "tidying_failed"
    case unwritable
    case remoteFileSystem = "remote_file_system"
    case poisoned

    init(_ event: StoreEvent) {
        switch event {
        case .editedLine: self = .editedLine
        case .brokenLine: self = .brokenLine
        case .quarantined: self = .quarantined
        case .compacted: self = .compacted
        case .split: self = .split
        case .reindexed: self = .reindexed
        case .migrated: self = .migrated
        case .awaitsMigration: self = .awaitsMigration
        case .movedRegistrations: self = .movedRegistrations
        case .tidyingFailed: self = .tidyingFailed
        case .unwritable: self = .unwritable
        case .remoteFileSystem: self = .remoteFileSystem
        case .poisoned: self = .poisoned
        }
    }
}
