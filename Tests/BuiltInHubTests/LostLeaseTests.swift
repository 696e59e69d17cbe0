// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import HTTP
import Push
import Store
import Support
import Testing

import class System.Lock

/// Keeps the answers back until the test lets them go.
private final class HeldAnswers: Sendable {
    private let completions = Lock<[@Sendable () -> Void]>([])

    func hold(_ completion: @escaping @Sendable () -> Void) { completions.withLock { $0.append(completion) } }

    func letGo() {
        let held = completions.withLock { completions in
            defer { completions = [] }
            return completions
        }
        held.forEach { $0() }
    }
}

/// A network whose answers come when the test says so.
private final class SlowSender: PushSender {
    let answers = HeldAnswers()
    private let sent = Lock<[String]>([])

    var paths: [String] { sent.withLock { $0 } }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        sent.withLock { $0.append(request.path) }
        answers.hold { completion(.success(Response(status: .created))) }
    }
}

@Suite struct `The delivery worker that loses its lease` {
    private let shared = MemoryHubStore()

    /// Two at a time, so that the rest is still to come when the lease is lost.
    private static func twoAtOnce(_ options: inout DeliveryWorker.Options) {
        (options.inFlight, options.inFlightPerService, options.batch) = (2, 2, 2)
    }

    @Test(arguments: [RefusingStore.Loss.toldByLease, .toldByWrite])
    func `stops at once, and another goes on without telling anybody twice`(loss: RefusingStore.Loss) throws {
        let (store, sender) = (RefusingStore(shared), SlowSender())
        let first = DeliveryBench(store: store, network: sender, Self.twoAtOnce)
        for id in 1...5 { first.register(id) }
        let id = first.send()
        first.start()
        try first.wait { sender.paths.count == 2 }
        let second = DeliveryBench(store: RefusingStore(shared))
        store.loseLease(loss, isForGood: true)
        second.start()
        // The first worker must have heard of the loss: it may have asked a moment before.
        if loss == .toldByLease { try first.wait { store.lossesTold > 0 } }
        // There would be room for the next two.
        sender.answers.letGo()
        #expect(try second.outcomes(id) == ["UnknownError": 2, "Success": 3])
        try first.wait { first.reports.withLock { $0.contains { $0.contains("lost the delivery lease") } } }
        #expect(sender.paths.sorted() == ["/1", "/2"])
        #expect(second.sender.paths.sorted() == ["/3", "/4", "/5"])
    }

    @Test func `that gets it back counts nothing that was asked before`() throws {
        let (store, sender) = (RefusingStore(shared), SlowSender())
        let bench = DeliveryBench(store: store, network: sender, Self.twoAtOnce)
        for id in 1...3 { bench.register(id) }
        let id = bench.send()
        bench.start()
        try bench.wait { sender.paths.count == 2 }
        store.loseLease(.toldByLease, isForGood: false)
        try bench.wait { sender.paths.count == 3 }
        // The answers of the first two, which are counted as unknown by now, and that of the third.
        sender.answers.letGo()
        #expect(try bench.outcomes(id) == ["UnknownError": 2, "Success": 1])
        #expect(sender.paths.sorted() == ["/1", "/2", "/3"])
    }
}
