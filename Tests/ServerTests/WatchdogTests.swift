// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import FastCGI
@testable import Server

/// systemd's watchdog is fed by progress, and by nothing else.
struct WatchdogTests {
    private static func signs(
        turns: Int, exhausted: Duration = .zero, delivery: ReloadableSite.Pulse? = nil, isDraining: Bool = false
    ) -> ProgressCheck.Signs {
        ProgressCheck.Signs(
            server: ServerLiveness(iterations: turns, exhausted: exhausted), delivery: delivery,
            patience: .seconds(100),
            isDraining: isDraining, status: "Serving")
    }

    @Test func `it is fed at each look that has seen progress`() {
        var check = ProgressCheck(Self.signs(turns: 1))
        for turns in 2...4 {
            #expect(check.states(after: Self.signs(turns: turns)) == [.alive, .status("Serving")])
            #expect(check.trouble == nil)
        }
    }

    @Test func `it is not fed while no connection is accepted, and is fed again afterwards`() {
        var check = ProgressCheck(Self.signs(turns: 1))
        for _ in 1...2 {
            let states = check.states(after: Self.signs(turns: 1))
            #expect(states == [.status("No progress: no connection is accepted")])
        }
        #expect(check.states(after: Self.signs(turns: 2)) == [.alive, .status("Serving")])
    }

    @Test func `it is not fed when all workers have had their requests for longer than these may take`() {
        var check = ProgressCheck(Self.signs(turns: 1))
        #expect(check.states(after: Self.signs(turns: 2, exhausted: .seconds(100))).contains(.alive))
        let states = check.states(after: Self.signs(turns: 3, exhausted: .seconds(101)))
        #expect(states == [.status("No progress: no worker has become free for 101 s")])
    }

    @Test func `it is not fed while the delivery stands still`() {
        func signs(_ turns: Int, _ deliveries: Int, site: Int = 0) -> ProgressCheck.Signs {
            Self.signs(turns: turns, delivery: .init(site: site, turns: deliveries))
        }
        var check = ProgressCheck(signs(1, 7))
        #expect(check.states(after: signs(2, 8)).contains(.alive))
        #expect(check.states(after: signs(3, 8)) == [.status("No progress: nothing is delivered")])
        // A reload's new site counts from the beginning.
        #expect(check.states(after: signs(4, 8, site: 1)).contains(.alive))
        #expect(check.trouble == nil)
    }

    @Test func `a site that delivers nothing is not expected to`() {
        var check = ProgressCheck(Self.signs(turns: 1))
        #expect(check.states(after: Self.signs(turns: 2)).contains(.alive))
    }

    @Test func `it is fed while the process ends, which has a time limit of its own`() {
        var check = ProgressCheck(Self.signs(turns: 1))
        #expect(check.states(after: Self.signs(turns: 1, isDraining: true)) == [.alive])
    }
}
