// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Push
import Store
import Support
import Testing
import Text

/// A hub that reaches devices of Apple, and of two apps of Google's, each by a credential of its own.
private struct ThreeChannels {
    let apple = CredentialSender(201)
    let google = CredentialSender(201)
    let other = CredentialSender(201)
    let bench: DeliveryBench

    init(
        store: any HubStore & HubQueue = MemoryHubStore(), _ adjust: (inout DeliveryWorker.Options) -> Void = { _ in }
    ) {
        let senders = [("apns", "", Platform.apns, apple), ("a", "a", .fcm, google), ("b", "b", .fcm, other)]
        bench = DeliveryBench(store: store, adjust) { around in
            senders.map { name, app, platform, sender in
                let driver = RuledDriver(platform) { status in
                    switch status {
                    case 403: PushResult(.invalidCredentials, .holdCredential(reason: "Revoked"))
                    case 410: PushResult(.expiredChannel, .removeRegistration(goneSince: nil))
                    default: PushResult(.pnsUnavailable, .retry(afterSeconds: nil))
                    }
                }
                return PushChannel(
                    name: name, app: app, driver: driver, sender: sender, now: around.now, clock: around.clock,
                    report: around.report)
            }
        }
    }

    static let text = #"{"v":"$(m)"}"#

    func registerApple(_ id: Int, _ body: String = text, tags: String = "all") {
        put(id, "Apple", "<DeviceToken>\(Self.token(id))</DeviceToken>", body, tags)
    }

    /// What an earlier version has taken.
    func keepBroken(_ id: Int) throws {
        let json = #"{"platform":"apns","handle":"\#(Self.token(id))","tags":["all"],"template":{"body":"[\"$(m\"]"}}"#
        _ = try bench.store.putHubRegistration(
            HubRegistration(
                id: "\(id)-1-1", channel: Self.token(id), tags: ["all"],
                description: try JSONValue(parsing: Array(json.utf8)), updatedAt: Timestamp(seconds: 0)))
    }

    func registerGoogle(_ id: Int, _ body: String = text, tags: String = "all") {
        put(id, "FcmV1", "<FcmV1RegistrationId>token-\(id)</FcmV1RegistrationId>", body, tags)
    }

    func registerWindows(_ id: Int, tags: String = "all") {
        let type = "<WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>"
        put(id, "Windows", "<ChannelUri>https://a.notify.windows.com/\(id)</ChannelUri>", "<toast/>", tags, type)
    }

    func put(_ id: Int, _ kind: String, _ handle: String, _ body: String, _ tags: String, _ more: String = "") {
        let element = "\(kind)TemplateRegistrationDescription"
        let answer = bench.hub.put(
            "\(id)-1-1",
            "<\(element) \(HubBench.namespaces)><Tags>\(tags)</Tags>\(handle)"
                + "<BodyTemplate><![CDATA[\(body)]]></BodyTemplate>\(more)</\(element)>")
        #expect(answer.status == .ok)
    }

    static func token(_ id: Int) -> String { String(repeating: "0", count: 62) + String(id + 10) }

    func send(_ tags: String? = "all", _ text: String = "hello") -> String {
        bench.hub.send("template", tags: tags, body: "{\"m\":\"\(text)\"}").createdID
    }

    /// The counts of a message by platform, once it is done.
    func outcomes(_ id: String) throws -> [String: [String: Int]] {
        try bench.wait { try bench.details(id).endTime != nil }
        let counts = try bench.details(id).outcomes.map { outcome in
            (outcome.platform, Dictionary(uniqueKeysWithValues: outcome.counts.map { ($0.name, $0.count) }))
        }
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.0.rawValue, $0.1) })
    }
}

@Suite struct `A template send of the built-in hub` {
    @Test func `reaches the template registrations of every platform, each with its own notification`() throws {
        let three = ThreeChannels()
        three.registerApple(1)
        three.registerGoogle(2, #"{"message":{"data":{"m":"{'Say '+$(m)}"}}}"#)
        three.registerGoogle(3, tags: "all,app:b")
        three.bench.hub.put("4-1-1", HubBench.android("native", tags: "all"))
        three.bench.start()
        #expect(try three.outcomes(three.send()) == ["apns": ["Success": 1], "fcm": ["Success": 2]])
        #expect(three.apple.requests.map(\.text) == [#"{"v":"hello"}"#])
        #expect(three.google.requests.map(\.text) == [#"{"message":{"data":{"m":"Say hello"}}}"#])
        #expect(three.other.requests.map(\.text) == [#"{"v":"hello"}"#])
        #expect(three.google.paths == ["/token-2"] && three.other.paths == ["/token-3"])
    }

    @Test func `skips devices whose platform or app has no channel, and says of a broken template what is wrong`()
        throws
    {
        let three = ThreeChannels()
        try three.keepBroken(1)
        three.registerApple(2)
        three.registerWindows(3)
        three.registerGoogle(4, tags: "all,app:c")
        three.bench.start()
        let id = three.send()
        #expect(
            try three.outcomes(id) == [
                "apns": ["InvalidNotificationFormat": 1, "Success": 1], "fcm": ["Skipped": 1], "wns": ["Skipped": 1],
            ])
        #expect(
            three.bench.lines.contains(
                "push: a push was refused by apns: InvalidNotificationFormat: cannot read an expression"))
        #expect(
            try three.outcomes(three.send("all", String(repeating: "x", count: 20_000)))["apns"]?[
                "InvalidNotificationSize"] == 1)
    }

    @Test func `to a tag that no device has finds no target, and one of a hub without channels is skipped`() throws {
        let three = ThreeChannels()
        three.bench.start()
        #expect(try three.bench.details(three.send()).state == NotificationDetails.noTargetFound)
        let hub = HubBench()
        hub.put("1-1-1", HubBench.appleTemplate(ThreeChannels.token(1), tags: "all"))
        let id = hub.send("template", tags: "all", body: #"{"m":"x"}"#).createdID
        let details = try NotificationDetails(decoding: hub.ask(.get, "/myhub/messages/\(id)").body)
        #expect(details.outcomes.map(\.counts) == [[.init("Skipped", 1)]])
    }

    @Test func `keeps devices waiting for a refused credential, and no others, of its platform or another`() throws {
        let three = ThreeChannels { ($0.batch, $0.inFlightPerService, $0.retries) = (2, 2, 8) }
        for id in 1...10 { three.registerApple(id) }
        for id in 11...20 { three.registerGoogle(id) }
        for id in 21...30 { three.registerGoogle(id, tags: "all,app:b") }
        three.apple.answer(403)
        three.google.answer(403)
        three.bench.start()
        let id = three.send()
        try three.bench.wait { three.other.requests.count == 10 && three.bench.worker.holds.count == 2 }
        try three.bench.goRound()
        #expect(try three.bench.details(id).endTime == nil)
        three.google.answer(201)
        three.apple.answer(201)
        three.bench.pass(60)
        #expect(try three.outcomes(id) == ["apns": ["Success": 10], "fcm": ["Success": 20]])
        #expect(three.other.requests.count == 10)
    }

    @Test func `keeps devices waiting for a service that is down, however many, and none of another platform`() throws {
        let three = ThreeChannels { ($0.batch, $0.inFlightPerService, $0.retries) = (2, 2, 8) }
        for id in 1...20 { three.registerApple(id) }
        for id in 21...40 { three.registerGoogle(id) }
        three.apple.answer(503)
        three.bench.start()
        let id = three.send()
        try three.bench.wait { three.google.requests.count == 20 }
        three.apple.answer(201)
        try three.bench.wait {
            three.bench.pass(60)
            return try three.bench.details(id).endTime != nil
        }
        #expect(try three.outcomes(id) == ["apns": ["Success": 20], "fcm": ["Success": 20]])
    }

    @Test func `reaches a device that is registered under Google's former protocol, and shows a test send's outcomes`()
        throws
    {
        let three = ThreeChannels()
        three.registerApple(1)
        three.put(2, "Gcm", "<GcmRegistrationId>token-2</GcmRegistrationId>", ThreeChannels.text, "all")
        three.bench.start()
        #expect(try three.outcomes(three.send()) == ["apns": ["Success": 1], "gcm": ["Success": 1]])
        let test = three.bench.hub.send("template", tags: "all", query: "api-version=1&test", body: #"{"m":"x"}"#).text
        #expect(test.components(separatedBy: "<Outcome>Success").count == 3)
        #expect(three.google.requests.map(\.text) == [#"{"v":"hello"}"#, #"{"v":"x"}"#])
    }

    @Test(arguments: [
        #"{"apns":-1}"#, #"{"unknown":1}"#, #"{"apns":"1"}"#, #"{"apns":9223372036854775807}"#,
    ])
    func `that is damaged in the queue is dropped, and said`(_ underWay: String) throws {
        let store = MemoryHubStore()
        let record = #"{"format":"template","state":"Enqueued","tags":"all","enqueuedAt":\#(HubBench.now),"targets":0}"#
        let document = #"{"record":\#(record),"contentType":"application/json","body":"e30=","underWay":\#(underWay)}"#
        try store.enqueueHubMessage(
            HubMessage(
                id: "1-1-1", document: try JSONValue(parsing: Array(document.utf8)),
                createdAt: Timestamp(seconds: HubBench.now), expiresAt: Timestamp(seconds: HubBench.now + 60)))
        let three = ThreeChannels(store: store)
        three.bench.start()
        try three.bench.wait { three.bench.lines.contains { $0.contains("queued hub message 1-1-1") } }
    }

    @Test func `goes on where it was when another process takes over, and no device gets it twice`() throws {
        let before = ThreeChannels { ($0.batch, $0.inFlightPerService) = (2, 2) }
        for id in 1...10 { before.registerApple(id) }
        for id in 11...20 { before.registerGoogle(id) }
        for id in 21...30 { before.registerGoogle(id, tags: "all,app:b") }
        before.apple.answer(503)
        before.google.answer(403)
        before.bench.start()
        let id = before.send()
        try before.bench.wait { before.other.requests.count == 10 && !before.apple.requests.isEmpty }
        before.bench.stop()
        let after = ThreeChannels(store: before.bench.store)
        after.bench.start()
        #expect(try after.outcomes(id) == ["apns": ["Success": 10], "fcm": ["Success": 20]])
        #expect(after.other.requests.isEmpty)
        #expect(Set(after.apple.paths).count == 10 && after.apple.requests.count == 10)
    }

    @Test func `counts what was under way at a crash, and what was given up, by platform`() throws {
        let before = ThreeChannels()
        for id in 1...3 { before.registerApple(id) }
        before.registerGoogle(4)
        before.registerGoogle(5, tags: "all,app:b")
        before.apple.answer { _, _ in nil }
        before.google.answer { _, _ in nil }
        before.other.answer(503)
        before.bench.start()
        let id = before.send()
        try before.bench.wait { before.apple.requests.count == 3 && before.google.requests.count == 1 }
        try before.bench.wait { !before.other.requests.isEmpty }
        try before.bench.goRound()
        before.bench.stop()
        let after = ThreeChannels(store: before.bench.store)
        after.bench.setClock(before.bench.now + 31 * 60)
        after.bench.start()
        #expect(
            try after.outcomes(id) == [
                "apns": ["UnknownError": 3], "fcm": ["UnknownError": 1, "AbandonedNotificationMessages": 1],
            ])
        #expect(after.apple.requests.isEmpty && after.google.requests.isEmpty && after.other.requests.isEmpty)
    }

    @Test func `removes the registration of a device that is gone`() throws {
        let three = ThreeChannels()
        three.registerApple(1)
        three.apple.answer(410)
        three.bench.start()
        #expect(try three.outcomes(three.send()) == ["apns": ["ExpiredChannel": 1]])
        try three.bench.wait { !three.bench.isRegistered(1) }
    }
}

extension Request {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
