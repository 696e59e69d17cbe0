// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Logging
import Synchronization
import Text

/// Writes one line per event on standard error: `warning: hub: no answer: … request=4f1c…`.
///
/// Under systemd the line begins with its priority instead (`sd-daemon(3)`: `<4>`), and the journal adds the time.
package struct StderrLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    private let threshold: LogThreshold
    private let isJournal: Bool

    init(threshold: LogThreshold) {
        self.threshold = threshold
        isJournal = Self.isStandardErrorTheJournal
    }

    /// A logger of the program's name.
    package static func logger(_ threshold: LogThreshold) -> Logger {
        Logger(label: "app-backend") { _ in StderrLogHandler(threshold: threshold) }
    }

    /// One for all copies of the logger.
    package var logLevel: Logger.Level {
        get { threshold.level }
        set { threshold.level = newValue }
    }

    /// `$JOURNAL_STREAM` names the journal's device and inode; a shell within a service inherits it, and its terminal is
    /// another file (systemd.exec(5)).
    package static var isStandardErrorTheJournal: Bool {
        var status = stat()
        guard let stream = getenv("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let pairs = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        var line = isJournal ? "<\(Self.priority(event.level))>" : "\(event.level): "
        line += event.message.description
        for (key, value) in pairs { line += " \(key)=\(value)" }
        // A line break in a value must not forge a second line, nor may a terminal obey one. One write call, so that
        // lines do not mix.
        let bytes = Array((line.withoutControls + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// `syslog(3)`.
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// From which level on lines are written. Every room has a copy of the logger; this is what they share, so that a reload
/// can change it.
package final class LogThreshold: Sendable {
    private let current: Atomic<Int>
    private static let levels = Logger.Level.allCases

    package init(_ level: Logger.Level) {
        current = Atomic(Self.levels.firstIndex(of: level) ?? 0)
    }

    var level: Logger.Level {
        get { Self.levels[current.load(ordering: .relaxed)] }
        set { current.store(Self.levels.firstIndex(of: newValue) ?? 0, ordering: .relaxed) }
    }
}
