// SPDX-License-Identifier: Apache-2.0
import Testing

import class System.Lock

@testable import AppBackend

struct UserMeterTests {
    /// Moved by the test alone.
    private final class Clock: Sendable {
        private let time = Lock(ContinuousClock.now)
        var now: @Sendable () -> ContinuousClock.Instant { { [self] in time.withLock(\.self) } }
        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private let clock = Clock()
    private let rate = UserLimits.Rate(perMinute: 60, atOnce: 3)

    private func taken(_ meter: UserMeter, _ owner: String, _ times: Int, _ rate: UserLimits.Rate) -> Int {
        (0..<times).count { _ in meter.take(.sends, of: owner, rate) == nil }
    }

    @Test func `in an hour as many pass as at once, and one for each interval`() {
        let meter = UserMeter(now: clock.now)
        var passed = 0
        for _ in 0..<3_600 {
            passed += taken(meter, "alice", 5, rate)
            clock.advance(.seconds(1))
        }
        #expect(passed == 3 + 3_599)
    }

    @Test func `a part of a second is waited for as a whole one`() {
        let meter = UserMeter(now: clock.now)
        let fast = UserLimits.Rate(perMinute: 300, atOnce: 1)
        #expect(taken(meter, "alice", 1, fast) == 1)
        #expect(meter.take(.sends, of: "alice", fast) == 1)
        clock.advance(.milliseconds(199))
        #expect(meter.take(.sends, of: "alice", fast) == 1)
        clock.advance(.milliseconds(1))
        #expect(meter.take(.sends, of: "alice", fast) == nil)
    }

    @Test func `another limit counts at once, and what was done before it counts, too`() {
        let meter = UserMeter(now: clock.now)
        #expect(taken(meter, "alice", 3, rate) == 3)
        #expect(taken(meter, "alice", 10, .init(perMinute: 60, atOnce: 5)) == 2)
        #expect(taken(meter, "alice", 10, .init(perMinute: 0, atOnce: 1)) == 10)
        #expect(meter.take(.sends, of: "alice", .init(perMinute: 60, atOnce: 1)) == 5)
    }

    @Test func `a crowd does not refill an empty bucket`() {
        let meter = UserMeter(now: clock.now)
        #expect(taken(meter, "alice", 4, rate) == 3)
        for number in 0..<UserMeter.maximumBuckets * 2 { _ = meter.take(.sends, of: "user\(number)", rate) }
        #expect(taken(meter, "alice", 1, rate) == 0)
        clock.advance(.seconds(1))
        #expect(taken(meter, "alice", 2, rate) == 1)
    }

    @Test func `bytes are given back, and one alone may be larger than the limit`() {
        let meter = UserMeter()
        #expect(meter.begin(500, of: "alice", atMost: 100))
        #expect(!meter.begin(1, of: "alice", atMost: 100))
        #expect(meter.begin(100, of: "bob", atMost: 100))
        meter.end(500, of: "alice")
        #expect(meter.begin(60, of: "alice", atMost: 100) && meter.begin(40, of: "alice", atMost: 100))
        #expect(!meter.begin(1, of: "alice", atMost: 100))
    }

    @Test func `a list is taken to be as long as the last one`() {
        let meter = UserMeter()
        #expect(meter.expectedListBytes(of: "alice") == UserMeter.listBytes)
        meter.noteList(6 << 20, of: "alice")
        #expect(meter.expectedListBytes(of: "alice") == 6 << 20)
        #expect(meter.expectedListBytes(of: "bob") == UserMeter.listBytes)
        meter.noteList(2, of: "alice")
        #expect(meter.expectedListBytes(of: "alice") == UserMeter.listBytes)
        for number in 0..<UserMeter.maximumLongLists * 2 { meter.noteList(6 << 20, of: "user\(number)") }
        #expect(meter.expectedListBytes(of: "alice") == UserMeter.listBytes)
    }
}
