// SPDX-License-Identifier: Apache-2.0
internal import System

/// That a push service refuses a credential, and when it is shown to the service again.
struct CredentialHold {
    static let backoff = Backoff(doubling: .seconds(60), to: .seconds(15 * 60))
    /// The longest reason that is kept, in characters: it may have come over the network.
    static let maximumReason = 200

    private(set) var reason: String
    /// In seconds since 1970.
    let since: Int64
    private(set) var until: ContinuousClock.Instant
    /// Refusals after a pause.
    private var refusals = 0

    init(reason: String, since: Int64, now: ContinuousClock.Instant) {
        self.reason = String(reason.prefix(Self.maximumReason))
        (self.since, until) = (since, now + Self.backoff.pause(after: 0))
    }

    /// Whether nothing may be sent now.
    func isPause(_ now: ContinuousClock.Instant) -> Bool { until > now }

    /// The refusals of pushes that were in flight together are one.
    mutating func refuse(reason: String, now: ContinuousClock.Instant) {
        guard !isPause(now) else { return }
        self.reason = String(reason.prefix(Self.maximumReason))
        refusals += 1
        until = now + Self.backoff.pause(after: refusals)
    }
}
