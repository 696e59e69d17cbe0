// SPDX-License-Identifier: Apache-2.0

/// The push services that take nothing at present, because they are down or ask to wait.
struct ServiceTroubles {
    /// Services that are remembered. Devices name those of browsers, and can name any number.
    static let maximum = 16
    /// A service that was not asked again for so long is forgotten: no message waits longer.
    static let lifetime = Duration.seconds(30 * 60)
    /// A shorter trouble is over before anybody reads of it.
    static let patience = Duration.seconds(4)

    private struct Entry {
        let since: ContinuousClock.Instant
        var metAt: ContinuousClock.Instant
        var isReported = false
    }

    private var services: [String: Entry] = [:]

    /// - Parameter pause: seconds for which the service asks; nil: it does not say.
    /// - Returns: whether the operator should read of it now.
    mutating func begin(_ service: String, pause: Int?, at now: ContinuousClock.Instant) -> Bool {
        if !services.isEmpty { services = services.filter { $0.value.metAt + Self.lifetime >= now } }
        guard var entry = services[service] ?? (services.count < Self.maximum ? Entry(since: now, metAt: now) : nil)
        else { return false }
        entry.metAt = now
        let isLong = entry.since + Self.patience <= now || .seconds(pause ?? 0) >= Self.patience
        let isNews = isLong && !entry.isReported
        entry.isReported = entry.isReported || isNews
        services[service] = entry
        return isNews
    }

    /// - Returns: whether its beginning was reported.
    mutating func end(_ service: String) -> Bool { services.removeValue(forKey: service)?.isReported ?? false }
}
