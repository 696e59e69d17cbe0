// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// When a call must have ended, all of its waits together.
struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    init(_ timeout: Duration) {
        instant = .now + timeout
    }

    private init(instant: ContinuousClock.Instant) { self.instant = instant }

    /// Of the next of so many tries which share the time that is left.
    func share(of tries: Int) -> Deadline { Deadline(instant: .now + rest / max(1, tries)) }

    var hasPassed: Bool { .now >= instant }

    private var rest: Duration { max(.zero, ContinuousClock.now.duration(to: instant)) }

    /// As poll(2) counts; rounded up, so that 0 means that it has passed.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = rest.components
        let (milliseconds, isLong) = seconds.multipliedReportingOverflow(by: 1_000)
        let fraction = attoseconds / 1_000_000_000_000_000 + (attoseconds % 1_000_000_000_000_000 > 0 ? 1 : 0)
        return isLong ? .max : Int32(clamping: milliseconds.addingReportingOverflow(fraction).partialValue)
    }

    var dispatchTime: DispatchTime { .now() + .milliseconds(Int(milliseconds)) }

    /// Whether a pause of that length ends before it.
    func leavesRoom(for pause: Duration) -> Bool { pause < rest }
}
