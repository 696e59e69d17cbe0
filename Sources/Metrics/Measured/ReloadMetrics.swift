// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Whether the process runs with the configuration that is on the disk, as far as it was told to read it.
package final class ReloadMetrics: Collector {
    private static let name = MetricName(
        "app_backend_last_reload_successful", "0 when the last reload was refused and the former configuration stays.")

    private let wasTaken = Atomic(true)

    package init() {}

    package func note(taken: Bool) {
        wasTaken.store(taken, ordering: .relaxed)
    }

    package func collect(into exposition: inout Exposition) {
        exposition.gauge(Self.name, wasTaken.load(ordering: .relaxed))
    }
}
