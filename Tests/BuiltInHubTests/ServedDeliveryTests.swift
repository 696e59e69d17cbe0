// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub
import Store
import Support
import Testing

import class System.Lock

@testable import BuiltInHub

/// What the worker delivers for keys of the served hub, and for the backend beside it.
@Suite struct `What is delivered for the served hub` {
    @Test func `each message reaches the devices of its hub alone`() throws {
        let bench = DeliveryBench()
        let served = HubBench(store: bench.store, worker: bench.worker, isServed: true)
        bench.register(1, tags: "username:alice,news")
        DeliveryBench.register(2, tags: "username:alice,news", served)
        bench.start()
        for tags in ["username:alice", "news", nil] {
            _ = try bench.outcomes(bench.send(tags))
            let sent = served.send("browser", tags: tags, key: "send")
            try bench.wait { try served.details(sent.createdID).endTime != nil }
        }
        #expect(bench.sender.requests.map(\.path) == ["/1", "/2", "/1", "/2", "/1", "/2"])
    }

    @Test func `a message that a version with one namespace has queued reaches both, but by reserved tags`() throws {
        let bench = DeliveryBench()
        let served = HubBench(store: bench.store, worker: bench.worker, isServed: true)
        bench.register(1, tags: "username:alice,news")
        DeliveryBench.register(2, tags: "username:alice,news", served)
        for (tags, paths) in [("news", ["/1", "/2"]), ("username:alice", ["/1"])] {
            let draft = DeliveryBench()
            draft.register(1, tags: "username:alice,news")
            let id = draft.send(tags)
            var message = try #require(try draft.store.queuedHubMessage(id))
            message.document = message.document.withoutNamespace()
            let before = bench.sender.requests.count
            try bench.store.enqueueHubMessage(message)
            if before == 0 { bench.start() }
            bench.worker.wake()
            #expect(try bench.outcomes(id).values.reduce(0, +) == paths.count)
            #expect(bench.sender.requests.dropFirst(before).map(\.path).sorted() == paths)
            // It may be the key's own.
            #expect(served.ask(.get, "/myhub/messages/\(id)", key: "send").status.code == 200)
        }
    }

    @Test func `a device of it that is gone is removed, and no user's device is noted as gone`() throws {
        let notes = Lock<[String]>([])
        let bench = DeliveryBench(
            sender: ScriptedSender(ScriptedSender.status(410)),
            noteGone: { (id, _, _) throws(StoreError) in notes.withLock { $0.append("\(id)") } })
        let served = HubBench(store: bench.store, worker: bench.worker, isServed: true)
        bench.register(1)
        DeliveryBench.register(1, served)
        bench.start()
        let sent = served.send("browser", tags: "all", key: "send")
        try bench.wait { try served.details(sent.createdID).endTime != nil }
        #expect(served.ask(.get, "/myhub/registrations/1-1-1", key: "listen").status.code == 404)
        #expect(try bench.store.hubRegistration("1-1-1") != nil)
        #expect(notes.withLock(\.self) == [])
    }
}

extension JSONValue {
    /// A queued message as a version with one namespace has written it.
    fileprivate func withoutNamespace() -> JSONValue {
        .object(
            (members ?? []).map { member in
                guard member.name == "record" else { return member }
                let kept = (member.value.members ?? []).filter { $0.name != "namespace" }
                return Member(member.name, .object(kept))
            })
    }
}
