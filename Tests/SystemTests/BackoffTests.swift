// SPDX-License-Identifier: Apache-2.0
import System
import Testing

@Suite struct BackoffTests {
    @Test(arguments: [Int.min, -1, 0]) func `no failure, or fewer, leads to the first pause`(_ failures: Int) {
        let backoff = Backoff(doubling: .seconds(1), to: .seconds(60))
        #expect(backoff.pause(after: failures) == .seconds(1))
        #expect(backoff.seconds(after: failures) == 1)
    }

    @Test(arguments: [6, 7, 62, 63, 64, Int.max]) func `no number of failures leads beyond the longest`(_ failures: Int)
    {
        let backoff = Backoff(doubling: .seconds(1), to: .seconds(60))
        #expect(backoff.pause(after: failures) == backoff.longest)
        #expect(backoff.seconds(after: failures) == 60)
    }

    /// The first pauses, the longest, and all that follow.
    @Test(arguments: [
        (Duration.zero, Duration.seconds(9), [Duration.seconds(9)]), (.seconds(9), .seconds(9), [.seconds(9)]),
        (.seconds(9), .seconds(1), [.seconds(1)]), (.seconds(3), .seconds(7), [.seconds(3), .seconds(6), .seconds(7)]),
    ]) func `the doubling ends at the longest`(_ first: Duration, _ longest: Duration, _ pauses: [Duration]) {
        #expect(Backoff(doubling: first, to: longest).pauses == pauses)
    }

    @Test func `a list without a pause waits for none`() {
        #expect(Backoff([]).pause(after: 3) == .zero)
    }

    @Test func `a minimum is kept, and is not spread further than the pause`() {
        let backoff = Backoff(doubling: .seconds(8), to: .seconds(16), isSpread: true)
        for _ in 0..<200 {
            #expect((8...10).contains(backoff.seconds(after: 0)))
            #expect((16...20).contains(backoff.seconds(after: 1, atLeast: 3)))
            #expect((100...104).contains(backoff.seconds(after: 1, atLeast: 100)))
        }
    }

    @Test func `a spread pause is up to a quarter longer, and a whole second at least`() {
        let backoff = Backoff(doubling: .seconds(1), to: .seconds(100), isSpread: true)
        let pauses = (0..<400).map { _ in backoff.pause(after: 20) }
        #expect(pauses.allSatisfy { (Duration.seconds(100)...Duration.seconds(125)).contains($0) })
        #expect(Set(pauses).count > 1)
        #expect(Set((0..<400).map { _ in backoff.seconds(after: 0) }) == [1, 2])
    }
}
