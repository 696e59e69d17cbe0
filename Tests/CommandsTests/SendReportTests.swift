// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import NotificationHub
import Testing

@testable import Commands

@Suite struct `The report of a send` {
    private func report(_ adjust: (inout NotificationDetails) -> Void) -> SendReport {
        var details = NotificationDetails(id: "1", state: "Processing")
        adjust(&details)
        let outcome = SendOutcomeDetails(
            notificationID: "1", state: "Processing", outcomes: [.init(platform: "browser", counts: [])])
        return SendReport(outcome, details)
    }

    @Test func `says what a push service said that keeps the message waiting`() {
        let report = report { $0.serviceReason = "push.example does not take it now: Throttled" }
        #expect(report.waits.count == 1 && report.waits.first?.hasSuffix("Throttled") == true)
        #expect(!report.json.contains("WaitsFor"))
    }

    @Test func `says of a refused credential before anything else`() {
        let report = report { ($0.serviceReason, $0.waitReason) = ("busy", "revoked") }
        #expect(report.waits.first?.hasSuffix("revoked") == true && report.json.contains("WaitsFor"))
    }

    @Test func `says nothing of a message that does not wait`() {
        #expect(report { _ in }.waits.isEmpty)
    }
}
