// SPDX-License-Identifier: Apache-2.0
import HTTP
import Support
import Testing

@testable import BuiltInHub
@testable import Push

private struct Unreachable: TransportFailure {
    let isTransient = true
    let isUnsent = true
    let isPermanent = false
}

@Suite struct `A push service that takes nothing at present` {
    private let away = "push: browser (push.example) takes no pushes at present: "

    private func lines(_ bench: DeliveryBench) -> [String] { bench.reports.withLock { $0 } }

    @Test func `is logged once by its host, and once more when it is back`() throws {
        let sender = ScriptedSender(ScriptedSender.status(503))
        let bench = DeliveryBench(sender: sender)
        for id in 1...3 { bench.register(id) }
        bench.start()
        let id = bench.send()
        // Only then does a minute that passes lie between two attempts.
        func attempted(_ count: Int) throws {
            try bench.wait { try sender.requests.count >= count && bench.inFlight(id) == 0 }
        }
        try attempted(1)
        // A trouble of a moment is not worth a line.
        #expect(lines(bench).isEmpty)
        for _ in 0..<5 {
            let before = sender.requests.count
            bench.pass(60)
            try attempted(before + 1)
        }
        try bench.wait { !lines(bench).isEmpty }
        #expect(lines(bench) == [away + "PnsUnavailable"])
        sender.answer(ScriptedSender.status(201))
        bench.pass(600)
        #expect(try bench.outcomes(id) == ["Success": 3])
        #expect(lines(bench).last == "push: browser (push.example) takes pushes again" && lines(bench).count == 2)
    }

    @Test func `is logged as well when it does not answer`() throws {
        let sender = ScriptedSender { _ in .failure(Unreachable()) }
        let bench = DeliveryBench(sender: sender)
        bench.register(1)
        bench.start()
        let id = bench.send()
        // The first answer is noted before a minute passes.
        let other = BuiltInHub(store: bench.store, worker: bench.worker, now: { 0 })
        try bench.wait { try other.message(id).serviceReason != nil }
        bench.pass(60)
        try bench.wait { !lines(bench).isEmpty }
        #expect(lines(bench).first?.hasPrefix(away + "it does not answer") == true)
    }

    @Test(arguments: [(429, "Throttled"), (503, "PnsUnavailable")])
    func `is the reason that an operator reads of a message that waits, and no credential's`(
        code: Int, outcome: String
    ) throws {
        let sender = ScriptedSender(ScriptedSender.status(code))
        let bench = DeliveryBench(sender: sender)
        bench.register(1)
        bench.start()
        let id = bench.send()
        let other = BuiltInHub(store: bench.store, worker: bench.worker, now: { 0 })
        try bench.wait { try other.message(id).serviceReason != nil }
        let details = try other.message(id)
        #expect(details.serviceReason == "push.example does not take it now, and is asked again: \(outcome)")
        #expect(details.waitReason == nil)
        // It is not sent, because the service or the device is left alone.
        let next = bench.send()
        try bench.wait { try other.message(next).serviceReason?.contains("takes nothing at present") == true }
        sender.answer(ScriptedSender.status(201))
        bench.pass(600)
        #expect(try bench.outcomes(id) == ["Success": 1])
        #expect(try other.message(id).serviceReason == nil)
    }

    @Test func `is remembered for a bounded number of services, and told of at once where it asks to wait long`() {
        var troubles = ServiceTroubles()
        let news = (0..<100).map { troubles.begin("\($0).example", pause: 600, at: .at(0)) }
        #expect(news.count(where: \.self) == ServiceTroubles.maximum)
        let later = [
            troubles.begin("0.example", pause: 600, at: .at(10)), troubles.end("0.example"), troubles.end("0.example"),
            troubles.begin("0.example", pause: nil, at: .at(20)), troubles.end("0.example"),
        ]
        #expect(later == [false, true, false, false, false])
    }
}
