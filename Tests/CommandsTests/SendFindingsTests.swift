// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Testing

@testable import Commands

/// What is made of the notification that `doctor --send-to` has sent.
struct SendFindingsTests {
    private static let judge = SendFindings(name: "alice", seconds: 5)

    private static func report(_ state: String, id: String? = "7", error: String? = nil) -> SendReport {
        var report = SendReport()
        let outcome = SendOutcome.PlatformOutcome(platform: "browser", state: state, notificationID: id, error: error)
        report.add(SendOutcome(outcomes: [outcome]))
        return report
    }

    static let outcomes: [(String, Verdict, String?)] = [
        ("Success", .ok, nil), ("ExpiredChannel", .warning, "registers again"), ("BadChannel", .warning, "registers"),
        ("Skipped", .warning, "a credential for browser"), ("Throttled", .warning, "later again"),
        ("InvalidCredentials", .fail, "the line `push`"), ("WrongChannel", .fail, "docs/reference/messages.md"),
    ]

    @Test(arguments: outcomes) func `each device has its outcome and what to do`(
        outcome: String, verdict: Verdict, fix: String?
    ) {
        let target = SendFindings.Target(platform: "browser", id: "1-2-3", outcome: outcome)
        let findings = Self.judge.findings(Self.report("Completed"), [target])
        #expect(findings.map(\.verdict) == [verdict])
        #expect(findings.first?.found.hasPrefix("browser 1-2-3: \(outcome)") == true)
        #expect(fix.map { findings.first?.fix?.contains($0) == true } ?? (findings.first?.fix == nil), "\(findings)")
    }

    @Test func `what is not known yet, was refused, or reached no device is said`() {
        let waiting = Self.judge.findings(Self.report("Enqueued"), [])
        #expect(waiting.map(\.verdict) == [.warning] && waiting.first?.fix?.contains("app-backend outcome 7") == true)
        let refused = Self.judge.findings(Self.report("Abandoned", id: nil, error: "The hub is full."), [])
        #expect(refused.map(\.verdict) == [.fail] && refused.first?.found == "browser: The hub is full.")
        #expect(Self.judge.findings(Self.report("NoTargetFound"), []) == [Self.judge.noDevice])
    }
}
