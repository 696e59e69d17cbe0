// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Opened once, by one thread; another sleeps until then or until a deadline.
///
/// A condition variable, because it can wait on `CLOCK_MONOTONIC` (`pthread_condattr_setclock(3)`): `sem_timedwait(3)`
/// waits on the wall clock, and a clock that is set back by an hour would make a caller sleep that much longer.
final class Latch: Sendable {
    // Allocated for as long as the latch lives, at an address that never changes, as pthreads demand; from `init` to
    // `deinit` they are handed to nothing but pthread functions, which may be called from any thread.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let isOpen = Atomic(false)

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func open() {
        pthread_mutex_lock(mutex)
        isOpen.store(true, ordering: .releasing)
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Sleeps until the latch is open or the deadline has passed, whichever is first.
    func wait(until deadline: Deadline) {
        var time = deadline.timespec
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isOpen.load(ordering: .acquiring) {
            if pthread_cond_timedwait(condition, mutex, &time) != 0 { return }
        }
    }
}
