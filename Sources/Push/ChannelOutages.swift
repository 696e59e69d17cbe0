// SPDX-License-Identifier: Apache-2.0

/// What keeps a channel's pushes from being sent although its credential is not refused: there is no access token, or a
/// service is not trusted.
struct ChannelOutages {
    /// Services that are remembered. Devices name those of browsers, and can name any number.
    static let maximum = 16
    /// A service that was not asked again for so long is forgotten: no message waits longer.
    static let lifetime = Duration.seconds(30 * 60)

    private struct Entry {
        let outage: PushChannel.Outage
        var metAt: ContinuousClock.Instant
    }

    private var token: PushChannel.Outage?
    /// By the service's name.
    private var services: [String: Entry] = [:]

    /// - Returns: whether it was not known.
    mutating func beginToken(_ outage: PushChannel.Outage) -> Bool {
        guard token == nil else { return false }
        token = outage
        return true
    }

    /// - Returns: whether there was one.
    mutating func endToken() -> Bool { token.take() != nil }

    /// - Returns: whether it was not known.
    mutating func begin(_ service: String, _ outage: PushChannel.Outage, at now: ContinuousClock.Instant) -> Bool {
        forgetOld(now)
        guard services[service] == nil else {
            services[service]?.metAt = now
            return false
        }
        guard services.count < Self.maximum else { return false }
        services[service] = Entry(outage: outage, metAt: now)
        return true
    }

    /// - Returns: whether there was one.
    mutating func end(_ service: String) -> Bool { services.removeValue(forKey: service) != nil }

    /// The one that is there for the longest time.
    mutating func first(at now: ContinuousClock.Instant) -> PushChannel.Outage? {
        forgetOld(now)
        return token ?? services.values.map(\.outage).min { $0.since < $1.since }
    }

    /// Why pushes to that service are not sent.
    func reason(of service: String) -> String? { token?.reason ?? services[service]?.outage.reason }

    private mutating func forgetOld(_ now: ContinuousClock.Instant) {
        guard !services.isEmpty else { return }
        services = services.filter { $0.value.metAt + Self.lifetime >= now }
    }
}
