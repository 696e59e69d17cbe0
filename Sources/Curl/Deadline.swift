// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A moment on the clock that nobody can set (`CLOCK_MONOTONIC`).
struct Deadline: Comparable, Sendable {
    /// Nanoseconds since some moment before this process began.
    let nanoseconds: Int64

    /// A deadline farther away than this is taken to be this far, so that no sum can overflow.
    static let farthest = Duration.seconds(24 * 60 * 60)

    static func < (one: Deadline, other: Deadline) -> Bool { one.nanoseconds < other.nanoseconds }

    static var now: Deadline {
        var time = Glibc.timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Deadline(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The moment that lies that far from now; a negative duration means now.
    static func after(_ duration: Duration) -> Deadline {
        Deadline(nanoseconds: now.nanoseconds + min(max(duration, .zero), farthest).wholeNanoseconds)
    }

    /// Milliseconds from now until the deadline, rounded up; 0 when it has passed.
    var millisecondsLeft: Int {
        let left = nanoseconds - Deadline.now.nanoseconds
        return left <= 0 ? 0 : Int((left + 999_999) / 1_000_000)
    }

    var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}

extension Duration {
    /// Only for durations of at most `Deadline.farthest`, whose nanoseconds fit.
    fileprivate var wholeNanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }

    /// Whole milliseconds, at least 1 (0 means "no limit" to libcurl), at most those of `Deadline.farthest`.
    var curlMilliseconds: Int {
        Int(max(1, min(max(self, .zero), Deadline.farthest).wholeNanoseconds / 1_000_000))
    }
}
