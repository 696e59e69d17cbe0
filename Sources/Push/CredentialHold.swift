// SPDX-License-Identifier: Apache-2.0
import System

/// That a push service refuses a credential, and when it is shown to the service again. Times are seconds since 1970.
struct CredentialHold {
    static let backoff = Backoff(doubling: .seconds(60), to: .seconds(15 * 60))
    /// The longest reason that is kept, in characters: it may have come over the network.
    static let maximumReason = 200

    private(set) var reason: String
    let since: Int64
    private(set) var until: Int64
    /// Refusals after a pause.
    private var refusals = 0

    init(reason: String, now: Int64) {
        self.reason = String(reason.prefix(Self.maximumReason))
        (since, until) = (now, now + Self.backoff.seconds(after: 0))
    }

    /// Whether nothing may be sent now. A clock that was set back must not make a pause longer than it is.
    func isPause(_ now: Int64) -> Bool { until > now && until <= now + Self.backoff.seconds(after: .max) }

    /// The refusals of pushes that were in flight together are one.
    mutating func refuse(reason: String, now: Int64) {
        guard !isPause(now) else { return }
        self.reason = String(reason.prefix(Self.maximumReason))
        refusals += 1
        until = now + Self.backoff.seconds(after: refusals)
    }
}
