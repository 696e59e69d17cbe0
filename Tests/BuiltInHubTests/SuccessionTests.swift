// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import HTTP
import HTTPTypes
import Store
import Support
import Testing

@Suite struct `The delivery worker after another one` {
    @Test func `what another left goes on, and no device gets it twice`() throws {
        let store = MemoryHubStore()
        let first = DeliveryBench(store: store, sender: ScriptedSender { _ in nil }) { $0.batch = 2 }
        first.register(1)
        for id in 2...5 { first.register(id) }
        let id = first.send()
        first.start()
        try first.wait { first.sender.requests.count == 5 }
        first.stop()
        let second = DeliveryBench(store: store)
        second.register(6)
        second.start()
        #expect(try second.outcomes(id) == ["UnknownError": 5, "Success": 1])
        #expect(second.sender.paths == ["/6"])
    }

    @Test func `answers that came before the end are known to the next one`() throws {
        let store = MemoryHubStore()
        // Also where no time is left to wait for more.
        let first = DeliveryBench(
            store: store, sender: ScriptedSender { $0.path == "/9" ? nil : .success(Response(status: .created)) }
        ) { $0.drain = .zero }
        for id in [1, 2, 9] { first.register(id) }
        let id = first.send()
        first.start()
        try first.wait { first.sender.requests.count == 3 }
        first.stop()
        let second = DeliveryBench(store: store)
        second.start()
        #expect(try second.outcomes(id) == ["Success": 2, "UnknownError": 1])
        #expect(second.sender.requests.isEmpty)
    }

    @Test func `retries outlive the process`() throws {
        let store = MemoryHubStore()
        let first = DeliveryBench(store: store, sender: ScriptedSender(ScriptedSender.status(429)))
        for id in 1...3 { first.register(id) }
        let id = first.send()
        first.start()
        try first.wait { first.sender.requests.count == 3 }
        first.stop()
        let second = DeliveryBench(store: store)
        second.start()
        #expect(try second.outcomes(id) == ["Success": 3])
    }

    @Test func `only one of several workers delivers at a time`() throws {
        let store = MemoryHubStore()
        let sender = ScriptedSender()
        let benches = (0..<3).map { _ in DeliveryBench(store: store, sender: sender) }
        for id in 1...50 { benches[0].register(id) }
        benches.forEach { $0.start() }
        let ids = (0..<5).map { benches[$0 % 3].send() }
        for id in ids { #expect(try benches[0].outcomes(id) == ["Success": 50]) }
        #expect(sender.requests.count == 250)
    }
}
