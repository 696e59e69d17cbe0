// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import JSON
import Store
import Support
import Testing
import Text

/// A queued message as the store keeps it.
private func queued(enqueuedAt: String = "1541549917", targets: String = "0", more: String = "") -> String {
    #"{"record":{"format":"browser","enqueuedAt":\#(enqueuedAt),"targets":\#(targets)},"#
        + #""contentType":"","body":"e30="\#(more)}"#
}

@Suite struct `The delivery worker of a store in trouble` {
    private let store = RefusingStore()

    @Test func `no device gets a message before the store has it in writing, and then each gets it once`() throws {
        let bench = DeliveryBench(store: store) { ($0.inFlight, $0.inFlightPerService, $0.batch) = (2, 2, 2) }
        for id in 1...5 { bench.register(id) }
        store.refuse([.update])
        bench.start()
        let id = bench.send()
        // Whatever a refused round had reserved would be missing from the third on.
        try bench.wait { store.refusals >= 3 }
        #expect(bench.sender.requests.isEmpty)
        store.refuse([])
        #expect(try bench.outcomes(id) == ["Success": 5])
        #expect(bench.sender.paths.sorted() == ["/1", "/2", "/3", "/4", "/5"])
        #expect(bench.reports.withLock { $0.count } == 1)
    }

    @Test(arguments: [Set([RefusingStore.Call.putMessage]), [.remove], [.putMessage, .remove]])
    func `what cannot be put away has details nevertheless, and is delivered once`(
        refused: Set<RefusingStore.Call>
    ) throws {
        let bench = DeliveryBench(store: store)
        bench.register(1)
        store.refuse(refused)
        bench.start()
        let id = bench.send()
        try bench.wait { store.refusals >= 3 }
        #expect(try bench.details(id).id == id)
        store.refuse([])
        #expect(try bench.outcomes(id) == ["Success": 1])
        try bench.wait { try store.queuedHubMessage(id) == nil }
        #expect(bench.sender.paths == ["/1"])
    }

    @Test func `what was heard is known to the next one, also of messages that could not be put away`() throws {
        let bench = DeliveryBench(store: store)
        for id in 1...3 { bench.register(id) }
        store.refuse([.putMessage])
        bench.start()
        let id = bench.send()
        try bench.wait { store.refusals >= 1 }
        bench.stop()
        store.refuse([])
        let next = DeliveryBench(store: store)
        next.start()
        #expect(try next.outcomes(id) == ["Success": 3])
        #expect(next.sender.requests.isEmpty)
    }

    @Test func `a message whose targets cannot be read waits, and loses none of them`() throws {
        let bench = DeliveryBench(store: store)
        for id in 1...3 { bench.register(id) }
        store.refuse([.readRegistration])
        bench.start()
        let id = bench.send()
        try bench.wait { store.refusals >= 1 }
        store.refuse([])
        bench.pass(5)
        #expect(try bench.outcomes(id) == ["Success": 3])
        #expect(bench.sender.paths.sorted() == ["/1", "/2", "/3"])
    }

    @Test(arguments: [Duration.milliseconds(1), .seconds(60)])
    func `a look-up of targets that fails is made again, whether the delivery waited for it or not`(
        patience: Duration
    ) throws {
        let gate = LookupGate(tag: "all")
        let store = RefusingStore(gate: gate)
        let bench = DeliveryBench(store: store) { $0.lookupPatience = patience }
        for id in 1...3 { bench.register(id) }
        store.refuse([.findTargets])
        bench.start()
        let id = bench.send()
        gate.begun.wait(for: .seconds(60))
        if patience < .seconds(1) { try bench.goRound() }
        gate.opened.open()
        try bench.wait { !bench.reports.withLock(\.isEmpty) }
        store.refuse([])
        bench.pass(5)
        #expect(try bench.outcomes(id) == ["Success": 3])
        #expect(bench.sender.paths.sorted() == ["/1", "/2", "/3"])
    }

    @Test(
        arguments: [
            "{}", queued(enqueuedAt: "9223372036854775807"), queued(enqueuedAt: "-1"),
            queued(more: #","underWay":9223372036854775807"#), queued(more: #","underWay":-1"#),
            queued(targets: "9223372036854775807", more: #","underWay":1"#),
        ])
    func `a queued message that cannot be read is dropped, reported, and keeps no other waiting`(text: String) throws {
        let bench = DeliveryBench()
        bench.register(1)
        try bench.store.enqueueHubMessage(
            HubMessage(
                id: "broken", document: try JSONValue(parsing: Array(text.utf8)), createdAt: Timestamp(seconds: 0),
                expiresAt: Timestamp(seconds: .max)))
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["Success": 1])
        #expect(try bench.store.queuedHubMessage("broken") == nil)
        #expect(bench.reports.withLock { $0 }.contains { $0.contains("hub message broken") })
    }
}
