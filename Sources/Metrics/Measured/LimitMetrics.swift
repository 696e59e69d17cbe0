// SPDX-License-Identifier: Apache-2.0
package import AppBackend

/// How often users met a limit of theirs. Not which users.
package struct LimitMetrics: LimitCounter {
    private let refusals = CounterFamily<LimitedUse>(
        MetricName(
            "app_backend_user_limit_refusals_total",
            """
            Requests that returned 429 because their user exceeded a limit (limits.*). bytes counts bytes in \
            flight.
            """))

    var collectors: [any Collector] { [refusals] }

    package init() {}

    package func countRefusal(_ limit: LimitedUse) { refusals.increment(limit) }
}

extension LimitedUse: LabelSet {
    package static let names: [StaticString] = ["limit"]
}
