// SPDX-License-Identifier: Apache-2.0
import AppBackend
import HTTP
import Push
import Testing

@testable import Commands

struct ChannelFindingsTests {
    private let judge = ChannelFindings(setting: SettingName(file: "/a.json"))

    static let rows: [(PushResult?, Verdict)] = [
        (PushResult(.badChannel, .removeRegistration(goneSince: nil)), .ok), (PushResult(.success), .ok),
        (PushResult(.badChannel, .tryOtherEnvironment), .ok), (PushResult(.wrongChannel), .ok),
        (PushResult(.invalidCredentials, .holdCredential(reason: "InvalidProviderToken")), .fail),
        (PushResult(.pnsUnreachable, .retry(afterSeconds: nil)), .fail),
        (PushResult(.pnsUnavailable, .retry(afterSeconds: 900)), .warning), (PushResult(.throttled), .warning),
        (PushResult(.pnsInterfaceError, reason: "BadPath"), .fail), (nil, .fail),
    ]

    @Test(arguments: rows)
    func `what a push service says of an impossible device shows whether it accepts the credential`(
        result: PushResult?, verdict: Verdict
    ) {
        let finding = judge.finding("apns com.example.app sandbox", result)
        #expect(finding.verdict == verdict && finding.found.hasPrefix("apns com.example.app sandbox: "))
        #expect((finding.fix == nil) == (verdict == .ok))
    }

    @Test func `a channel of the running service that waits is wrong, with its reason and since when`() {
        let finding = judge.finding(waiting(.credential, "Forbidden"))
        #expect(finding.verdict == .fail && finding.found.hasPrefix("apns sandbox: since 2027-01-15T08:00:00Z "))
        #expect(finding.found.hasSuffix(": Forbidden") && finding.fix?.hasPrefix("apns in /a.json") == true)
        #expect(finding.fix?.contains("restart") == true)
    }

    @Test(arguments: [HealthController.WaitingChannel.Cause.token, .connection])
    func `a channel that waits for another host needs no restart`(cause: HealthController.WaitingChannel.Cause) {
        let finding = judge.finding(waiting(cause, "the reason"))
        #expect(finding.verdict == .fail && finding.found.hasSuffix(": the reason"))
        #expect(finding.fix?.contains("restart") == false && finding.fix?.contains("wait") == true)
    }

    @Test func `a credential that is probably not the app's is a warning, as nothing waits`() {
        let finding = judge.finding(waiting(.app, "the project is another"))
        #expect(finding.verdict == .warning && finding.found.hasSuffix(": the project is another"))
        #expect(finding.fix?.contains("apns in /a.json") == true && finding.fix?.contains("restart") == false)
    }

    private func waiting(
        _ cause: HealthController.WaitingChannel.Cause, _ reason: String
    ) -> RunningService.WaitingChannel {
        .init(name: "apns sandbox", cause: cause, since: "2027-01-15T08:00:00Z", reason: reason)
    }

    @Test(arguments: ConnectionFault.allCases)
    func `a service that is not trusted has a cure of its own`(fault: ConnectionFault) {
        var result = PushResult(.pnsUnreachable, .retry(afterSeconds: nil), reason: "not trusted")
        result.fault = fault
        let finding = judge.finding("apns com.example.app sandbox", result)
        #expect(finding.verdict == .fail && finding.found.hasSuffix(": not trusted"))
        #expect(finding.fix == fault.fix(caFile: "apns.caFile in /a.json"))
    }

    @Test func `a token service that does not answer is named, with its cause`() {
        let reason = "the token service does not answer (timeout)"
        let finding = judge.finding("fcm", PushResult(.pnsUnreachable, .retry(afterSeconds: nil), reason: reason))
        #expect(finding.verdict == .fail && finding.found.hasSuffix(": \(reason)"))
    }

    @Test func `a refusal names the reason and the group of the configuration`() {
        let finding = judge.finding("fcm", PushResult(.invalidCredentials, .holdCredential(reason: "invalid_grant")))
        #expect(finding.found.hasSuffix("invalid_grant") && finding.fix == "fcm in /a.json")
    }
}
