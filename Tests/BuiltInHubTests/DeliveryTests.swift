// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Store
import Support
import Synchronization
import Testing

@Suite struct `The delivery worker` {
    @Test func `a message waits in the queue until it is delivered, once to each device`() throws {
        let bench = DeliveryBench()
        for id in 1...3 { bench.register(id) }
        bench.register(4, tags: "other")
        let id = bench.send(fields: ["TTL": "60", "Urgency": "high", "Cookie": "a"])
        #expect(try bench.details(id).state == "Enqueued")
        #expect(bench.sender.requests.isEmpty)
        bench.start()
        #expect(try bench.outcomes(id) == ["Success": 3])
        #expect(try bench.details(id).state == "Completed")
        #expect(bench.sender.paths.sorted() == ["/1", "/2", "/3"])
        let fields = try #require(bench.sender.requests.first?.fields)
        #expect(fields.count == 2 && fields.contains { $0.name.canonicalName == "ttl" && $0.value == "60" })
        #expect(try bench.store.queuedHubMessages(except: [], limit: 9).isEmpty)
    }

    @Test func `a message to no device is done, and says so`() throws {
        let bench = DeliveryBench()
        bench.start()
        let id = bench.send("nobody")
        #expect(try bench.outcomes(id) == [:])
        #expect(try bench.details(id).state == "NoTargetFound")
    }

    @Test func `the answer to a send says that no device is addressed, and then nothing is queued`() throws {
        let bench = DeliveryBench()
        bench.register(1)
        let reached = bench.hub.send("browser", tags: "all")
        #expect(reached.fields[.sendState] == nil)
        let missed = bench.hub.send("browser", tags: "nobody")
        #expect(missed.status == .created && missed.fields[.sendState] == "NoTargetFound")
        #expect(try bench.details(missed.createdID).state == "NoTargetFound")
        #expect(try bench.store.queuedHubMessages(except: [], limit: 9).map(\.id) == [reached.createdID])
    }

    @Test func `a device that its service calls gone is removed, and no other`() throws {
        let bench = DeliveryBench()
        for id in 1...2 { bench.register(id) }
        bench.sender.answer { request in
            .success(Response(status: request.path == "/1" ? .gone : .created))
        }
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["Success": 1, "ExpiredChannel": 1])
        #expect(bench.hub.ask(.get, "/myhub/registrations/1-1-1").status.code == 404)
        #expect(bench.hub.ask(.get, "/myhub/registrations/2-1-1").status.code == 200)
        #expect(try bench.outcomes(bench.send()) == ["Success": 1])
    }

    @Test func `a device that renewed its registration while its service called it gone stays`() throws {
        let bench = DeliveryBench()
        bench.register(1)
        let hub = bench.hub
        bench.sender.answer { _ in
            DeliveryBench.register(1, hub)
            return .success(Response(status: .gone))
        }
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["ExpiredChannel": 1])
        #expect(bench.hub.ask(.get, "/myhub/registrations/1-1-1").status.code == 200)
    }

    @Test func `a wrong key of ours costs no device its registration`() throws {
        let bench = DeliveryBench(sender: ScriptedSender(ScriptedSender.status(401)))
        bench.register(1)
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["InvalidCredentials": 1])
        #expect(bench.hub.ask(.get, "/myhub/registrations/1-1-1").status.code == 200)
    }

    @Test func `what a service did not take is tried again, not before it asked for`() throws {
        let bench = DeliveryBench(sender: ScriptedSender(ScriptedSender.status(429)))
        bench.register(1)
        let id = bench.send()
        bench.start()
        try bench.wait { bench.sender.requests.count == 1 }
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(6)
        // Another message has gone through the whole round since.
        bench.register(2, tags: "other")
        #expect(try bench.outcomes(bench.send("other")) == ["Success": 1])
        #expect(bench.sender.paths == ["/1", "/2"])
        #expect(try bench.details(id).state == "Processing")
        bench.pass(10)
        #expect(try bench.outcomes(id) == ["Success": 1])
        #expect(bench.sender.paths == ["/1", "/2", "/1"])
    }

    @Test func `a date that is set makes no retry earlier, and none later`() throws {
        let bench = DeliveryBench(sender: ScriptedSender(ScriptedSender.status(503)))
        bench.register(1)
        bench.start()
        let id = bench.send()
        try bench.wait { try bench.sender.requests.count == 1 && bench.inFlight(id) == 0 }
        bench.setClock(bench.now + 600)
        try bench.goRound()
        #expect(bench.sender.requests.count == 1)
        bench.setClock(bench.now - 6_000)
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(5)
        #expect(try bench.outcomes(id) == ["Success": 1])
    }

    @Test func `after half an hour a message is given up, and says so`() throws {
        let bench = DeliveryBench(sender: ScriptedSender(ScriptedSender.status(503)))
        for id in 1...3 { bench.register(id) }
        bench.start()
        let id = bench.send()
        try bench.wait { bench.sender.requests.count >= 1 }
        bench.pass(30 * 60)
        #expect(try bench.outcomes(id) == ["AbandonedNotificationMessages": 3])
        #expect(try bench.details(id).state == "Abandoned")
        #expect(bench.hub.ask(.get, "/myhub/registrations/1-1-1").status.code == 200)
    }

    @Test func `what waits for room at its service is given up as well, while others are under way`() throws {
        let bench = DeliveryBench(sender: ScriptedSender { _ in nil }) {
            ($0.inFlight, $0.inFlightPerService, $0.batch) = (4, 2, 1)
        }
        for id in 1...3 { bench.register(id) }
        bench.start()
        let id = bench.send()
        try bench.wait { bench.sender.requests.count == 2 }
        bench.pass(30 * 60)
        let expected = PlatformOutcomes.Count("AbandonedNotificationMessages", 1)
        try bench.wait { try bench.details(id).outcomes.first?.counts == [expected] }
        #expect(try bench.inFlight(id) == 2)
        #expect(bench.sender.requests.count == 2)
    }

    @Test(
        arguments: [
            (Failure(), ["PnsUnreachable": 1], 1), (Failure(isPermanent: true), ["WrongChannel": 1], 1),
            (Failure(isUnsent: true), ["AbandonedNotificationMessages": 1], 2),
        ])
    func `only what certainly was not sent is sent again`(
        failure: Failure, expected: [String: Int], tries: Int
    ) throws {
        let bench = DeliveryBench(sender: ScriptedSender { _ in .failure(failure) })
        bench.register(1)
        bench.start()
        let id = bench.send()
        try bench.wait { bench.sender.requests.count == 1 }
        // The next try's time is counted from when the first one was heard of.
        try bench.wait { try bench.inFlight(id) ?? 0 == 0 }
        bench.pass(120)
        try bench.wait { bench.sender.requests.count >= tries }
        bench.pass(30 * 60)
        #expect(try bench.outcomes(id) == expected)
        #expect(bench.sender.requests.count >= tries)
        if tries == 1 { #expect(bench.sender.requests.count == 1) }
    }

    @Test func `what a driver refuses is counted while others are waited for`() throws {
        let bench = DeliveryBench(sender: ScriptedSender { _ in nil })
        bench.register(1)
        bench.register(2, at: "https://\(PlainDriver.forbidden)/2")
        bench.start()
        let id = bench.send()
        try bench.wait { try bench.details(id).outcomes.first?.counts == [.init("WrongChannel", 1)] }
        #expect(bench.sender.paths == ["/1"])
        #expect(try bench.inFlight(id) == 1)
    }

    @Test func `a message to many does not keep one to a single device waiting`() throws {
        let bench = DeliveryBench { ($0.batch, $0.inFlight) = (2, 4) }
        for id in 100..<200 { bench.register(id) }
        bench.register(1, tags: "single")
        let (many, single) = (bench.send(), bench.send("single"))
        bench.start()
        #expect(try bench.outcomes(single) == ["Success": 1])
        #expect(try bench.outcomes(many) == ["Success": 100])
        let place = try #require(bench.sender.paths.firstIndex(of: "/1"))
        #expect(place < 8)
    }

    @Test func `messages whose devices take long to find keep no other waiting`() throws {
        let gate = LookupGate(tag: "all")
        let bench = DeliveryBench(store: RefusingStore(gate: gate)) { $0.lookupPatience = .milliseconds(1) }
        for id in 1...3 { bench.register(id) }
        bench.register(4, tags: "single")
        bench.start()
        // More of them than there are threads for look-ups.
        let many = (0..<6).map { _ in bench.send() }
        gate.begun.wait(for: .seconds(60))
        for _ in 0..<3 { #expect(try bench.outcomes(bench.send("single")) == ["Success": 1]) }
        #expect(bench.sender.paths == ["/4", "/4", "/4"])
        gate.opened.open()
        for id in many { #expect(try bench.outcomes(id) == ["Success": 3]) }
    }

    @Test func `no more is handed over than may wait on this host, and the rest when that was sent`() throws {
        let sender = ScriptedSender { _ in nil }
        let bench = DeliveryBench {
            ($0.batch, $0.unsentPerService) = (2, 4)
        } channels: { around in
            [PushChannel(name: "browser", driver: PlainDriver(), sender: sender, now: around.now, clock: around.clock)]
        }
        for id in 1...10 { bench.register(id) }
        sender.say(sent: 0)
        bench.start()
        let id = bench.send()
        try bench.wait { sender.requests.count == 4 }
        sender.say(sent: 1)
        try bench.goRound()
        #expect(sender.requests.count == 4)
        sender.say(sent: 2)
        try bench.wait { sender.requests.count == 6 }
        try bench.goRound()
        #expect(sender.requests.count == 6)
        sender.say(sent: 10)
        try bench.wait { try sender.requests.count == 10 && bench.inFlight(id) == 10 }
    }

    @Test func `no push is made ready again and again for a service that has no room for it`() throws {
        let bench = DeliveryBench { ($0.batch, $0.inFlight, $0.inFlightPerService) = (2, 8, 4) }
        bench.sender.answer { $0.authority == "silent.example" ? nil : .success(Response(status: .created)) }
        for id in 1...20 { bench.register(id, at: "https://silent.example/\(id)") }
        bench.register(21, tags: "single")
        bench.start()
        _ = bench.send()
        try bench.wait { bench.sender.requests.count == 4 }
        // The delivering thread looks at the first message in each of these rounds.
        for _ in 0..<10 { #expect(try bench.outcomes(bench.send("single")) == ["Success": 1]) }
        #expect(bench.driver.requests <= 4 + 1 + 10)
    }

    @Test func `a message to many is delivered without looking through the queue each time`() throws {
        let store = MemoryHubStore()
        let bench = DeliveryBench(store: store) { ($0.batch, $0.inFlight, $0.poll) = (2, 4, .seconds(60)) }
        for id in 1...100 { bench.register(id) }
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["Success": 100])
        #expect(store.queueReads <= 3)
    }

    @Test func `what another process puts in is found while there is much to do`() throws {
        let store = MemoryHubStore()
        let bench = DeliveryBench(store: store) { ($0.batch, $0.inFlight) = (2, 4) }
        for id in 1...100 { bench.register(id) }
        bench.register(101, tags: "single")
        // Another hub on the same store, whose worker does not run.
        let other = DeliveryBench(store: store).hub
        bench.sender.answer { request in
            if request.path == "/50" { other.send("browser", tags: "single") }
            return .success(Response(status: .created))
        }
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["Success": 100])
        try bench.wait { bench.sender.paths.contains("/101") }
    }

    @Test func `a device that is not meant any more when its turn comes is passed over`() throws {
        let bench = DeliveryBench()
        bench.register(1, tags: "username:alice")
        bench.register(2, tags: "username:alice")
        let id = bench.send("username:alice")
        bench.register(1, tags: "username:bob")
        bench.start()
        #expect(try bench.outcomes(id) == ["Success": 1])
        #expect(bench.sender.paths == ["/2"])
    }

    @Test func `a direct send and a test send reach the device`() throws {
        let bench = DeliveryBench()
        bench.start()
        let device = [
            "ServiceBusNotification-DeviceHandle": "https://push.example/direct",
            "P256DH": "B" + String(repeating: "A", count: 86), "Auth": String(repeating: "A", count: 22),
        ]
        let direct = bench.hub.send("browser", query: "api-version=1&direct", fields: device)
        #expect(try bench.outcomes(direct.createdID) == ["Success": 1])
        for id in 1...2 { bench.register(id) }
        bench.sender.answer { .success(Response(status: $0.path == "/1" ? .gone : .created)) }
        let sent = bench.hub.send("browser", tags: "all", query: "api-version=1&test")
        #expect(sent.text.contains("<Success>1</Success><Failure>1</Failure>"))
        #expect(sent.text.contains("<Outcome>ExpiredChannel</Outcome>"))
        #expect(bench.hub.ask(.get, "/myhub/registrations/1-1-1").status.code == 404)
        #expect(try bench.details(sent.createdID).state == "Completed")
    }

    @Test func `a message that its driver refuses is settled without a request`() throws {
        let bench = DeliveryBench()
        bench.register(1)
        bench.start()
        let id = bench.send(body: String(repeating: "x", count: 3_994))
        #expect(try bench.outcomes(id) == ["InvalidNotificationSize": 1])
        #expect(bench.sender.requests.isEmpty)
    }

    @Test func `a full queue is a 429, and what was taken before is delivered`() throws {
        let bench = DeliveryBench()
        bench.register(1)
        let ids = (0..<MemoryHubStore.maximumQueued).map { _ in bench.send() }
        let refused = bench.hub.send("browser", tags: "all")
        #expect(refused.status.code == 429)
        #expect(refused.fields[.retryAfter] != nil)
        bench.start()
        for id in ids { #expect(try bench.outcomes(id) == ["Success": 1]) }
    }
}
