// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub
package import Push

/// What push services said. Each try of a device counts, also those that are made again.
package struct PushMetrics: Sendable {
    private let outcomes = CounterFamily<PushLabels>(
        MetricName("app_backend_pushes_total", "Tries to push to one device, by platform and outcome."))
    private let durations = HistogramFamily<PlatformLabels>(
        MetricName("app_backend_push_duration_seconds", "From a push to its service's answer, or to giving up."))

    /// Grows as long as browsers have subscriptions that were made before the key was rotated.
    package let formerKeys = CounterFamily<NoLabels>(
        MetricName(
            "app_backend_web_push_former_key_total",
            "Pushes to browsers that still have a subscription for a former key."))

    var collectors: [any Collector] { [outcomes, durations, formerKeys] }

    package init() {}

    private func count(_ platform: Platform, _ outcome: PushOutcome) {
        outcomes.increment(PushLabels(platform: platform, outcome: outcome.rawValue))
    }

    /// The same driver, whose results and refusals are counted.
    package func measuring(_ inner: any PushDriver) -> any PushDriver {
        MeasuredDriver(inner: inner) { [self] in count(inner.platform, $0) }
    }

    /// The same sender, whose requests are timed; those without an answer are counted here, for no driver hears of them.
    package func measuring(
        _ inner: any PushSender, for platform: Platform,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> any PushSender {
        MeasuredSender(inner: inner, clock: clock) { [self] duration, failure in
            durations.observe(PlatformLabels(platform: platform), duration)
            if let failure { count(platform, PushOutcome(noAnswer: failure)) }
        }
    }
}

private struct MeasuredDriver: PushDriver {
    let inner: any PushDriver
    let count: @Sendable (PushOutcome) -> Void

    var platform: Platform { inner.platform }

    func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request {
        do throws(PushRefusal) {
            return try inner.request(for: notification, to: device)
        } catch {
            count(error.outcome)
            throw error
        }
    }

    func result(of response: Response) -> PushResult {
        let result = inner.result(of: response)
        count(result.outcome)
        return result
    }
}

private struct MeasuredSender: PushSender {
    let inner: any PushSender
    let clock: @Sendable () -> ContinuousClock.Instant
    let ended: @Sendable (Duration, (any Error)?) -> Void

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        let start = clock()
        inner.send(request) { [ended, clock] result in
            if case .failure(let error) = result {
                ended(start.duration(to: clock()), error)
            } else {
                ended(start.duration(to: clock()), nil)
            }
            completion(result)
        }
    }

    func renewCredential(refused sentAt: ContinuousClock.Instant) { inner.renewCredential(refused: sentAt) }
    func reconnect(after time: ContinuousClock.Instant) { inner.reconnect(after: time) }
}

private struct PushLabels: LabelSet {
    static let names: [StaticString] = ["platform", "outcome"]
    let platform: Platform
    let outcome: String

    var values: [String] { [platform.rawValue, outcome] }
}

extension PushMetrics {
    private static let held = MetricName(
        "app_backend_push_credential_held",
        "1 while a push service refuses the credential of the channel and its messages wait.")

    /// - Parameter channels: by name, whether the credential is refused now.
    package static func collect(_ channels: [(channel: String, isHeld: Bool)], into exposition: inout Exposition) {
        guard !channels.isEmpty else { return }
        exposition.family(held, .gauge)
        for (channel, isHeld) in channels { exposition.sample(held, ChannelLabels(channel: channel), isHeld) }
    }
}

private struct ChannelLabels: LabelSet {
    static let names: [StaticString] = ["channel"]
    let channel: String

    var values: [String] { [channel] }
}

private struct PlatformLabels: LabelSet {
    static let names: [StaticString] = ["platform"]
    let platform: Platform

    var values: [String] { [platform.rawValue] }
}
