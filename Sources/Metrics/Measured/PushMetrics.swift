// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub
package import Push

/// What push services said. Each try of a device counts, also those that are made again.
package struct PushMetrics: Sendable {
    private let outcomes = CounterFamily<PushLabels>(
        MetricName(
            "app_backend_pushes_total",
            """
            Attempts to push to one device, by platform and result, such as Success, ExpiredChannel, \
            Throttled, PnsUnreachable, InvalidCredentials.
            """))
    private let durations = HistogramFamily<PlatformLabels>(
        MetricName(
            "app_backend_push_duration_seconds",
            "Time from a push to the response of its push service, or to its failure."))

    /// Grows as long as browsers have subscriptions that were made before the key was rotated.
    package let formerKeys = CounterFamily<NoLabels>(
        MetricName(
            "app_backend_web_push_former_key_total", "Pushes to browsers that subscribed with a previous key."))

    var collectors: [any Collector] { [outcomes, durations, formerKeys] }

    package init() {}

    /// The outcome of a push that its service has taken.
    static let taken = PushOutcome.success.rawValue

    /// Tries to push to one device so far.
    package var counts: [(platform: Platform, outcome: String, count: UInt64)] {
        outcomes.all.map { ($0.labels.platform, $0.labels.outcome, $0.count) }
    }

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

    func result(of response: Response) -> PushResult { counted(inner.result(of: response)) }

    func result(of response: Response, to request: Request) -> PushResult {
        counted(inner.result(of: response, to: request))
    }

    private func counted(_ result: PushResult) -> PushResult {
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

    var unsent: Int { inner.unsent }
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
        "1 while the push service rejects the credential of the channel and its messages wait.")

    private static let unavailable = MetricName(
        "app_backend_push_credential_unavailable",
        """
        1 while the token service of the channel issues no access token, so that messages wait. Set by the \
        last push that needed a token.
        """)
    private static let expiry = MetricName(
        "app_backend_push_credential_expiry_timestamp_seconds",
        """
        End of the channel's client certificate, or of its secret (wns.secretExpires). Missing for credentials \
        without an end, such as the keys of Apple and Google.
        """)

    /// What is known of the credential of one channel now.
    package struct Credential: Sendable {
        package let channel: String
        package let isHeld: Bool
        package let isUnavailable: Bool
        /// Seconds since 1970; nil: not known.
        package let expiry: Int64?

        package init(channel: String, isHeld: Bool, isUnavailable: Bool, expiry: Int64? = nil) {
            (self.channel, self.isHeld, self.isUnavailable, self.expiry) = (channel, isHeld, isUnavailable, expiry)
        }
    }

    package static func collect(_ credentials: [Credential], into exposition: inout Exposition) {
        guard !credentials.isEmpty else { return }
        for (name, value) in [(held, \Credential.isHeld), (unavailable, \Credential.isUnavailable)] {
            exposition.family(name, .gauge)
            for one in credentials { exposition.sample(name, ChannelLabels(channel: one.channel), one[keyPath: value]) }
        }
        let ending = credentials.filter { $0.expiry != nil }
        guard !ending.isEmpty else { return }
        exposition.family(expiry, .gauge)
        for one in ending { exposition.sample(expiry, ChannelLabels(channel: one.channel), one.expiry ?? 0) }
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
