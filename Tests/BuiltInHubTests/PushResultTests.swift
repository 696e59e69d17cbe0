// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Support
import Testing

import class System.Lock

@testable import BuiltInHub

@Suite struct `What a push service's answer does to the delivery` {
    @Test func `a pause of fifteen minutes is kept by all devices of the service, and fits once into a message`() throws
    {
        let sender = CredentialSender(503)
        let bench = DeliveryBench(sender) { _ in PushResult(.pnsUnavailable, .retry(afterSeconds: 900)) }
        bench.register(1)
        bench.register(2, tags: "other")
        bench.start()
        let id = bench.send()
        try bench.wait { try sender.requests.count == 1 && bench.inFlight(id) == 0 }
        let other = bench.send("other")
        bench.pass(899)
        try bench.goRound()
        #expect(sender.requests.count == 1)
        bench.pass(2)
        for id in [id, other] { #expect(try bench.outcomes(id) == ["AbandonedNotificationMessages": 1]) }
        #expect(sender.paths.sorted() == ["/1", "/1", "/2"])
    }

    @Test func `the trouble of one service is not that of another at the same host`() throws {
        let (down, up) = (CredentialSender(503), CredentialSender(201))
        let bench = DeliveryBench(channels: { around in
            let rule: @Sendable (Int) -> PushResult = { _ in PushResult(.throttled, .retry(afterSeconds: 900)) }
            return [
                PushChannel(
                    name: "browser", driver: RuledDriver(.browser, rule), sender: up, services: .byAuthority,
                    now: around.now, clock: around.clock),
                PushChannel(
                    name: "fcm", driver: RuledDriver(.fcm, rule), sender: down, now: around.now, clock: around.clock),
            ]
        })
        bench.register(1)
        for id in 2...3 { bench.hub.put("\(id)-1-1", HubBench.android("token-\(id)", tags: "all")) }
        bench.start()
        let held = bench.hub.send("fcmv1", tags: "all").createdID
        try bench.wait { try down.requests.count >= 1 && bench.inFlight(held) == 0 }
        #expect(try bench.outcomes(bench.send()) == ["Success": 1])
        #expect(try bench.details(held).endTime == nil)
    }

    @Test func `a device registered under the older name of its platform is reached by the one channel of both`() throws
    {
        let sender = CredentialSender(201)
        let bench = DeliveryBench(channels: { around in
            let driver = RuledDriver(.fcm) { _ in PushResult(.unknownError) }
            return [PushChannel(name: "fcm", driver: driver, sender: sender, now: around.now, clock: around.clock)]
        })
        bench.hub.put("1-1-1", HubBench.android("token-1", tags: "all", element: "Gcm"))
        bench.hub.put("2-1-1", HubBench.android("token-2", tags: "all"))
        bench.start()
        let id = bench.hub.send("gcm", tags: "all").createdID
        try bench.wait { try bench.details(id).endTime != nil }
        #expect(try bench.details(id).outcomes.flatMap(\.counts) == [.init("Success", 1), .init("Success", 1)])
        #expect(sender.paths.sorted() == ["/token-1", "/token-2"])
    }

    @Test func `a device that is throttled waits alone`() throws {
        let sender = CredentialSender { request, _ in
            .success(Response(status: request.path == "/1" ? .tooManyRequests : .created))
        }
        let bench = DeliveryBench(sender) { _ in PushResult(.throttled, .retryDevice(afterSeconds: 120)) }
        for id in 1...5 { bench.register(id) }
        bench.start()
        let id = bench.send()
        try bench.wait { try bench.details(id).outcomes.first?.counts == [.init("Success", 4)] }
        #expect(sender.paths.count { $0 == "/1" } == 1)
        sender.answer(201)
        bench.pass(119)
        try bench.goRound()
        #expect(sender.paths.count { $0 == "/1" } == 1)
        bench.pass(2)
        #expect(try bench.outcomes(id) == ["Success": 5])
    }

    @Test func `a device that is throttled keeps its later messages waiting, then takes one at a time`() throws {
        let sender = CredentialSender { request, _ in
            .success(Response(status: request.path == "/1" ? .tooManyRequests : .created))
        }
        let bench = DeliveryBench(sender) { _ in PushResult(.throttled, .retryDevice(afterSeconds: 120)) }
        for id in 1...2 { bench.register(id) }
        bench.start()
        let first = bench.send()
        try bench.wait {
            try bench.details(first).outcomes.first?.counts == [.init("Success", 1)] && bench.inFlight(first) == 0
        }
        let later = (0..<3).map { _ in bench.send() }
        for id in later { try bench.wait { try bench.details(id).outcomes.first?.counts == [.init("Success", 1)] } }
        try bench.goRound()
        let toFirst = { sender.paths.count { $0 == "/1" } }
        #expect(toFirst() == 1)
        // The one that shows whether the device takes more again has no answer yet.
        sender.answer { _, _ in nil }
        bench.pass(122)
        try bench.wait { toFirst() == 2 }
        bench.pass(2)
        try bench.goRound()
        #expect(toFirst() == 2)
    }

    @Test func `a device that takes messages again gets all that waited`() throws {
        let sender = CredentialSender(429)
        let bench = DeliveryBench(sender) { _ in PushResult(.throttled, .retryDevice(afterSeconds: 120)) }
        bench.register(1)
        bench.start()
        let first = bench.send()
        try bench.wait { try sender.requests.count == 1 && bench.inFlight(first) == 0 }
        let ids = [first] + (0..<5).map { _ in bench.send() }
        try bench.goRound()
        #expect(sender.requests.count == 1)
        sender.answer(201)
        bench.pass(122)
        try bench.wait { sender.requests.count > 1 }
        bench.pass(2)
        for id in ids { #expect(try bench.outcomes(id) == ["Success": 1]) }
    }

    @Test func `an error of the service with one push holds no other of the device`() throws {
        let sender = CredentialSender(500)
        let bench = DeliveryBench(sender) { _ in PushResult(.pnsServerError, .retryPush(afterSeconds: 900)) }
        bench.register(1)
        bench.start()
        let first = bench.send()
        try bench.wait { try sender.requests.count == 1 && bench.inFlight(first) == 0 }
        sender.answer(201)
        #expect(try bench.outcomes(bench.send()) == ["Success": 1])
        #expect(try bench.details(first).endTime == nil)
    }

    @Test func `a bounded number of throttled devices is remembered, those of the longest pauses`() {
        var devices = DeviceThrottle()
        for device in 0...DeviceThrottle.capacity {
            devices.hold(device, device == 0 ? 900 : 1 + device % 60, .at(0))
        }
        #expect(devices.count == DeviceThrottle.capacity / 2)
        #expect(devices.holdUntil(0, now: .at(1)) == .at(900))
    }

    @Test func `a connection that is of no use any more is replaced, as of the time of the push`() throws {
        let sender = CredentialSender(500)
        let sentAt = ContinuousClock.now - .seconds(3)
        let bench = DeliveryBench(sender, clock: { sentAt }) { _ in PushResult(.pnsServerError, closesConnection: true)
        }
        bench.register(1)
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["PnsServerError": 1])
        #expect(sender.reconnections == [sentAt])
    }

    @Test(arguments: [(Int64(-1), true), (0, false), (1, false)])
    func `a device that was gone before it was registered again stays`(offset: Int64, stays: Bool) throws {
        let bench = DeliveryBench(CredentialSender(410)) { _ in
            PushResult(.expiredChannel, .removeRegistration(goneSince: HubBench.now + offset))
        }
        bench.register(1)
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["ExpiredChannel": 1])
        #expect(bench.isRegistered(1) == stays)
    }

    @Test func `a flood of gone devices costs no more registrations than it may, and one line says so`() throws {
        let bench = DeliveryBench(CredentialSender(410)) { _ in
            PushResult(.expiredChannel, .removeRegistration(goneSince: nil))
        }
        for id in 1...50 { bench.register(id) }
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["ExpiredChannel": 50])
        #expect((1...50).count { bench.isRegistered($0) } == 50 - RemovalBreaker.minimum)
        #expect(bench.lines.count == 1)
        #expect(try bench.outcomes(bench.send()) == ["ExpiredChannel": 50 - RemovalBreaker.minimum])
        #expect((1...50).count { bench.isRegistered($0) } == 50 - RemovalBreaker.minimum)
        #expect(bench.lines.count == 1)
    }
}

@Suite struct `The breaker of removals` {
    private func verdicts(
        _ breaker: inout RemovalBreaker, _ count: Int, at now: Int64 = 0, registrations: Int
    ) -> [RemovalBreaker.Verdict: Int] {
        (0..<count).reduce(into: [:]) { found, _ in
            let removed = found[.remove] ?? 0
            found[breaker.judge(.init(platform: .apns), now: now) { min($0, registrations - removed) }, default: 0] += 1
        }
    }

    @Test func `lets a fifth of the registrations go`() {
        var breaker = RemovalBreaker()
        #expect(verdicts(&breaker, 900, registrations: 1_000) == [.remove: 200, .keepFrom: 1, .keep: 699])
    }

    @Test func `counts the registrations seldom`() {
        var breaker = RemovalBreaker()
        var counts = 0
        for gone in 0..<2_000 {
            let verdict = breaker.judge(.init(platform: .apns), now: 0) { limit in
                counts += 1
                return min(limit, 100_000 - gone)
            }
            #expect(verdict == .remove)
        }
        #expect(counts < 10)
    }

    @Test(arguments: [RemovalBreaker.Devices(platform: .wns), .init(platform: .apns, app: "b")])
    func `keeps platforms and apps apart`(devices: RemovalBreaker.Devices) {
        var breaker = RemovalBreaker()
        _ = verdicts(&breaker, 100, registrations: 100)
        let verdict = breaker.judge(devices, now: 0) { _ in 100 }
        #expect(verdict == .remove)
    }

    @Test func `lets devices go again an hour after the flood, and not while it lasts`() {
        var breaker = RemovalBreaker()
        let hour = RemovalBreaker.period
        #expect(verdicts(&breaker, 100, registrations: 100)[.remove] == 20)
        #expect(verdicts(&breaker, 50, at: hour, registrations: 80) == [.keep: 50])
        #expect(verdicts(&breaker, 5, at: 2 * hour, registrations: 80) == [.keep: 5])
        #expect(verdicts(&breaker, 5, at: 3 * hour, registrations: 80) == [.remove: 5])
    }
}
