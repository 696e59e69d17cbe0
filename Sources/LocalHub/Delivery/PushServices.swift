// SPDX-License-Identifier: Apache-2.0
import NotificationHub

/// What is known of the push services at this moment, by authority: how many requests each has, and which of them is
/// not to be bothered for a while.
///
/// A service that is down costs its own devices a pause, and nobody else's anything, but where so many of one message
/// wait for it that the message itself does (`Courier.Options.retries`).
struct PushServices {
    private struct Service {
        var underWay = 0
        var failures = 0
        /// Seconds since 1970.
        var heldUntil = Int64.min
    }

    /// Services that are remembered while they have nothing under way. Devices name them, and names cost nothing.
    static let maximumIdle = 1_024
    /// The longest that a service is left alone, in seconds.
    private static let maximumHold: Int64 = 60

    private var services: [String: Service] = [:]
    private(set) var underWay = 0

    func underWay(_ service: String) -> Int { services[service]?.underWay ?? 0 }

    /// When the service may be asked again, if not now.
    func heldUntil(_ service: String, now: Int64) -> Int64? {
        // A clock that was set back must not hold a service for longer than ever.
        guard let until = services[service]?.heldUntil, until > now, until <= now + Self.maximumHold else { return nil }
        return until
    }

    mutating func begin(_ service: String) {
        services[service, default: Service()].underWay += 1
        underWay += 1
    }

    mutating func end(_ service: String, _ verdict: PushVerdict, now: Int64) {
        underWay -= 1
        services[service]?.underWay -= 1
        defer { forgetIdle(now) }
        guard case .retry(let seconds) = verdict.action, verdict.outcome != .throttled else {
            services[service]?.failures = 0
            return
        }
        // The many failures of what was under way together are one.
        guard heldUntil(service, now: now) == nil else { return }
        let failures = min(services[service]?.failures ?? 0, 6)
        services[service]?.failures = failures + 1
        let pause = max(Int64(seconds ?? 0), 1 << Int64(failures))
        services[service]?.heldUntil = now + min(pause, Self.maximumHold)
    }

    /// First those of which there is nothing to remember, then those that are held as well.
    private mutating func forgetIdle(_ now: Int64) {
        guard services.count > Self.maximumIdle else { return }
        services = services.filter { $0.value.underWay > 0 || $0.value.heldUntil > now }
        guard services.count > Self.maximumIdle else { return }
        services = services.filter { $0.value.underWay > 0 }
    }
}
