// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Waiting for something that another process does, and never for ever.
package enum Deadline {
    /// Asks again and again.
    /// - Returns: whether it became true in time.
    @discardableResult package static func poll(seconds: Int, _ isTrue: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            if try isTrue() { return true }
            if ContinuousClock.now >= end { return false }
            usleep(2_000)
        }
    }
}
