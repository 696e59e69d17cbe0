// SPDX-License-Identifier: Apache-2.0

extension ContinuousClock.Instant {
    private static let beginning = ContinuousClock.now

    /// So long after one moment, which is the same for all tests.
    static func at(_ seconds: Int64) -> ContinuousClock.Instant { beginning + .seconds(seconds) }
}
