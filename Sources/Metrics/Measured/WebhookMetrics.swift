// SPDX-License-Identifier: Apache-2.0
package import AppBackend

/// What became of the events that receivers are told, and of single tries.
package struct WebhookMetrics: WebhookCounter {
    private let events = CounterFamily<WebhookLabel>(
        MetricName(
            "app_backend_webhook_events_total",
            """
            Events for webhooks: delivered, failed (one attempt, and others follow), or dropped (abandoned, or \
            the queue is full).
            """))
    private static let waiting = MetricName(
        "app_backend_webhook_events_waiting",
        "Events that wait in this process, including results of messages that are still pending.")

    var collectors: [any Collector] { [events] }

    package init() {}

    package func count(_ result: WebhookResult, by amount: Int) {
        events.increment(WebhookLabel(result: result), by: amount)
    }

    /// Writes how many wait.
    package static func collect(waiting count: Int, into exposition: inout Exposition) {
        exposition.gauge(waiting, count)
    }
}

private struct WebhookLabel: LabelSet, CaseIterable {
    static let names: [StaticString] = ["result"]
    static let allCases = WebhookResult.allCases.map(WebhookLabel.init)
    let result: WebhookResult

    var values: [String] { [result.rawValue] }
}
