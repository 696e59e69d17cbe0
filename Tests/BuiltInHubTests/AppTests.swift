// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import NotificationHub
import Push
import Store
import Support
import Testing

@testable import BuiltInHub

private func rule(_ status: Int) -> PushResult {
    switch status {
    case 400: PushResult(.badChannel, .tryOtherEnvironment)
    case 403: PushResult(.invalidCredentials, .holdCredential(reason: "Revoked"))
    case 410: PushResult(.expiredChannel, .removeRegistration(goneSince: nil))
    default: PushResult(.pnsUnavailable, .retry(afterSeconds: nil))
    }
}

/// Two apps of one platform, `a` and `b`; `a` has two environments.
private struct TwoApps {
    let a = CredentialSender(201)
    let sandbox = CredentialSender(201)
    let b = CredentialSender(201)
    let bench: DeliveryBench

    init(
        store: any HubStore & HubQueue = MemoryHubStore(), hasB: Bool = true,
        _ adjust: (inout DeliveryWorker.Options) -> Void = { _ in }
    ) {
        let senders = [("a", "a", a), ("a sandbox", "a", sandbox)] + (hasB ? [("b", "B", b)] : [])
        bench = DeliveryBench(store: store, adjust) { around in
            senders.map { name, app, sender in
                PushChannel(
                    name: name, app: app, driver: RuledDriver(.fcm, rule), sender: sender, now: around.now,
                    clock: around.clock,
                    report: around.report)
            }
        }
    }

    func register(_ id: Int, _ tags: String, handle: String? = nil) {
        bench.hub.put("\(id)-1-1", HubBench.android(handle ?? "token-\(id)", tags: "all,\(tags)"))
    }

    func send(_ tags: String = "all") -> String { bench.hub.send("fcmv1", tags: tags).createdID }
}

@Suite struct `Of several apps of one platform` {
    @Test func `a device is reached by the credential of the one that it names, else of the first`() throws {
        let apps = TwoApps()
        for (id, tags) in [(1, "news"), (2, "app:a"), (3, "app:b"), (4, "news,APP:B")] { apps.register(id, tags) }
        apps.bench.start()
        #expect(try apps.bench.outcomes(apps.send()) == ["Success": 4])
        #expect(apps.a.paths.sorted() == ["/token-1", "/token-2"])
        #expect(apps.b.paths.sorted() == ["/token-3", "/token-4"])
        let test = apps.bench.hub.send("fcmv1", tags: "all", query: "api-version=1&test").text
        #expect(test.components(separatedBy: "<Outcome>Success").count == 5)
        #expect(apps.a.requests.count == 4 && apps.b.requests.count == 4 && apps.sandbox.requests.isEmpty)
    }

    @Test func `one that is not configured gets nothing, by no other's credential, and stays registered`() throws {
        let apps = TwoApps()
        for (id, tags) in [(1, "app:c"), (2, "app:b"), (3, "app:c")] { apps.register(id, tags) }
        apps.bench.start()
        #expect(try apps.bench.outcomes(apps.send()) == ["Success": 1, "Skipped": 2])
        #expect(apps.a.requests.isEmpty && apps.b.paths == ["/token-2"])
        #expect(apps.bench.isRegistered(1) && apps.bench.isRegistered(3))
        #expect(
            apps.bench.lines == ["push: nothing is sent to devices of fcm of the app c, which has no credential here"])
        #expect(try apps.bench.outcomes(apps.bench.hub.send("fcmv1", tags: "app:c").createdID) == ["Skipped": 2])
    }

    @Test func `a refused credential keeps the devices of its own app waiting, however many, and no others`() throws {
        let apps = TwoApps {
            ($0.batch, $0.inFlightPerService, $0.retries) = (2, 2, 8)
        }
        for id in 1...20 { apps.register(id, id.isMultiple(of: 2) ? "app:a" : "app:b") }
        apps.a.answer(403)
        apps.bench.start()
        let id = apps.send()
        try apps.bench.wait { apps.b.requests.count == 10 && !apps.bench.worker.holds.isEmpty }
        #expect(apps.bench.worker.holds.map(\.channel) == ["a"])
        try apps.bench.goRound()
        #expect(try apps.bench.details(id).endTime == nil)
        apps.a.answer(201)
        apps.bench.pass(60)
        #expect(try apps.bench.outcomes(id) == ["Success": 20])
        #expect(apps.b.requests.count == 10)
    }

    @Test(arguments: [true, false])
    func `each goes on where it was when another process takes over, also without one of them`(hasB: Bool) throws {
        let before = TwoApps {
            ($0.batch, $0.inFlightPerService, $0.retries) = (2, 2, 8)
        }
        for id in 1...20 { before.register(id, id.isMultiple(of: 2) ? "news" : "app:b") }
        before.a.answer(403)
        before.bench.start()
        let id = before.send()
        try before.bench.wait { before.b.requests.count == 10 && !before.bench.worker.holds.isEmpty }
        before.bench.stop()
        let after = TwoApps(store: before.bench.store, hasB: hasB)
        after.bench.start()
        #expect(try after.bench.outcomes(id) == ["Success": 20])
        #expect(after.b.requests.isEmpty)
        #expect(Set(after.a.paths).count == 10 && after.a.requests.count == 10)
    }

    @Test func `a refused credential is no excuse for messages to a device of another that is never reached`() throws {
        let apps = TwoApps { $0.waitingPerAudience = 2 }
        apps.register(1, "x")
        apps.register(2, "y,app:b")
        apps.a.answer(403)
        apps.b.answer(503)
        apps.bench.start()
        _ = apps.send("x")
        try apps.bench.wait { !apps.bench.worker.holds.isEmpty }
        let ids = (0..<6).map { _ in apps.send("y") }
        try apps.bench.wait { try ids.count { try apps.bench.details($0).endTime != nil } == 4 }
    }

    @Test func `a device that is registered for another is found there, and not where it was found before`() throws {
        let apps = TwoApps()
        apps.register(1, "app:a")
        apps.a.answer(400)
        apps.bench.start()
        for _ in 0..<2 { #expect(try apps.bench.outcomes(apps.send()) == ["Success": 1]) }
        #expect(apps.a.requests.count == 1 && apps.sandbox.requests.count == 2)
        apps.register(1, "app:b")
        #expect(try apps.bench.outcomes(apps.send()) == ["Success": 1])
        #expect(apps.b.paths == ["/token-1"])
        #expect(apps.a.requests.count == 1 && apps.sandbox.requests.count == 2)
    }

    @Test func `gone devices of the default app are one group, whether they name it or not`() throws {
        let apps = TwoApps()
        for id in 1...40 { apps.register(id, id.isMultiple(of: 2) ? "app:a" : "news") }
        apps.a.answer(410)
        apps.bench.start()
        #expect(try apps.bench.outcomes(apps.send()) == ["ExpiredChannel": 40])
        #expect((1...40).count { apps.bench.isRegistered($0) } == 40 - RemovalBreaker.minimum)
        #expect(
            apps.bench.lines == [
                "push: within an hour the service called too many devices of fcm gone; they stay"
            ])
    }

    @Test func `a flood of gone devices of one costs another none`() throws {
        let apps = TwoApps()
        for id in 1...40 { apps.register(id, "app:b") }
        apps.register(41, "news")
        apps.b.answer(410)
        apps.bench.start()
        #expect(try apps.bench.outcomes(apps.send()) == ["ExpiredChannel": 40, "Success": 1])
        #expect((1...40).count { apps.bench.isRegistered($0) } == 40 - RemovalBreaker.minimum)
        apps.a.answer(410)
        #expect(try apps.bench.outcomes(apps.send("news")) == ["ExpiredChannel": 1])
        #expect(!apps.bench.isRegistered(41))
    }
}
