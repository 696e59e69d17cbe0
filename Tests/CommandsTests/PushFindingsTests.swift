// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Commands

struct PushFindingsTests {
    private static let setting = SettingName(file: nil)
    private static let on = PushFindings(
        state: .on(publicKey: "BKey", subject: "mailto:a@example.com"), setting: setting)

    private static func running(_ key: String?) -> RunningConfiguration {
        RunningConfiguration(realm: "A", platforms: [], vapidPublicKey: key)
    }

    @Test func `a key that the service knows as well is right`() {
        #expect(Self.on.findings(running: Self.running("BKey"), unresolved: []).map(\.verdict) == [.ok])
        #expect(Self.on.findings(running: nil, unresolved: []).map(\.verdict) == [.ok])
    }

    @Test(arguments: [nil, "BOther"]) func `another key in the service is a warning`(key: String?) {
        let found = Self.on.findings(running: Self.running(key), unresolved: [])
        #expect(found.map(\.verdict) == [.warning] && found.first?.fix?.contains("restart app-backend") == true)
    }

    @Test func `push services without an address are a warning`() {
        let found = Self.on.findings(running: nil, unresolved: ["fcm.googleapis.com"])
        #expect(found.map(\.verdict) == [.warning] && found.first?.found.contains("fcm.googleapis.com") == true)
    }

    @Test func `no key is no trouble, and a bad one is`() {
        let off = PushFindings(state: .off(reason: "there is no key"), setting: Self.setting)
        #expect(off.findings(running: nil, unresolved: []).map(\.verdict) == [.skipped])
        let bad = PushFindings(state: .faulty(key: "webPush.subject", reason: "is needed"), setting: Self.setting)
        #expect(bad.findings(running: nil, unresolved: []).first?.fix?.contains("webPush.subject") == true)
        #expect(bad.findings(running: nil, unresolved: []).map(\.verdict) == [.fail])
    }

    @Test func `names are looked up all at once, and localhost is known`() {
        #expect(HostLookup.unresolved(["localhost", "localhost"], seconds: 60) == [])
        #expect(HostLookup.unresolved([], seconds: 10) == [])
    }
}
