// SPDX-License-Identifier: Apache-2.0
import System

/// How often something may happen a minute, and at once, for each of a few names.
final class RateMeter: Sendable {
    private let perMinute: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let fullAt = Lock<[String: ContinuousClock.Instant]>([:])

    /// - Parameters:
    ///   - perMinute: as many at once, too; 0: without a limit.
    ///   - clock: one that is not set.
    init(perMinute: Int, clock: @escaping @Sendable () -> ContinuousClock.Instant) {
        (self.perMinute, self.clock) = (perMinute, clock)
    }

    /// - Returns: nil when it may happen; otherwise the seconds until it may.
    func take(_ name: String) -> Int? {
        guard perMinute > 0 else { return nil }
        let time = clock()
        return fullAt.withLock { TokenBucket.take(from: &$0[name], perMinute: perMinute, atOnce: perMinute, at: time) }
    }
}
