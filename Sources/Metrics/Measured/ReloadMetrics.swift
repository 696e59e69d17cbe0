// SPDX-License-Identifier: Apache-2.0
package import AppBackend
import System

/// Whether the process runs with the configuration that is on the disk, as far as it was told to read it.
package final class ReloadMetrics: Collector {
    private static let name = MetricName(
        "app_backend_last_reload_successful", "0 while the configuration on the disk is one that was refused.")

    private let current = Lock(HealthController.Reload())

    package init() {}

    package var state: HealthController.Reload { current.withLock(\.self) }

    /// - Parameter refusal: why the former configuration stays; nil: the new one counts.
    package func note(refusal: String?) {
        current.withLock { $0 = HealthController.Reload(count: $0.count + 1, refusal: refusal) }
    }

    package func collect(into exposition: inout Exposition) {
        exposition.gauge(Self.name, state.refusal == nil)
    }
}
