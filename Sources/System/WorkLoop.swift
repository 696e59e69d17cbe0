// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The life of a thread that works in rounds until `stop()`, and between two rounds sleeps until it is woken.
package final class WorkLoop: Sendable {
    private let wakes = Semaphore()
    private let isWoken = Atomic(false)
    private let stopping = Atomic(false)
    private let hasBegun = Atomic(false)
    private let hasEnded = Latch()

    package init() {}

    /// Works until `stop()`, on the thread that calls it.
    /// - Parameters:
    ///   - pause: how long it sleeps after a round that failed.
    ///   - report: hears of an error, unless the round before failed with the same.
    ///   - round: returns how long to sleep until the next one.
    package func run<Failure: Error & Equatable>(
        pause: Duration, report: (Failure) -> Void, _ round: () throws(Failure) -> Duration
    ) {
        hasBegun.store(true, ordering: .sequentiallyConsistent)
        defer { hasEnded.open() }
        var lastError: Failure?
        while !isStopping {
            var sleep = pause
            do throws(Failure) {
                sleep = try round()
                lastError = nil
            } catch {
                if error != lastError { report(error) }
                lastError = error
            }
            if !isStopping, sleep > .zero { wait(sleep) }
        }
    }

    /// Sleeps until it is woken, but no longer than that.
    package func wait(_ duration: Duration) {
        guard wakes.wait(for: duration) else { return }
        isWoken.store(false, ordering: .sequentiallyConsistent)
    }

    /// Ends the thread's sleep; signals once for all calls since it last woke. What it is to find must be handed over before the call.
    package func wake() {
        if !isWoken.exchange(true, ordering: .sequentiallyConsistent) { wakes.signal() }
    }

    /// Nothing more is begun from now on.
    package func stop() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        wake()
    }

    package var isStopping: Bool { stopping.load(ordering: .sequentiallyConsistent) }

    /// After `stop()`, waits until `run()` has returned, but no longer than that. A `run()` that begins only now does
    /// nothing.
    package func waitForEnd(_ duration: Duration) {
        guard hasBegun.load(ordering: .sequentiallyConsistent) else { return }
        hasEnded.wait(for: duration)
    }
}
