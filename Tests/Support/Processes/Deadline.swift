// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Waiting for something that another process does, and never without end.
package enum Deadline {
    /// Asks again and again, the last time when the time is over: who was stopped meanwhile has not looked since.
    /// - Returns: whether it became true in time.
    @discardableResult package static func poll(seconds: Int, _ isTrue: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let isLast = ContinuousClock.now >= end
            if try isTrue() { return true }
            if isLast { return false }
            usleep(2_000)
        }
    }
}
