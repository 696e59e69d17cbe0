// SPDX-License-Identifier: Apache-2.0
import HTTP
import Testing

@testable import BuiltInHub
@testable import Push

private let reason = "the project is not the app's"

private func rule(_ status: Int) -> PushResult {
    status == 410
        ? PushResult(.expiredChannel, .removeRegistration(goneSince: nil))
        : PushResult(.wrongToken, .doubtRegistration(reason: reason))
}

@Suite struct `A device that its service calls another sender's` {
    /// 403 to devices whose number is at most `refused`.
    private func script(refused: Int) -> CredentialSender.Script {
        { request, _ in
            let isRefused = Int(request.path.dropFirst()).map { $0 <= refused } ?? true
            return .success(Response(status: isRefused ? .forbidden : .created))
        }
    }

    private func registered(_ bench: DeliveryBench, _ ids: ClosedRange<Int>) -> Int {
        ids.count { bench.isRegistered($0) }
    }

    /// As a test send, because messages of the hub's own clock would be too old after an hour of the bench's.
    private func send(_ bench: DeliveryBench) -> [String: Int] {
        bench.testSend().reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    @Test func `stays, however often, where the credential reaches no device, and it is logged once`() {
        let sender = CredentialSender(script(refused: 5))
        let bench = DeliveryBench(sender, rule)
        for id in 1...5 { bench.register(id) }
        for _ in 0..<4 {
            #expect(send(bench) == ["WrongToken": 5])
            bench.pass(RemovalBreaker.period / 2)
        }
        #expect(registered(bench, 1...5) == 5)
        #expect(bench.lines == ["push: devices of service are refused: \(reason)"])
        #expect(bench.worker.doubts.map(\.reason) == [reason] && bench.worker.doubts.map(\.channel) == ["service"])
        // The operator has corrected it.
        sender.answer(201)
        #expect(send(bench) == ["Success": 5])
        #expect(bench.worker.doubts.isEmpty)
    }

    @Test func `goes when it is refused again after an hour in which others were reached`() {
        let sender = CredentialSender(script(refused: 1))
        let bench = DeliveryBench(sender, rule)
        for id in 1...9 { bench.register(id) }
        for _ in 0..<2 { #expect(send(bench) == ["Success": 8, "WrongToken": 1]) }
        #expect(bench.isRegistered(1))
        bench.pass(RemovalBreaker.period)
        #expect(send(bench) == ["Success": 8, "WrongToken": 1])
        #expect(registered(bench, 1...9) == 8 && !bench.isRegistered(1))
        #expect(bench.worker.doubts.isEmpty && bench.lines.isEmpty)
    }

    @Test func `stays with all others where they are more than may go in an hour, and that is a doubt`() {
        let sender = CredentialSender(script(refused: 40))
        let bench = DeliveryBench(sender, rule)
        // A test send has ten targets at most.
        for id in 1...50 { bench.register(id, tags: "group\((id - 1) / 10)") }
        for _ in 0..<3 {
            let outcomes = (0..<5).reversed().flatMap { bench.testSend("group\($0)") }
            #expect(outcomes.count { $0 == "Success" } == 10 && outcomes.count { $0 == "WrongToken" } == 40)
            #expect(bench.worker.doubts.map(\.reason) == [reason])
            bench.pass(RemovalBreaker.period)
        }
        #expect(registered(bench, 1...50) == 50)
        // Nothing more was heard for an hour.
        #expect(bench.worker.doubts.isEmpty)
    }

    @Test func `that is registered again is another device`() {
        let sender = CredentialSender(script(refused: 1))
        let bench = DeliveryBench(sender, rule)
        for id in 1...2 { bench.register(id) }
        #expect(send(bench) == ["Success": 1, "WrongToken": 1])
        bench.register(1, tags: "all,again")
        bench.pass(RemovalBreaker.period)
        #expect(send(bench) == ["Success": 1, "WrongToken": 1])
        #expect(bench.isRegistered(1))
        bench.pass(RemovalBreaker.period)
        #expect(send(bench) == ["Success": 1, "WrongToken": 1])
        #expect(!bench.isRegistered(1))
    }

    @Test func `shows in test sends as well`() {
        let bench = DeliveryBench(CredentialSender(script(refused: 3)), rule)
        for id in 1...3 { bench.register(id) }
        #expect(bench.testSend() == ["WrongToken", "WrongToken", "WrongToken"])
        #expect(bench.worker.doubts.count == 1 && registered(bench, 1...3) == 3)
    }

    @Test func `is one of a bounded number that are remembered`() {
        let devices = DoubtfulDevices()
        for id in 0..<3 * DoubtfulDevices.capacity { _ = devices.note("\(id)", version: 1, refusedBy: "fcm", at: 0) }
        #expect(devices.remembered <= DoubtfulDevices.capacity)
    }
}
