// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import FileStore
import Foundation
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Support
import Testing
import Text

extension DeliveryBench {
    /// Puts a message into the queue that is not to be delivered before that time.
    /// - Returns: its id.
    func schedule(body: String = "{}", notBefore: Int64) throws -> String {
        // What a hub queues, taken from a queue that nothing delivers.
        let draft = DeliveryBench()
        draft.register(1)
        let sent = draft.send(body: body)
        var message = try #require(try draft.store.queuedHubMessage(sent))
        message.id = String(sent.dropLast("1-01".utf8.count)) + "\(notBefore)-01"
        message.notBefore = Timestamp(seconds: notBefore)
        message.expiresAt = Timestamp(seconds: notBefore + 86_400)
        try store.enqueueHubMessage(message)
        worker.wake()
        return message.id
    }
}

extension HubBench {
    fileprivate func schedule(_ time: String, query: String = "api-version=2020-06", key: String = "full") -> Response {
        let fields = [
            "ServiceBusNotification-Format": "browser", "ServiceBusNotification-Tags": "all",
            "ServiceBusNotification-ScheduleTime": time,
        ]
        return ask(.post, "/myhub/schedulednotifications", query: query, key: key, fields: fields, body: "{}")
    }
}

@Suite final class `Messages that wait for their time` {
    private let path = NSTemporaryDirectory() + "/scheduled-\(UUID().uuidString)"
    private let now = HubBench.now

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func bench(inFiles: Bool) throws -> DeliveryBench {
        guard inFiles else { return DeliveryBench() }
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return DeliveryBench(store: try FileSiteStore.open(path: path, options: .patient))
    }

    @Test(arguments: [false, true])
    func `a message is delivered from its second on, without a call, and not before`(inFiles: Bool) throws {
        let bench = try bench(inFiles: inFiles)
        bench.register(1)
        bench.start()
        let id = try bench.schedule(body: "later", notBefore: now + 100)
        for time in [now, now + 99] {
            bench.setClock(time)
            // A look has passed it over when what came after it is delivered.
            #expect(try bench.outcomes(bench.send()) == ["Success": 1])
        }
        #expect(bench.sender.requests.count == 2)
        #expect(try bench.details(id).state == "Enqueued")
        bench.setClock(now + 100)
        #expect(try bench.outcomes(id) == ["Success": 1])
        #expect(String(decoding: bench.sender.requests.last?.body ?? [], as: UTF8.self) == "later")
    }

    @Test(arguments: [
        "2018-11-07T00:20:17", "2018-11-07T00:20:17.000Z", "2018-11-07T00:20:17Z", "2018-11-07T00:20:17+00:00",
    ])
    func `the hub takes one by its language, in each client's form, for devices that come until then`(
        time: String
    ) throws {
        let bench = DeliveryBench()
        bench.start()
        let sent = bench.hub.schedule(time)
        #expect(sent.status == .created && sent.fields[.sendState] == nil)
        #expect(sent.fields[.location]?.contains("/myhub/schedulednotifications/\(sent.createdID)?") == true)
        bench.register(1)
        bench.setClock(now + 99)
        #expect(try bench.outcomes(bench.send()) == ["Success": 1])
        #expect(bench.sender.requests.count == 1)
        #expect(try bench.details(sent.createdID).state == "Enqueued")
        bench.setClock(now + 100)
        #expect(try bench.outcomes(sent.createdID) == ["Success": 1])
    }

    @Test func `the client schedules, and a time that has come means at once`() throws {
        let bench = DeliveryBench()
        bench.register(1)
        bench.start()
        let client = try bench.hub.client()
        var notification = HubNotification(
            format: .native(.browser), body: Array("{}".utf8), contentType: "application/json")
        notification.notBefore = now - 1
        let past = try #require(try client.send(notification, to: .tag(Tag("all"))).notificationID)
        #expect(try bench.outcomes(past) == ["Success": 1])
        notification.notBefore = now + 60
        let later = try #require(try client.send(notification, to: .tag(Tag("all"))).notificationID)
        #expect(try client.details(later)?.state == "Enqueued")
        bench.setClock(now + 60)
        #expect(try bench.outcomes(later) == ["Success": 1])
    }

    @Test(arguments: [
        "", "tomorrow", "2018-11-07", "2018-11-07T00:20:17.", "2018-11-07T00:20:17+24:00", "2018-11-14T00:18:38Z",
    ])
    func `what is no time, or more than seven days ahead, is refused`(time: String) throws {
        let bench = DeliveryBench()
        bench.register(1)
        #expect(bench.hub.schedule(time).status == .badRequest)
        #expect(try bench.store.queuedHubMessages(except: [], limit: 9).isEmpty)
        #expect(bench.hub.schedule("2018-11-14T00:18:37Z").status == .created)
    }

    @Test func `a direct send has no time, and a key that only listens schedules nothing`() throws {
        let bench = DeliveryBench()
        #expect(bench.hub.schedule("2018-11-07T00:20:17", query: "api-version=2020-06&direct").status == .badRequest)
        #expect(bench.hub.schedule("2018-11-07T00:20:17", key: "listen").status == .unauthorized)
    }

    @Test(arguments: [false, true])
    func `a clock that is set back makes it late, and nothing else`(inFiles: Bool) throws {
        let bench = try bench(inFiles: inFiles)
        bench.register(1)
        bench.start()
        let ids = try [50, 150].map { try bench.schedule(notBefore: now + $0) }
        bench.setClock(now + 100)
        #expect(try bench.outcomes(ids[0]) == ["Success": 1])
        bench.setClock(now - 5_000)
        #expect(try bench.outcomes(bench.send()) == ["Success": 1])
        #expect(bench.sender.requests.count == 2)
        bench.setClock(now + 150)
        #expect(try bench.outcomes(ids[1]) == ["Success": 1])
        #expect(bench.sender.requests.count == 3)
    }

    @Test func `it is tried for as long as any other, from its time on`() throws {
        let bench = DeliveryBench()
        bench.register(1)
        bench.sender.answer(ScriptedSender.status(503))
        let ids = try [3_600, 7_200].map { try bench.schedule(notBefore: now + $0) }
        bench.setClock(now + 3_600)
        bench.start()
        // The clock may pass on only when the refusal is written down, or the next try counts from a later time.
        try bench.wait {
            let queued = try bench.store.queuedHubMessage(ids[0], notBefore: Timestamp(seconds: now + 3_600))
            return bench.sender.requests.count == 1 && (queued?.document["underWay"]?.integer ?? 0) == 0
        }
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(300)
        #expect(try bench.outcomes(ids[0]) == ["Success": 1])
        // Half an hour after the time of the second one it is given up.
        let requests = bench.sender.requests.count
        bench.setClock(now + 7_200 + 1_800)
        #expect(try bench.outcomes(ids[1]) == ["AbandonedNotificationMessages": 1])
        #expect(bench.sender.requests.count == requests)
    }

    @Test func `as long as nothing is due the queue is not read`() throws {
        let store = MemoryHubStore()
        let bench = DeliveryBench(store: store)
        bench.register(1)
        for second in 1...50 { _ = try bench.schedule(notBefore: now + 100 + Int64(second)) }
        bench.start()
        try bench.wait { store.queueReads > 0 }
        let turns = { (count: Int) in
            let before = bench.worker.pulse
            try bench.wait { bench.worker.pulse > before + count }
        }
        try turns(10)
        let reads = store.queueReads
        try turns(50)
        #expect(store.queueReads == reads)
    }
}
