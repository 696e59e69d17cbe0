// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub

/// What was asked of the hub, and what it answered. A call that is made twice counts twice.
package struct HubMetrics: Sendable {
    private let calls = CounterFamily<HubCallLabels>(
        MetricName(
            "app_backend_hub_calls_total",
            """
            Calls to the hub, by operation and result: the status, or timeout, unreachable, insecure (TLS), \
            refused (by HTTP/2), interrupted, overloaded and others. Each try counts. 404 and 410 are ordinary \
            results. Calls to the built-in hub count with the status that they would have over the network.
            """))
    private let durations = HistogramFamily<HubOperation>(
        MetricName(
            "app_backend_hub_call_duration_seconds",
            "Time from a call to the hub to its response, or to its failure."),
        initial: [])

    var collectors: [any Collector] { [calls, durations] }

    package init() {}

    /// Sends that the hub was handed so far, by its answer.
    package var sends: [(result: String, count: UInt64)] {
        calls.all.filter { $0.labels.operation == .send }.map { ($0.labels.result, $0.count) }
    }

    /// The same hub, whose calls are counted: one in this process. Of one elsewhere the way to it is measured.
    package func measuring(
        _ inner: any Hub, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> any Hub {
        MeasuredHub(inner: inner, clock: clock) { [self] in count($0, result: $1, $2) }
    }

    private func count(_ operation: HubOperation, result: String, _ duration: Duration) {
        calls.increment(HubCallLabels(operation: operation, result: result))
        durations.observe(operation, duration)
    }

    /// The same way to the hub, whose calls are counted.
    package func measuring(
        _ inner: any Responder, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> any Responder {
        ClosureResponder { [self] request in
            let operation = HubOperation(request)
            let start = clock()
            var result = ""
            defer { count(operation, result: result, start.duration(to: clock())) }
            do {
                let response = try inner.respond(to: request)
                result = String(response.status.code)
                return response
            } catch {
                result = (error as? any TransportFailure)?.kind ?? "failed"
                throw error
            }
        }
    }

    /// The same way to the hub for several calls at once, which are counted.
    package func measuring(
        _ inner: any RequestSender, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> any RequestSender {
        MeasuredSender(inner: inner) { [self] request, completion in
            let operation = HubOperation(request)
            let start = clock()
            return { result in
                let name =
                    switch result {
                    case .success(let response): String(response.status.code)
                    case .failure(let error): (error as? any TransportFailure)?.kind ?? "failed"
                    }
                count(operation, result: name, start.duration(to: clock()))
                completion(result)
            }
        }
    }
}

private struct MeasuredSender: RequestSender {
    typealias Completion = @Sendable (Result<Response, any Error>) -> Void

    let inner: any RequestSender
    /// Surrounds a request's completion.
    let counting: @Sendable (Request, @escaping Completion) -> Completion

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        inner.send(request, counting(request, completion))
    }

    var unsent: Int { inner.unsent }
}

extension HubOperation: LabelSet {
    package static let names: [StaticString] = ["operation"]
}

private struct HubCallLabels: LabelSet {
    static let names: [StaticString] = ["operation", "result"]
    let operation: HubOperation
    let result: String

    var values: [String] { [operation.rawValue, result] }
}
