// SPDX-License-Identifier: Apache-2.0
import Synchronization
import System
import Testing

@Suite struct `A notice that a thread is about to block` {
    private final class Count: BlockingObserver {
        let value = Atomic(0)
        func threadWillBlock() { value.add(1, ordering: .relaxed) }
    }

    @Test func `goes to the observer of that thread alone`() {
        let (one, other) = (Count(), Count())
        let done = Semaphore()
        for (observer, times) in [(one, 1), (other, 2)] {
            _ = DetachedThread.start {
                BlockingNotice.post()
                BlockingNotice.setObserver(observer)
                for _ in 1...times { BlockingNotice.post() }
                done.signal()
            }
        }
        for _ in 1...2 { done.wait() }
        BlockingNotice.post()
        #expect(one.value.load(ordering: .relaxed) == 1)
        #expect(other.value.load(ordering: .relaxed) == 2)
    }

    @Test func `is made where a semaphore makes wait, and not where it gives at once`() {
        let observer = Count()
        let done = Semaphore()
        _ = DetachedThread.start {
            BlockingNotice.setObserver(observer)
            let semaphore = Semaphore(value: 2)
            semaphore.wait()
            _ = semaphore.wait(until: .now)
            let before = observer.value.load(ordering: .relaxed)
            _ = semaphore.wait(for: .milliseconds(1))
            observer.value.store(before * 10 + observer.value.load(ordering: .relaxed), ordering: .relaxed)
            done.signal()
        }
        done.wait()
        #expect(observer.value.load(ordering: .relaxed) == 1)
    }

    @Test func `lets go of the observer that it had before, and of the last one with its thread`() {
        let ended = Semaphore()
        final class Ends: BlockingObserver {
            let semaphore: Semaphore
            init(_ semaphore: Semaphore) { self.semaphore = semaphore }
            deinit { semaphore.signal() }
            func threadWillBlock() {}
        }
        _ = DetachedThread.start {
            BlockingNotice.setObserver(Ends(ended))
            BlockingNotice.setObserver(Ends(ended))
        }
        for _ in 1...2 { #expect(ended.wait(for: .seconds(240))) }
    }
}
