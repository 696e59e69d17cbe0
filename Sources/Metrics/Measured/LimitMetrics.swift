// SPDX-License-Identifier: Apache-2.0

/// How often users met a limit of theirs. Not which users.
package struct LimitMetrics: Sendable {
    /// What is limited for each user.
    package enum Limit: String, LabelSet, CaseIterable {
        package static let names: [StaticString] = ["limit"]
        case sends, registrations, lists, bytes
    }

    private let refusals = CounterFamily<Limit>(
        MetricName(
            "app_backend_user_limit_refusals_total",
            "Requests answered 429, because their user has made too many of the kind."))

    var collectors: [any Collector] { [refusals] }

    package init() {}

    package func countRefusal(_ limit: Limit) { refusals.increment(limit) }
}
