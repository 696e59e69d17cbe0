// SPDX-License-Identifier: Apache-2.0
import FastCGI
import Metrics

/// How busy the FastCGI door is, read when it is asked for.
struct ServerReadings: Collector {
    private static let workers = MetricName("app_backend_workers", "Worker threads.")
    private static let busy = MetricName(
        "app_backend_workers_busy",
        "Worker threads that process a request now, including the one that answers this scrape.")
    private static let connections = MetricName(
        "app_backend_connections", "Open connections of web servers, including idle ones.")
    private static let waiting = MetricName(
        "app_backend_connections_waiting", "Connections with an incomplete request.")
    private static let postponed = MetricName(
        "app_backend_requests_postponed",
        "Requests that wait without a worker, for a password check or for an external hub.")
    private static let answered = MetricName(
        "app_backend_server_answers_total", "Responses sent, including those to refused requests.")
    private static let refused = MetricName(
        "app_backend_refusals_total",
        """
        Requests and connections that the FastCGI server refused, by reason. A web server causes only \
        bodyTooLarge, malformed and connectionCutShort.
        """)
    private static let draining = MetricName("app_backend_draining", "1 while the process stops.")

    /// nil as long as there is no server.
    let status: @Sendable () -> ServerStatus?

    func collect(into exposition: inout Exposition) {
        guard let status = status() else { return }
        exposition.gauge(Self.workers, status.workers)
        exposition.gauge(Self.busy, status.workersBusy)
        exposition.gauge(Self.connections, status.connections)
        exposition.gauge(Self.waiting, status.waiting)
        exposition.gauge(Self.postponed, status.postponed)
        exposition.counter(Self.answered, status.answered)
        exposition.gauge(Self.draining, status.isDraining)
        exposition.family(Self.refused, .counter)
        for refusal in RejectReason.allCases {
            exposition.sample(Self.refused, RefusalLabel(refusal: refusal), status.refused[refusal] ?? 0)
        }
    }
}

private struct RefusalLabel: LabelSet {
    static let names: [StaticString] = ["reason"]
    let refusal: RejectReason

    var values: [String] { [refusal.rawValue] }
}
