// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import System
import Testing

/// How long a wait may take that must come to its end.
private let ample = Duration.seconds(240)

@Suite struct `A semaphore` {
    @Test func `gives as many as there are, and then makes wait`() {
        let semaphore = Semaphore(value: 2)
        #expect(semaphore.wait(for: .zero))
        #expect(semaphore.wait(until: .now))
        #expect(!semaphore.wait(for: .milliseconds(1)))
        semaphore.signal()
        #expect(semaphore.wait(for: .seconds(-1)))
        #expect(!semaphore.wait(until: .after(.seconds(-1))))
    }

    @Test func `wakes one thread for each signal`() {
        let (start, end) = (Semaphore(), Semaphore())
        let woken = Atomic(0)
        for _ in 1...4 {
            _ = DetachedThread.start {
                start.wait()
                woken.add(1, ordering: .relaxed)
                end.signal()
            }
        }
        for count in 1...4 {
            start.signal()
            #expect(end.wait(for: ample))
            #expect(woken.load(ordering: .relaxed) == count)
        }
        #expect(!end.wait(for: .zero))
    }

    @Test func `keeps more than so many out, however many come`() {
        let permits = Semaphore(value: 3)
        let done = Semaphore()
        let inside = Atomic(0)
        let most = Lock(0)
        for _ in 1...16 {
            _ = DetachedThread.start {
                for _ in 1...500 {
                    guard permits.wait(for: ample) else { return }
                    let count = inside.add(1, ordering: .relaxed).newValue
                    most.withLock { $0 = max($0, count) }
                    inside.subtract(1, ordering: .relaxed)
                    permits.signal()
                }
                done.signal()
            }
        }
        for _ in 1...16 { #expect(done.wait(for: ample)) }
        #expect(most.withLock(\.self) <= 3)
    }
}

@Suite struct `A latch` {
    @Test func `is closed until it is opened, and then open for all`() {
        let latch = Latch()
        #expect(!latch.wait(for: .milliseconds(1)))
        let done = Semaphore()
        for _ in 1...3 {
            _ = DetachedThread.start { if latch.wait(for: ample) { done.signal() } }
        }
        latch.open()
        for _ in 1...3 { #expect(done.wait(for: ample)) }
        #expect(latch.wait(until: .now))
        latch.open()
        #expect(latch.wait(for: .zero))
    }
}

@Suite struct `A deadline` {
    @Test func `lies ahead, and passes`() {
        let deadline = Deadline.after(ample)
        #expect(!deadline.hasPassed && deadline > .now)
        #expect(deadline.timeLeft > .zero && deadline.timeLeft <= ample)
        #expect((1...240_000).contains(deadline.millisecondsLeft))
        let past = Deadline.now
        #expect(past.hasPassed && past.timeLeft == .zero && past.millisecondsLeft == 0)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1 << 40)])
    func `has an end, however far it was wanted to be`(duration: Duration) {
        #expect(Deadline.after(duration).timeLeft <= Deadline.farthest)
        #expect(Deadline.after(.zero - duration).hasPassed)
    }
}

/// The rule that the sources keep: there is one way to wait, and it is in this room.
@Suite struct `The sources` {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../Sources").standardized

    @Test func `wait in no other way than this room's`() throws {
        let others = ["import Dispatch", "DispatchSemaphore", "sem_timedwait", "pthread_cond_"]
        let files = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path)
            .filter { $0.hasSuffix(".swift") && $0 != "System/Semaphore.swift" }
        #expect(files.count > 100)
        for file in files {
            let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            for other in others { #expect(!text.contains(other), "\(file): \(other)") }
        }
    }
}
