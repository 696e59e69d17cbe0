// SPDX-License-Identifier: Apache-2.0
import System

/// Whether the process runs with the configuration that is on the disk, as far as it was told to read it.
package final class ReloadMetrics: Collector {
    private static let name = MetricName(
        "app_backend_last_reload_successful", "0 when the last reload was refused and the former configuration stays.")

    /// What the process has made of its reloads.
    package struct State: Equatable, Sendable {
        /// Reloads since the start.
        package var count = 0
        /// Why the last one was refused; nil: it was not.
        package var refusal: String?
    }

    private let current = Lock(State())

    package init() {}

    package var state: State { current.withLock(\.self) }

    /// - Parameter refusal: why the former configuration stays; nil: the new one counts.
    package func note(refusal: String?) {
        current.withLock { $0 = State(count: $0.count + 1, refusal: refusal) }
    }

    package func collect(into exposition: inout Exposition) {
        exposition.gauge(Self.name, state.refusal == nil)
    }
}
