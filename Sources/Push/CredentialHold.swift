// SPDX-License-Identifier: Apache-2.0

/// That a push service refuses a credential, and when it is shown to the service again. Times are seconds since 1970.
struct CredentialHold {
    /// The first pause and the longest; each refusal after a pause doubles it.
    static let firstPause: Int64 = 60
    static let maximumPause: Int64 = 15 * 60
    /// The longest reason that is kept, in characters: it may have come over the network.
    static let maximumReason = 200

    private(set) var reason: String
    let since: Int64
    private(set) var until: Int64
    private var pause = Self.firstPause

    init(reason: String, now: Int64) {
        self.reason = String(reason.prefix(Self.maximumReason))
        (since, until) = (now, now + Self.firstPause)
    }

    /// Whether nothing may be sent now. A clock that was set back must not make a pause longer than it is.
    func isPause(_ now: Int64) -> Bool { until > now && until <= now + Self.maximumPause }

    /// The refusals of pushes that were in flight together are one.
    mutating func refuse(reason: String, now: Int64) {
        guard !isPause(now) else { return }
        self.reason = String(reason.prefix(Self.maximumReason))
        pause = min(2 * pause, Self.maximumPause)
        until = now + pause
    }
}
