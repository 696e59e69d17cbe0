// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store

/// Decides whether a registration may be removed because its push service calls the device gone.
///
/// If that is said of many devices of one app within an hour, the cause is more likely a wrong environment or a fault
/// of the service than the devices: then their registrations stay, and the next hour begins the same way.
struct RemovalBreaker {
    enum Verdict: Equatable {
        case remove
        /// The first that is kept, which the operator should know of.
        case keepFrom
        case keep
    }

    /// Devices that one service calls gone by one credential.
    struct Devices: Hashable, CustomStringConvertible {
        let platform: Platform
        /// Nil: the default app (`PushChannels.otherApp`).
        var app: String?
        /// Devices of the one namespace are no reason to keep those of the other.
        var namespace = HubNamespace.backend

        var description: String {
            platform.rawValue + (app.map { " of the app \($0)" } ?? "")
                + (namespace == .served ? " of the served hub" : "")
        }
    }

    /// In seconds.
    static let period: Int64 = 60 * 60
    /// So many devices may be gone in any case.
    static let minimum = 20
    /// One in so many registrations.
    static let share = 5

    private struct Period {
        let start: Int64
        /// Devices that were called gone, those included whose registrations stay.
        var gone = 0
        var removed = 0
        /// There are at least so many registrations.
        var registrations = 0
        var isTripped = false

        var isFlood: Bool { gone > max(RemovalBreaker.minimum, registrations / RemovalBreaker.share) }
    }

    private var periods: [Devices: Period] = [:]

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - isRemoved: whether the registration is removed if it may be.
    ///   - count: how many registrations there are of these devices, or its argument if these are more. Asked seldom:
    ///     each time for twice as many as before.
    mutating func judge<Failure: Error>(
        _ devices: Devices, now: Int64, isRemoved: Bool = true, count: (Int) throws(Failure) -> Int
    ) throws(Failure) -> Verdict {
        var period = current(devices, now)
        period.gone += 1
        defer { periods[devices] = period }
        if period.isTripped { return .keep }
        if period.isFlood {
            period.registrations = try count(2 * Self.share * period.gone) + period.removed
        }
        guard period.isFlood else {
            if isRemoved { period.removed += 1 }
            return .remove
        }
        period.isTripped = true
        return .keepFrom
    }

    private func current(_ devices: Devices, _ now: Int64) -> Period {
        guard let period = periods[devices] else { return Period(start: now) }
        let age = now - period.start
        guard !(0..<Self.period).contains(age) else { return period }
        var next = Period(start: now)
        next.registrations = period.registrations
        next.isTripped = period.isTripped && period.isFlood && age < 2 * Self.period && age >= 0
        return next
    }
}
