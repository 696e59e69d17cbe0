// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// Counts what threads may take, and lets those wait that find nothing. Threads of this program wait for each other only
/// with this, or with a `Latch`, which is made of it.
///
/// `DispatchSemaphore` and `sem_timedwait(3)` wait on the wall clock: after it was set back by an hour, a wait of five
/// seconds takes an hour longer. `sem_clockwait(3)` takes the clock that counts.
package final class Semaphore: Sendable {
    // Allocated for as long as this object lives, at an address that never changes, as POSIX demands; from `init` to
    // `deinit` it is handed to nothing but sem_overview(7)'s functions, which may be called from any thread.
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// - Parameter value: how many may be taken before the first `signal()`.
    package init(value: UInt32 = 0) {
        sem_init(semaphore, 0, value)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Waits for so long.
    package static func sleep(_ duration: Duration) {
        // No thread signals it.
        _ = Semaphore().wait(for: duration)
    }

    /// Adds one; a thread that waits takes it.
    package func signal() {
        // Fails only at a count of 2^31, when no thread has to wait.
        sem_post(semaphore)
    }

    /// Takes one, as soon as there is one.
    package func wait() {
        while !wait(for: Deadline.farthest) {}
    }

    /// Takes one.
    /// - Returns: false, when there was none until the deadline.
    package func wait(until deadline: Deadline) -> Bool {
        if sem_trywait(semaphore) == 0 { return true }
        BlockingNotice.post()
        var time = deadline.timespec
        while sem_clockwait(semaphore, CLOCK_MONOTONIC, &time) != 0 {
            // A signal handler is no reason to end early.
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// Takes one; where there is one, without a look at the clock.
    /// - Returns: false, when there was none for that long.
    package func wait(for duration: Duration) -> Bool {
        sem_trywait(semaphore) == 0 || wait(until: .after(duration))
    }
}

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
