// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

/// What was asked of this process, how it was answered, and how long that took.
package struct RequestMetrics: Sendable {
    private let answered = CounterFamily<AnswerLabels>(
        MetricName(
            "app_backend_requests_total",
            """
            Responses of the service, by route, method and status. The route is a pattern, or other for a path \
            without a route.
            """))
    private let durations = HistogramFamily<RouteLabels>(
        MetricName(
            "app_backend_request_duration_seconds",
            """
            Time from the complete request to the complete response, both in memory. It includes the hub's \
            time, but not that of a slow client.
            """))

    var collectors: [any Collector] { [answered, durations] }

    package init() {}

    func count(_ answer: MeasuredAnswer) {
        let method = MethodLabel(answer.method)
        answered.increment(AnswerLabels(route: answer.route, method: method, code: answer.status.code))
        durations.observe(RouteLabels(route: answer.route, method: method), answer.duration)
    }

    /// The same responder, whose answers are counted.
    /// - Parameters:
    ///   - clock: measures; the wall clock may be set meanwhile.
    ///   - observe: hears of each answer too; on the thread that makes it.
    package func measuring(
        _ inner: any Responder, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        observe: @escaping @Sendable (MeasuredAnswer) -> Void = { _ in }
    ) -> any Responder {
        MeasuredResponder(inner: inner, metrics: self, clock: clock, observe: observe)
    }
}

/// One answer, as far as it is counted.
package struct MeasuredAnswer: Sendable {
    package let requestID: String
    package let method: HTTPRequest.Method
    /// The pattern of its route; `other` where there is none.
    package let route: String
    package let status: HTTPResponse.Status
    package let duration: Duration
    package let fields: HTTPFields
}

private struct MeasuredResponder: Responder {
    let inner: any Responder
    let metrics: RequestMetrics
    let clock: @Sendable () -> ContinuousClock.Instant
    let observe: @Sendable (MeasuredAnswer) -> Void

    func respond(to request: Request) throws -> Response {
        let start = if case .resumed(let postponement) = request.postponing { postponement.began } else { clock() }
        return try Continuation.after({ try inner.respond(to: request) }) { outcome in
            switch outcome {
            // Counted when it has an answer.
            case .success(let response) where response.postponement != nil: break
            case .success(let response): record(request, response, since: start)
            // The server that carries the request answers so.
            case .failure: record(request, Response(status: .internalServerError), since: start)
            }
            return try outcome.get()
        }
    }

    private func record(_ request: Request, _ response: Response, since start: ContinuousClock.Instant) {
        let answer = MeasuredAnswer(
            requestID: request.id, method: request.method, route: response.route ?? "other",
            status: response.status, duration: start.duration(to: clock()), fields: response.fields)
        metrics.count(answer)
        observe(answer)
    }
}

/// Methods that mean something here; an invented one makes no series.
private enum MethodLabel: String {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
    case other

    init(_ method: HTTPRequest.Method) {
        self = MethodLabel(rawValue: method.rawValue) ?? .other
    }
}

private struct AnswerLabels: LabelSet {
    static let names: [StaticString] = ["route", "method", "code"]
    let route: String
    let method: MethodLabel
    let code: Int

    var values: [String] { [route, method.rawValue, String(code)] }
}

private struct RouteLabels: LabelSet {
    static let names: [StaticString] = ["route", "method"]
    let route: String
    let method: MethodLabel

    var values: [String] { [route, method.rawValue] }
}
