// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Testing

@testable import Commands

struct ClockFindingsTests {
    /// 1994-11-06 08:49:37.
    private static let moment: Int64 = 784_111_777
    private static let response = Response(fields: [.date: "Sun, 06 Nov 1994 08:49:37 GMT"])

    /// When it was asked and answered, as seen from the moment that the answer names, and the difference.
    static let calls: [(before: Int64, after: Int64, seconds: Int64)] = [
        // Asked before and answered after: the clocks agree as far as anybody can tell.
        (-9, 0, 0), (0, 9, 0), (-5, 5, 0), (-70, -60, 60), (60, 70, -60),
    ]

    @Test(arguments: calls) func `the time that a call takes is no difference`(
        before: Int64, after: Int64, seconds: Int64
    ) {
        let difference = ClockDifference(
            host: "a", Self.response, before: Self.moment + before, after: Self.moment + after)
        #expect(difference?.seconds == seconds)
    }

    @Test func `an answer without a date says nothing`() {
        #expect(ClockDifference(host: "a", Response(), before: 0, after: 0) == nil)
        #expect(ClockDifference(host: "a", Response(fields: [.date: "now"]), before: 0, after: 0) == nil)
    }

    static let differences: [(Bool?, Int64, Verdict)] = [
        (true, 0, .ok), (true, 30, .ok), (true, -31, .warning), (true, 300, .warning), (true, 301, .fail),
        (true, -301, .fail), (false, 0, .warning), (nil, 0, .ok), (true, Int64.min, .fail),
    ]

    @Test(arguments: differences)
    func `above 30 seconds it is a warning, above five minutes wrong`(isKept: Bool?, seconds: Int64, verdict: Verdict) {
        let difference = ClockDifference(host: "hub", seconds: seconds)
        let step = ClockFindings(isSynchronized: isKept, differences: [difference], hasExternalHub: true)
        #expect(step.findings().map(\.verdict) == [verdict])
        #expect(step.findings().allSatisfy { $0.verdict == .ok || $0.fix?.contains("timedatectl") == true })
    }

    @Test func `which way the clock is wrong is said from this host's side`() {
        let found = findings(hasExternalHub: true)
        #expect(found.contains("400 s behind that of hub") && found.contains("the hub refuses our signatures"))
    }

    @Test func `of a hub's signatures nothing is said where no hub is called`() {
        #expect(findings(hasExternalHub: false).contains("so push services may refuse our tokens"))
    }

    private func findings(hasExternalHub: Bool) -> String {
        let difference = ClockDifference(host: "hub", seconds: 400)
        let step = ClockFindings(isSynchronized: true, differences: [difference], hasExternalHub: hasExternalHub)
        return step.findings().map(\.found).joined(separator: "\n")
    }
}
