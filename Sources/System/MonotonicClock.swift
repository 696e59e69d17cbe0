// SPDX-License-Identifier: Apache-2.0

/// The clock that cannot be set. Holds, throttles and caches that live only in memory count on it, so that none of them
/// becomes longer or shorter when the date is corrected.
package typealias MonotonicClock = @Sendable () -> ContinuousClock.Instant

extension ContinuousClock.Instant {
    private static let origin = ContinuousClock.now

    /// Whole seconds since some moment, which is the same for all instants of this process.
    package var seconds: Int64 {
        let (seconds, attoseconds) = Self.origin.duration(to: self).components
        return attoseconds < 0 ? seconds - 1 : seconds
    }
}
