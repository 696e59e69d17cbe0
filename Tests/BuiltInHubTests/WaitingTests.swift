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
}
