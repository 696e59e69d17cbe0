// SPDX-License-Identifier: Apache-2.0

/// A token bucket, of which one moment says all: when it will be full again.
package enum TokenBucket {
    /// Takes one token.
    /// - Parameters:
    ///   - fullAt: the moment; nil: it is full.
    ///   - perMinute: tokens that come back, above 0.
    ///   - atOnce: tokens of a full one.
    /// - Returns: nil when it was taken; otherwise the seconds until one may be.
    package static func take(
        from fullAt: inout ContinuousClock.Instant?, perMinute: Int, atOnce: Int, at time: ContinuousClock.Instant
    ) -> Int? {
        let interval = Duration.seconds(60) / perMinute
        let start = max(fullAt ?? time, time)
        let missing = time.duration(to: start) - interval * (atOnce - 1)
        guard missing > .zero else {
            fullAt = start + interval
            return nil
        }
        let (seconds, attoseconds) = missing.components
        return Int(clamping: attoseconds > 0 ? seconds + 1 : seconds)
    }
}
