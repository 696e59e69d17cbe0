// SPDX-License-Identifier: Apache-2.0
import FastCGI
import Metrics

/// How busy the FastCGI door is, read when it is asked for.
struct ServerReadings: Collector {
    private static let workers = MetricName("app_backend_workers", "Threads that carry requests.")
    private static let busy = MetricName(
        "app_backend_workers_busy", "Those that carry one now; the one that answers this is among them.")
    private static let connections = MetricName(
        "app_backend_connections", "Open connections of web servers, idle ones included.")
    private static let waiting = MetricName(
        "app_backend_connections_waiting", "Connections whose request has come in part.")
    private static let postponed = MetricName(
        "app_backend_requests_postponed", "Requests that wait without a worker for a password's hash or for the hub.")
    private static let answered = MetricName(
        "app_backend_server_answers_total", "Answers sent, those of refused requests included.")
    private static let refused = MetricName(
        "app_backend_refusals_total", "Requests and connections that the FastCGI door refused, by reason.")
    private static let draining = MetricName("app_backend_draining", "1 while the process ends.")

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
