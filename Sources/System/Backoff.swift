// SPDX-License-Identifier: Apache-2.0

/// How long something that has failed waits for its next try: longer after each failure in a row, up to a longest pause.
package struct Backoff: Sendable {
    /// At least one. The last is that of all further failures.
    package let pauses: [Duration]
    private let isSpread: Bool

    /// - Parameters:
    ///   - pauses: one for each failure in a row.
    ///   - isSpread: whether up to a quarter is added to each, so that not all that failed together come back together.
    package init(_ pauses: [Duration], isSpread: Bool = false) {
        self.pauses = pauses.isEmpty ? [.zero] : pauses
        self.isSpread = isSpread
    }

    /// - Parameters:
    ///   - first: above zero. Each further pause is twice as long as the one before.
    ///   - longest: the end of the doubling.
    package init(doubling first: Duration, to longest: Duration, isSpread: Bool = false) {
        var pauses: [Duration] = []
        var next = first
        while next > .zero, next < longest {
            pauses.append(next)
            next += next
        }
        self.init(pauses + [longest], isSpread: isSpread)
    }

    package var longest: Duration { pauses[pauses.count - 1] }

    /// - Parameter failures: in a row, before the one that this pause follows. A negative number counts as none.
    package func pause(after failures: Int) -> Duration {
        let pause = base(failures)
        return isSpread ? pause + pause * Double.random(in: 0...0.25) : pause
    }

    /// As `pause(after:)`, in whole seconds, of which up to one is added at least if it is spread.
    /// - Parameter minimum: the shortest pause, to which as much is added as to the other.
    package func seconds(after failures: Int, atLeast minimum: Int64 = 0) -> Int64 {
        let pause = base(failures).components.seconds
        return max(pause, minimum) + (isSpread ? Int64.random(in: 0...max(1, pause / 4)) : 0)
    }

    private func base(_ failures: Int) -> Duration { pauses[min(max(failures, 0), pauses.count - 1)] }
}
