// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Numbers that grow: records of one second keep the order in which they were made.
///
/// A number is the time in microseconds since 1970, by the system's clock, or one more than the number before it. So processes
/// that share a store, and a process that is started again, go on where the others were. It is exact in all readers of JSON
/// (below 2^53).
package final class CreationSequence: Sendable {
    private let last = Atomic<Int64>(0)

    package init() {}

    /// Greater than all numbers before.
    package func next() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec / 1_000)
        var known = last.load(ordering: .relaxed)
        while true {
            let next = max(known &+ 1, now)
            let (isNext, found) = last.weakCompareExchange(expected: known, desired: next, ordering: .relaxed)
            if isNext { return next }
            known = found
        }
    }
}
