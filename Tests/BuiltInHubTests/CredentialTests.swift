// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Testing

@testable import BuiltInHub
@testable import Push

/// 401: renew; 403: hold.
private func rule(_ status: Int) -> PushResult {
    switch status {
    case 401: PushResult(.invalidCredentials, .renewCredential, reason: "Expired")
    case 403: PushResult(.invalidCredentials, .holdCredential(reason: "Revoked"))
    default: PushResult(.pnsUnavailable, .retry(afterSeconds: nil))
    }
}

@Suite struct `A credential that its service refuses` {
    @Test func `is renewed, and the same push is sent once more`() throws {
        let sender = CredentialSender { _, credential in
            .success(Response(status: credential == 1 ? .unauthorized : .created))
        }
        let bench = DeliveryBench(sender, rule)
        bench.register(1)
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["Success": 1])
        #expect(sender.paths == ["/1", "/1"])
        #expect(sender.renewals.count == 1)
        #expect(bench.worker.holds.isEmpty && bench.lines.isEmpty)
    }

    @Test func `is held when the new one is refused as well`() throws {
        let sender = CredentialSender(401)
        let bench = DeliveryBench(sender, rule)
        bench.register(1)
        bench.start()
        let id = bench.send()
        try bench.wait { !bench.worker.holds.isEmpty }
        try bench.goRound()
        #expect(sender.requests.count == 2 && sender.renewals.count == 1)
        #expect(bench.worker.holds.map(\.reason) == ["Expired"])
        #expect(try bench.details(id).state == "Processing")
    }

    @Test func `is shown again by one push at a time, after a minute and then after twice as long`() throws {
        let sender = CredentialSender(403)
        let bench = DeliveryBench(sender, rule)
        for id in 1...5 { bench.register(id) }
        bench.start()
        let ids = [bench.send(), bench.send()]
        try bench.wait { !bench.worker.holds.isEmpty }
        try bench.goRound()
        let refused = sender.requests.count
        bench.pass(CredentialHold.backoff.seconds(after: 0) - 1)
        try bench.goRound()
        #expect(sender.requests.count == refused)
        bench.pass(1)
        try bench.wait { bench.worker.holds.first?.until == bench.now + 2 * CredentialHold.backoff.seconds(after: 0) }
        try bench.goRound()
        #expect(sender.requests.count == refused + 1)
        // A probe that has no answer yet keeps the others waiting.
        sender.answer { _, _ in nil }
        bench.pass(2 * CredentialHold.backoff.seconds(after: 0))
        try bench.wait { sender.requests.count == refused + 2 }
        try bench.goRound()
        #expect(sender.requests.count == refused + 2)
        for id in ids { #expect(try bench.details(id).endTime == nil) }
        #expect(bench.lines == ["push: the service refuses the credential of service: Revoked"])
    }

    @Test func `ends its hold with the first push that is taken, and every device gets every message`() throws {
        let sender = CredentialSender(403)
        let bench = DeliveryBench(sender, rule)
        for id in 1...5 { bench.register(id) }
        bench.start()
        let ids = [bench.send(), bench.send()]
        try bench.wait { !bench.worker.holds.isEmpty }
        let since = bench.now
        #expect(
            bench.worker.holds == [
                .init(
                    channel: "service", reason: "Revoked", since: since,
                    until: since + CredentialHold.backoff.seconds(after: 0))
            ])
        sender.answer(201)
        bench.pass(CredentialHold.backoff.seconds(after: 0))
        for id in ids { #expect(try bench.outcomes(id) == ["Success": 5]) }
        #expect(bench.worker.holds.isEmpty)
        #expect(bench.lines.last == "push: the service accepts the credential of service again")
        #expect(bench.lines.count == 2)
    }

    @Test func `costs no message before half an hour`() throws {
        let bench = DeliveryBench(CredentialSender(403), rule)
        for id in 1...3 { bench.register(id) }
        bench.start()
        let id = bench.send()
        try bench.wait { !bench.worker.holds.isEmpty }
        bench.pass(30 * 60)
        #expect(try bench.outcomes(id) == ["AbandonedNotificationMessages": 3])
        #expect(bench.isRegistered(1))
    }

    @Test func `costs no message where more wait than may wait for a device that is never reached`() throws {
        let sender = CredentialSender(403)
        let bench = DeliveryBench {
            $0.waitingPerAudience = 2
        } channels: { around in
            [
                PushChannel(
                    name: "service", driver: RuledDriver(.browser, rule), sender: sender, now: around.now,
                    clock: around.clock)
            ]
        }
        bench.register(1)
        let ids = (0..<6).map { _ in bench.send() }
        bench.start()
        // All of them were on their way when the first was refused.
        try bench.wait { sender.requests.count == 6 }
        try bench.goRound()
        sender.answer(201)
        bench.pass(CredentialHold.backoff.seconds(after: 0))
        for id in ids { #expect(try bench.outcomes(id) == ["Success": 1]) }
    }

    @Test func `keeps no message of another platform waiting`() throws {
        let (refusing, other) = (CredentialSender(403), CredentialSender(201))
        let bench = DeliveryBench {
            $0.messages = 2
        } channels: { around in
            [
                PushChannel(
                    name: "service", driver: RuledDriver(.browser, rule), sender: refusing, now: around.now,
                    clock: around.clock),
                PushChannel(
                    name: "apns", driver: RuledDriver(.apns, rule), sender: other, now: around.now, clock: around.clock),
            ]
        }
        bench.register(1)
        bench.hub.put("2-1-1", HubBench.apple("aa11", tags: "all"))
        bench.start()
        for _ in 0..<5 { _ = bench.send() }
        try bench.wait { !bench.worker.holds.isEmpty }
        let id = bench.hub.send("apple", tags: "all").createdID
        #expect(try bench.outcomes(id) == ["Success": 1])
    }

    @Test func `that cannot be had is a hold, too`() throws {
        let sender = CredentialSender { _, _ in .failure(CredentialError.refused(reason: "no such account")) }
        let bench = DeliveryBench(sender, rule)
        bench.register(1)
        bench.start()
        let id = bench.send()
        try bench.wait { bench.worker.holds.map(\.reason) == ["no such account"] }
        sender.answer(201)
        bench.pass(CredentialHold.backoff.seconds(after: 0))
        #expect(try bench.outcomes(id) == ["Success": 1])
    }

    @Test func `that cannot be had now is asked for again`() throws {
        let sender = CredentialSender { _, _ in .failure(CredentialError.unavailable) }
        let bench = DeliveryBench(sender, rule)
        bench.register(1)
        bench.start()
        let id = bench.send()
        try bench.wait { try sender.requests.count == 1 && bench.inFlight(id) == 0 }
        #expect(bench.worker.holds.isEmpty)
        sender.answer(201)
        bench.pass(60)
        #expect(try bench.outcomes(id) == ["Success": 1])
    }

    @Test func `is said to be missing when its token service is out, once, and again when there is one`() throws {
        let reason = "the token service does not answer (timeout)"
        let sender = CredentialSender { _, _ in .failure(CredentialError.unanswered(reason: reason)) }
        let bench = DeliveryBench(sender, rule)
        for id in 1...3 { bench.register(id) }
        bench.start()
        let id = bench.send()
        try bench.wait { try sender.requests.count == 3 && bench.inFlight(id) == 0 }
        let channel = try #require(bench.worker.allChannels.first)
        #expect(channel.outage == .init(channel: "service", cause: .token, reason: reason, since: bench.now))
        #expect(bench.lines == ["push: no access token for service: \(reason)"])
        // One that is sent while the fetch waits says nothing of the service.
        sender.answer { _, _ in .failure(CredentialError.unavailable) }
        bench.pass(60)
        try bench.wait { sender.requests.count > 3 }
        // Its end is known, too: a pause that begins after the clock's last move would never end.
        try bench.goRound()
        try bench.wait { try bench.inFlight(id) == 0 }
        #expect(channel.outage != nil)
        sender.answer(201)
        bench.pass(600)
        #expect(try bench.outcomes(id) == ["Success": 3])
        #expect(channel.outage == nil && bench.worker.holds.isEmpty)
        #expect(bench.lines.last == "push: there is an access token for service again" && bench.lines.count == 2)
    }

    @Test func `is the reason that a waiting message gives, also to another process on the store`() throws {
        let sender = CredentialSender(403)
        let bench = DeliveryBench(sender, rule)
        bench.register(1)
        bench.start()
        let now = bench.now
        let idle = DeliveryWorker(store: bench.store, channels: [], now: { now })
        let other = BuiltInHub(store: bench.store, worker: idle, now: { now })
        // The second one comes when the channel is held already.
        let first = bench.send()
        try bench.wait { !bench.worker.holds.isEmpty }
        let ids = [first, bench.send()]
        for id in ids { try bench.wait { try other.message(id).waitReason == "Revoked" } }
        sender.answer(201)
        bench.pass(CredentialHold.backoff.seconds(after: 0))
        for id in ids {
            #expect(try bench.outcomes(id) == ["Success": 1])
            #expect(try other.message(id).waitReason == nil)
        }
    }

    @Test func `is not shown by test sends while it is held`() throws {
        let sender = CredentialSender(403)
        let bench = DeliveryBench(sender, rule)
        bench.register(1)
        #expect(bench.testSend() == ["InvalidCredentials"])
        #expect(bench.testSend() == ["InvalidCredentials"])
        #expect(sender.requests.count == 1)
        bench.pass(CredentialHold.backoff.seconds(after: 0))
        sender.answer(201)
        #expect(bench.testSend() == ["Success"])
        #expect(bench.worker.holds.isEmpty)
    }
}

@Suite struct `The hold of a credential` {
    @Test func `is doubled up to a quarter of an hour, once for the pushes that were in flight together`() {
        var hold = CredentialHold(reason: "a", since: 0, now: .at(0))
        var pauses = [ContinuousClock.Instant.at(0).duration(to: hold.until)]
        for _ in 0..<5 {
            let now = hold.until
            for _ in 0..<3 { hold.refuse(reason: "b", now: now) }
            pauses.append(now.duration(to: hold.until))
        }
        #expect(pauses == [60, 120, 240, 480, 900, 900].map { .seconds($0) })
        #expect(hold.since == 0 && hold.reason == "b")
    }

    @Test func `ends with its pause`() {
        let hold = CredentialHold(reason: "a", since: 0, now: .at(0))
        #expect(hold.isPause(.at(59)) && !hold.isPause(.at(60)))
    }
}
