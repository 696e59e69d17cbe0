// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import Store
import System

/// The 256 locks of one table, against other threads and other processes alike.
///
/// Processes exclude each other by an open file description lock on one byte of the table's lock file; it belongs to
/// the descriptor, so unlike POSIX locks it survives when another descriptor of the file is closed. It does not
/// exclude threads that share the descriptor, so a mutex comes before it. Both waits have one deadline: a process
/// that was stopped while it holds a lock must cost others an error, not their lives.
final class BucketLocks: Sendable {
    static let count = 256
    /// Between two tries for a lock that another process holds: no call of the kernel's waits for one until a deadline.
    static let backoff = Backoff(doubling: .microseconds(20), to: .microseconds(2_000))

    private let context: StoreContext
    private let name: String
    private let descriptor: Int32
    /// Safe to share: initialised before any other thread can see it, used only through pthread's own calls, which are
    /// made for many threads, and destroyed when no thread can see it any more.
    private nonisolated(unsafe) let mutexes: UnsafeMutablePointer<pthread_mutex_t>

    /// - Parameter name: of the lock file, relative to the store's folder. It is created where it is missing.
    init(_ context: StoreContext, name: String) throws(StoreError) {
        descriptor = platform_open(context.path + "/" + name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno, "open", name, writing: true) }
        self.context = context
        self.name = name
        mutexes = .allocate(capacity: Self.count)
        for index in 0..<Self.count { pthread_mutex_init(mutexes + index, nil) }
    }

    deinit {
        for index in 0..<Self.count { pthread_mutex_destroy(mutexes + index) }
        mutexes.deallocate()
        close(descriptor)
    }

    /// - Parameters:
    ///   - timeout: nil: the one of all locks.
    ///   - onWait: called once, if another process holds the lock.
    /// - Throws: `busy` at the deadline; then what `body` throws.
    func withLock<Result>(
        _ index: UInt8, timeout: Duration? = nil, onWait: () -> Void = {}, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let deadline = Deadline.after(timeout ?? context.options.lockTimeout)
        try lockThreads(index, deadline)
        defer { pthread_mutex_unlock(mutexes + Int(index)) }
        try lockProcesses(index, deadline, onWait)
        defer { _ = platform_ofd_lock_byte(descriptor, Int16(F_UNLCK), off_t(index)) }
        return try body()
    }

    private func lockThreads(_ index: UInt8, _ deadline: Deadline) throws(StoreError) {
        if pthread_mutex_trylock(mutexes + Int(index)) == 0 { return }
        BlockingNotice.post()
        var limit = deadline.timespec
        switch pthread_mutex_clocklock(mutexes + Int(index), CLOCK_MONOTONIC, &limit) {
        case 0: return
        case ETIMEDOUT: throw .busy(retryAfterSeconds: 1)
        case let code: throw StoreError(code, "lock", name, writing: true)
        }
    }

    private func lockProcesses(_ index: UInt8, _ deadline: Deadline, _ onWait: () -> Void) throws(StoreError) {
        var tries = 0
        while platform_ofd_lock_byte(descriptor, Int16(F_WRLCK), off_t(index)) != 0 {
            guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
                throw StoreError(errno, "lock", name, writing: true)
            }
            if tries == 0 { onWait() }
            guard !deadline.hasPassed else { throw .busy(retryAfterSeconds: 1) }
            Semaphore.sleep(Self.backoff.pause(after: tries))
            tries += 1
        }
    }
}
