// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import Foundation
import NotificationHub
import Testing

import class System.Lock

/// The share that the keys of each policy have of the delivery queue, as each user has one.
@Suite final class `The delivery queue of a hub that is served` {
    private let path = NSTemporaryDirectory() + "/shares-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @Test(arguments: SitePlace.allCases)
    func `a key that fills it is refused, and messages of the other keys and of users are taken`(
        place: SitePlace
    ) throws {
        let bench = DeliveryBench(store: try place.open(path, queueBytes: 40_000))
        let causes = Lock<[String]>([])
        let hub = HubBench(
            store: bench.store, worker: bench.worker, isServed: true,
            report: { cause, _ in causes.withLock { $0.append(cause) } })
        for hub in [hub, bench.hub] { DeliveryBench.register(1, hub) }
        let body = String(repeating: "x", count: 1_000)
        func send(_ key: String) -> Int { hub.send("browser", tags: "all", key: key, body: body).status.code }
        let taken = (0..<100).prefix { _ in send("send") == 201 }.count
        #expect((5..<20).contains(taken))
        #expect(send("send") == 429)
        let cause = "the queue is half full, and has as many messages of the key send as one sender may have"
        #expect(causes.withLock { $0.allSatisfy { $0 == cause } && !$0.isEmpty })
        #expect(send("full") == 201)
        var users = HubNotification.browser(json: Array(body.utf8))
        users.sender = "alice"
        let receipt = try bench.hub.builtIn.send(users, to: .tags(try TagExpression(parsing: "all")))
        #expect(!receipt.hasNoTarget)
        #expect(send("send") == 429)
    }
}
