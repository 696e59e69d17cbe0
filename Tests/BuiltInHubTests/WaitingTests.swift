// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import HTTP
import NotificationHub
import Push
import Store
import Support
import Testing

/// Messages that cannot be delivered now, and those behind them.
@Suite struct `The delivery worker while messages wait` {
    @Test func `a service that is down is left alone, and the others get theirs`() throws {
        let bench = DeliveryBench { $0.batch = 1 }
        for id in 1...20 { bench.register(id, at: "https://\(id.isMultiple(of: 2) ? "up" : "down").example/\(id)") }
        bench.sender.answer { request in
            .success(Response(status: request.authority == "up.example" ? .created : .serviceUnavailable))
        }
        bench.start()
        let id = bench.send()
        try bench.wait { try bench.details(id).outcomes.first?.counts == [.init("Success", 10)] }
        #expect(bench.sender.requests.count { $0.authority == "down.example" } == 1)
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(120)
        #expect(try bench.outcomes(id) == ["Success": 20])
    }

    @Test func `for a service that is left alone no push is made ready`() throws {
        let bench = DeliveryBench { $0.batch = 1 }
        for id in 1...20 { bench.register(id, at: "https://down.example/\(id)") }
        bench.register(21, tags: "single")
        bench.sender.answer { request in
            .success(Response(status: request.authority == "down.example" ? .serviceUnavailable : .created))
        }
        bench.start()
        _ = bench.send()
        // The first is tried; of the others it is seen where they go.
        try bench.wait { bench.driver.requests == 20 }
        bench.pass(2)
        try bench.wait { bench.sender.requests.count == 2 }
        for _ in 0..<2 { #expect(try bench.outcomes(bench.send("single")) == ["Success": 1]) }
        #expect(bench.driver.requests == 20 + 1 + 2)
    }

    @Test func `messages that wait for a service that is down keep no others out`() throws {
        let bench = DeliveryBench { $0.messages = 2 }
        bench.register(1, tags: "down")
        bench.register(2, tags: "up", at: "https://up.example/2")
        bench.sender.answer { request in
            .success(Response(status: request.authority == "up.example" ? .created : .serviceUnavailable))
        }
        let down = (0..<5).map { _ in bench.send("down") }
        bench.start()
        try bench.wait { bench.sender.requests.count >= 1 }
        #expect(try bench.outcomes(bench.send("up")) == ["Success": 1])
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(120)
        for id in down { #expect(try bench.outcomes(id) == ["Success": 1]) }
    }

    @Test func `of messages to a device that is never reached only so many wait for another try`() throws {
        let bench = DeliveryBench { $0.waitingPerAudience = 3 }
        bench.sender.answer { _ in .failure(Failure(isUnsent: true)) }
        bench.register(1)
        let sent = (0..<5).map { _ in bench.send() }
        bench.start()
        try bench.wait { try sent.count { try bench.details($0).endTime != nil } == 2 }
        let given = try sent.map(bench.details).filter { $0.endTime != nil }
        #expect(given.flatMap(\.outcomes).flatMap(\.counts).allSatisfy { $0.name == PushOutcome.abandoned.rawValue })
        // The others are still tried.
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(60)
        try bench.wait { try sent.allSatisfy { try bench.details($0).endTime != nil } }
        let fates = try sent.map(bench.outcomes)
        #expect(fates.count { $0 == ["Success": 1] } == 3)
    }

    @Test func `of messages to one device only so many wait for another try, whatever expressions name it`() throws {
        let bench = DeliveryBench { $0.waitingPerDevice = 3 }
        bench.sender.answer { _ in .failure(Failure(isUnsent: true)) }
        bench.register(1, tags: "all,mine")
        bench.register(2, tags: "other")
        let sent = (0..<5).map { bench.send("all || none\($0)") }
        let others = (0..<2).map { bench.send("other || none\($0)") }
        bench.start()
        try bench.wait { try sent.count { try bench.details($0).endTime != nil } == 2 }
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(60)
        let fates = try sent.map(bench.outcomes)
        #expect(fates.count { $0 == ["Success": 1] } == 3)
        #expect(fates.count { $0 == [PushOutcome.abandoned.rawValue: 1] } == 2)
        for id in others { #expect(try bench.outcomes(id) == ["Success": 1]) }
    }

    @Test(arguments: [\DeliveryWorker.Options.waitingPerAudience, \.waitingPerDevice])
    func `of messages that wait for one device or audience, the sender with most of them loses some`(
        limit: WritableKeyPath<DeliveryWorker.Options, Int> & Sendable
    ) throws {
        let bench = DeliveryBench { $0[keyPath: limit] = 4 }
        bench.sender.answer { _ in .failure(Failure(isUnsent: true)) }
        bench.register(1)
        // Each names the device in an expression of its own where devices are counted.
        let isDevice = limit == \.waitingPerDevice
        func send(_ sender: String, _ number: Int) throws -> String {
            try bench.send(isDevice ? "all || \(sender)\(number)" : "all", from: sender)
        }
        let mallory = try (0..<4).map { try send("mallory", $0) }
        let bob = try (0..<2).map { try send("bob", $0) }
        bench.start()
        try bench.wait { try (mallory + bob).count { try bench.details($0).endTime != nil } == 2 }
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(60)
        for id in bob { #expect(try bench.outcomes(id) == ["Success": 1]) }
        #expect(try mallory.map(bench.outcomes).count { $0 == [PushOutcome.abandoned.rawValue: 1] } == 2)
    }

    @Test(arguments: [false, true])
    func `where too much waits, for a service or for a credential, the sender with most of it loses the oldest`(
        isCredential: Bool
    ) throws {
        let bench = DeliveryBench {
            // Of some 600 bytes each.
            $0.waitingBytes = 7_000
        } channels: { around in
            let refusing: PushResult =
                isCredential
                ? PushResult(.invalidCredentials, .holdCredential(reason: "Revoked"))
                : PushResult(.pnsUnavailable, .retry(afterSeconds: nil))
            let driver = RuledDriver(.browser) { $0 == 201 ? PushResult(.success) : refusing }
            let sender = CredentialSender(500)
            return [PushChannel(name: "service", driver: driver, sender: sender, now: around.now, clock: around.clock)]
        }
        bench.register(1)
        func send(_ sender: String, _ number: Int) throws -> String {
            try bench.send("all || \(sender)\(number)", from: sender)
        }
        let bob = try (0..<3).map { try send("bob", $0) }
        let mallory = try (0..<20).map { try send("mallory:2", $0) }
        bench.start()
        try bench.wait { try mallory.contains { try bench.details($0).endTime != nil } }
        try bench.goRound()
        let given = try mallory.filter { try bench.details($0).endTime != nil }
        #expect((9...14).contains(given.count))
        for id in given { #expect(try bench.outcomes(id) == [PushOutcome.abandoned.rawValue: 1]) }
        for id in bob { #expect(try bench.details(id).endTime == nil) }
        let line = "delivery: messages of mallory were given up: too many wait that cannot be delivered now"
        #expect(bench.lines.count { $0 == line } == 1)
        // The next one of another sender's waits with theirs.
        let last = try send("bob", 3)
        try bench.goRound()
        #expect(try bench.details(last).endTime == nil)
    }

    @Test func `a device whose host has no address is given up after some tries, and later messages to it sooner`()
        throws
    {
        let bench = DeliveryBench()
        bench.register(2, tags: "other", at: "https://other.example/2")
        bench.start()
        #expect(try bench.outcomes(bench.send("other")) == ["Success": 1])
        bench.sender.answer { _ in .failure(Failure(isUnsent: true, isUnresolved: true)) }
        bench.register(1)
        let id = bench.send()
        for _ in 0..<8 {
            try bench.goRound()
            bench.pass(60)
        }
        #expect(try bench.outcomes(id) == [PushOutcome.wrongChannel.rawValue: 1])
        #expect(bench.sender.requests.count == 6)
        #expect(bench.hub.ask(.get, "/myhub/registrations/1-1-1").status == .ok)
        bench.pass(60)
        #expect(try bench.outcomes(bench.send()) == [PushOutcome.wrongChannel.rawValue: 1])
        #expect(bench.sender.requests.count == 7)
    }

    @Test func `while no service was reached since the start, a host without an address is waited for`() throws {
        let bench = DeliveryBench()
        bench.sender.answer { _ in .failure(Failure(isUnsent: true, isUnresolved: true)) }
        bench.register(1)
        let id = bench.send()
        bench.start()
        // The resolver of this host comes back.
        #expect(try outcomes(bench, id, afterMinutes: 9) == ["Success": 1])
    }

    @Test func `a host that has taken a push before is waited for, for its name is right`() throws {
        let bench = DeliveryBench()
        bench.register(1)
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["Success": 1])
        bench.sender.answer { _ in .failure(Failure(isUnsent: true, isUnresolved: true)) }
        let id = bench.send()
        #expect(try outcomes(bench, id, afterMinutes: 9) == ["Success": 1])
    }

    /// The outcomes of a message whose service takes pushes after so many minutes.
    private func outcomes(_ bench: DeliveryBench, _ id: String, afterMinutes minutes: Int) throws -> [String: Int] {
        for _ in 0..<minutes {
            try bench.goRound()
            bench.pass(60)
        }
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(300)
        return try bench.outcomes(id)
    }
}

extension DeliveryBench {
    /// Puts a message of that sender into the queue, as the backend does.
    fileprivate func send(_ expression: String, from sender: String) throws -> String {
        var notification = HubNotification.browser(json: Array("{}".utf8))
        notification.sender = sender
        let audience = HubAudience.tags(try TagExpression(parsing: expression))
        return try #require(try hub.builtIn.send(notification, to: audience).notificationID)
    }
}
