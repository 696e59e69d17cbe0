// SPDX-License-Identifier: Apache-2.0
import Logging

import class System.Lock

/// Remembers what was logged, for tests of what a log must and must not hold.
package final class CollectedLog: Sendable {
    package struct Line: Sendable {
        package let level: Logger.Level
        /// Message and metadata as a log file would have them.
        package let text: String
        package let request: String?
    }

    private let collected = Lock<[Line]>([])

    package init() {}

    package var lines: [Line] { collected.withLock(\.self) }
    package var text: String { lines.map(\.text).joined(separator: "\n") }

    package var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self) }
    }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = metadata.merging(event.metadata ?? [:]) { $1 }
            let line = Line(
                level: event.level, text: "\(event.message) \(pairs)", request: pairs["request"]?.description)
            log.collected.withLock { $0.append(line) }
        }
    }
}
