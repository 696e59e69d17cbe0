// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A value that one thread at a time may read and write.
///
/// It is made of `pthread_mutex_t`, not of Swift's `Mutex`: that one is a priority-inheriting futex which hands over to the
/// next waiting thread, so that under load every lock and unlock becomes a switch between threads; and ThreadSanitizer
/// does not see it. A thread that waits for a lock
/// waits without a deadline, so what is done inside `withLock` should be done in a moment.
package final class Lock<Value: ~Copyable>: Sendable {
    // Both are allocated for as long as this object lives: POSIX demands a mutex's address not to change. From `init` to
    // `deinit` the mutex is only handed to pthread_mutex_lock(3) and _unlock, and the value is only used between them.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    package init(_ initial: consuming sending Value) {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread is in a `withLock` of this lock. Not reentrant: `body` must not take it again.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
