// SPDX-License-Identifier: Apache-2.0
internal import Push
internal import System

/// Devices for which their service takes no more messages for a while. Later messages to such a device wait as the one does that met
/// it; then one push at a time goes out, until the service takes it.
struct DeviceThrottle {
    /// Devices that are remembered; with more, those whose pause ends first are forgotten. They meet the limit once more.
    static let capacity = 10_000
    /// The pauses if the service does not say how long.
    static let backoff = Backoff(doubling: .seconds(1), to: .seconds(300))
    /// The longest pause if it does.
    private static let maximumHold: Int64 = 15 * 60

    private struct Hold {
        var until: ContinuousClock.Instant
        var failures = 1
        /// Whether a push is in flight that shows if the service takes more.
        var isOnTrial = false
    }

    /// By `DeliveryAttempt.device`.
    private var holds: [Int: Hold] = [:]

    var isEmpty: Bool { holds.isEmpty }
    var count: Int { holds.count }

    /// When the device may be sent to again, if not now.
    func holdUntil(_ device: Int, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let hold = holds[device] else { return nil }
        if hold.isOnTrial { return now + .seconds(1) }
        return hold.until > now ? hold.until : nil
    }

    mutating func begin(_ delivery: DeliveryAttempt) {
        if !holds.isEmpty { holds[delivery.device]?.isOnTrial = true }
    }

    mutating func end(_ delivery: DeliveryAttempt, _ result: PushResult, now: ContinuousClock.Instant) {
        if case .retryDevice(let seconds) = result.action { return hold(delivery.device, seconds, now) }
        // Almost always, and then the device's hash is not needed.
        guard !holds.isEmpty else { return }
        switch result.action {
        // Nothing is known of the device.
        case .retry, .retryPush, .renewCredential, .holdCredential: holds[delivery.device]?.isOnTrial = false
        case .settle, .removeRegistration, .doubtRegistration, .tryOtherEnvironment, .retryDevice:
            holds[delivery.device] = nil
        }
    }

    mutating func hold(_ device: Int, _ seconds: Int?, _ now: ContinuousClock.Instant) {
        var hold = holds[device] ?? Hold(until: now, failures: 0)
        // The refusals of pushes that were in flight together are one.
        if hold.isOnTrial || hold.failures == 0 { hold.failures += 1 }
        hold.isOnTrial = false
        let asked = min(Int64(seconds ?? 0), Self.maximumHold)
        hold.until = now + .seconds(Self.backoff.seconds(after: hold.failures - 1, atLeast: asked))
        holds[device] = hold
        holds.halve(above: Self.capacity, by: \.until)
    }
}
