// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A moment on the clock that cannot be set (`CLOCK_MONOTONIC`). Every wait of this program ends at one.
package struct Deadline: Comparable, Sendable {
    /// Nanoseconds since some moment before this process began.
    package let nanoseconds: Int64

    /// A deadline farther away than this is taken to be this far, so that no sum can overflow.
    package static let farthest = Duration.seconds(24 * 60 * 60)

    package static func < (one: Deadline, other: Deadline) -> Bool { one.nanoseconds < other.nanoseconds }

    package static var now: Deadline {
        var time = Glibc.timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Deadline(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The moment that lies that far from now; a negative duration means now.
    package static func after(_ duration: Duration) -> Deadline {
        Deadline(nanoseconds: now.nanoseconds + min(max(duration, .zero), farthest).wholeNanoseconds)
    }

    /// Milliseconds since the same moment.
    package var milliseconds: Int64 { nanoseconds / 1_000_000 }

    package var hasPassed: Bool { .now >= self }

    /// From now until the deadline; zero when it has passed.
    package var timeLeft: Duration { .nanoseconds(max(0, nanoseconds - Deadline.now.nanoseconds)) }

    /// Milliseconds from now until the deadline, rounded up; 0 when it has passed.
    package var millisecondsLeft: Int {
        let left = nanoseconds - Deadline.now.nanoseconds
        return left <= 0 ? 0 : Int((left + 999_999) / 1_000_000)
    }

    /// For system calls that take a moment of `CLOCK_MONOTONIC`.
    package var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}

extension Duration {
    /// Only for durations of at most `Deadline.farthest`, whose nanoseconds fit.
    fileprivate var wholeNanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
