// SPDX-License-Identifier: Apache-2.0
import System
import Testing

@testable import FastCGI

@Suite struct `Leaders and followers` {
    /// In many rounds, because only sometimes the worker sleeps before the start is known to have failed.
    @Test func `a thread that could not be started leaves its place to a worker that sleeps`() throws {
        for _ in 0..<200 {
            let workers = try LeaderFollowers(workers: 2, size: 1)
            // The only worker is about to block, and one is to be started in its place.
            #expect(workers.promote() == .start)
            let leads = Counter()
            try PlatformThread.start {
                workers.becomeFollower()
                leads.count()
            }
            workers.startFailed()
            try #require(eventually { leads.value == 1 })
        }
    }
}
