// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store
import System
import Testing

@testable import BuiltInHub

/// The threads that read whom messages reach.
struct TargetLookupTests {
    /// The threads that look-ups were carried out on.
    private let threads = Lock<[pthread_t]>([])

    private func lookup(_ expression: String, _ body: @escaping @Sendable () -> Void = {}) -> TargetLookup {
        TargetLookup(expression) { [threads] () throws(StoreError) in
            threads.withLock { $0.append(pthread_self()) }
            body()
            return []
        }
    }

    @Test(arguments: [["a", "a", "a"], ["a", "b", "c"]])
    func `a look-up that begins at the end of another takes its thread`(_ expressions: [String]) {
        let lookups = TargetLookups(atOnce: 4)
        let all = expressions.map { lookup($0) }
        for (one, next) in zip(all, all.dropFirst()) {
            one.whenEnded {
                let beginsAtOnce = lookups.begin(next)
                #expect(beginsAtOnce)
            }
        }
        #expect(lookups.begin(all[0]))
        for lookup in all { lookup.wait(for: .seconds(120)) }
        let used = threads.withLock(\.self)
        #expect(used.count == 3 && Set(used).count == 1)
    }

    @Test func `look-ups of several expressions have a thread each, and those of one expression wait for each other`() {
        let lookups = TargetLookups(atOnce: 2)
        let (hasBegun, mayEnd) = (Latch(), Latch())
        let slow = lookup("a") {
            hasBegun.open()
            mayEnd.wait(for: .seconds(120))
        }
        #expect(lookups.begin(slow))
        hasBegun.wait(for: .seconds(120))
        let (same, other) = (lookup("a"), lookup("b"))
        #expect(!lookups.begin(same) && lookups.begin(other))
        other.wait(for: .seconds(120))
        #expect(other.result != nil && slow.result == nil && same.result == nil)
        mayEnd.open()
        same.wait(for: .seconds(120))
        #expect(same.result != nil && slow.result != nil)
    }
}
