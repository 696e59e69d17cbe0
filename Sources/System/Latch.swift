// SPDX-License-Identifier: Apache-2.0

/// Opened once; others sleep until then or until a deadline.
package final class Latch: Sendable {
    private let opened = Semaphore()

    package init() {}

    package func open() { opened.signal() }

    /// Returns when the latch is open or the deadline has passed, whichever is first.
    /// - Returns: whether it is open.
    @discardableResult package func wait(until deadline: Deadline) -> Bool {
        guard opened.wait(until: deadline) else { return false }
        // For the next thread that waits or will look.
        opened.signal()
        return true
    }

    /// As `wait(until:)`, from now on.
    @discardableResult package func wait(for duration: Duration) -> Bool { wait(until: .after(duration)) }
}
