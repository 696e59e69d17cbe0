// SPDX-License-Identifier: Apache-2.0
import FileStore
import JSON
import Store
import Support
import Testing

/// What only a queue in files can get wrong.
@Suite struct QueueTests {
    private func message(_ id: Int, bytes: Int = 100) -> HubMessage {
        HubMessage(
            id: "m-\(id)", document: .string(String(repeating: "x", count: bytes)), createdAt: noon, expiresAt: nextDay)
    }

    @Test func `another process's messages are seen, and the lease has one holder`() throws {
        let folder = try TemporaryFolder()
        let (one, other) = (try folder.open(), try folder.open())
        let lease = try #require(try one.acquireDeliveryLease())
        #expect(try other.acquireDeliveryLease() == nil)
        let before = one.hubQueueRevision()
        try other.enqueueHubMessage(message(1))
        #expect(one.hubQueueRevision() != before)
        #expect(try one.queuedHubMessages(except: [], limit: 9) == [message(1)])
        lease.release()
        #expect(try other.acquireDeliveryLease() != nil)
    }

    @Test func `the file stays one and shrinks again, however much went through it`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.bucketBytes = 2_000 }
        for id in 0..<200 {
            try store.enqueueHubMessage(message(id))
            if id >= 3 { try store.removeQueuedHubMessages(["m-\(id - 3)"]) }
        }
        #expect(try store.queuedHubMessages(except: [], limit: 9).map(\.id) == ["m-197", "m-198", "m-199"])
        #expect(try folder.files(under: "hub/queue").isEmpty)
        #expect(try folder.text("hub/queue.jsonl").utf8.count < 10_000)
    }

    @Test func `a queue that is full refuses, and takes again when something left it`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open {
            ($0.bucketBytes, $0.quotas.queueBytes, $0.queueTidyPause) = (1_000, 20_000, .zero)
        }
        var count = 0
        #expect(throws: StoreError.quotaExceeded) {
            for id in 0..<100 {
                try store.enqueueHubMessage(message(id, bytes: 900))
                count += 1
            }
        }
        #expect((10...20).contains(count))
        try store.removeQueuedHubMessages((0..<count).map { "m-\($0)" })
        try store.enqueueHubMessage(message(1_000))
        #expect(try store.queuedHubMessages(except: [], limit: 99).map(\.id) == ["m-1000"])
    }

    @Test func `a message is as its last whole line says, where its first one stands`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        for id in 1...3 { try store.enqueueHubMessage(message(id)) }
        let updates = [message(1, bytes: 1), message(2, bytes: 2)]
        try store.updateQueuedHubMessages(updates)
        #expect(try store.queuedHubMessages(except: [], limit: 9) == updates + [message(3)])
        // The second update's end is lost, and a message was written by hand.
        let file = "hub/queue.jsonl"
        var lines = try folder.text(file).split(separator: "\n").map(String.init)
        let first = try #require(lines.first)
        let byHand = first.replacing("m-1", with: "m-0").replacing("{", with: "{ ", maxReplacements: 1)
        lines[lines.count - 1].removeLast(30)
        try folder.write(lines.joined(separator: "\n") + "\n" + byHand + "\n", to: file)
        let found = try store.queuedHubMessages(except: ["m-3"], limit: 9)
        #expect(found.map(\.id) == ["m-1", "m-2", "m-0"])
        #expect(found.prefix(2) == [message(1, bytes: 1), message(2)])
        try store.removeQueuedHubMessages(["m-0", "m-1"])
        #expect(try store.queuedHubMessages(except: [], limit: 9) == [message(2), message(3)])
    }

    @Test func `what waits is counted as it is in the file, whichever process wrote it`() throws {
        let folder = try TemporaryFolder()
        let (one, other) = (try folder.open(), try folder.open())
        for id in 1...3 { try one.enqueueHubMessage(message(id)) }
        let file = "hub/queue.jsonl"
        #expect(
            try one.hubQueueBacklog()
                == QueueBacklog(messages: 3, oldest: noon, bytes: try folder.text(file).utf8.count))
        try other.removeQueuedHubMessages(["m-2"])
        #expect(try one.hubQueueBacklog().messages == 2)
        // An operator added an older one by hand, in a form that is not ours, and a line that is not a message.
        let older = #"{ "queue": "hub", "createdAt": "2000-01-01T00:00:00Z", "id": "m-0", "document": 1, "#
        let byHand = older + #""expiresAt": "2100-01-01T00:00:00Z" }"#
        try folder.write(try folder.text(file) + byHand + "\n{ \"id\": \"m-9\" }\n", to: file)
        let backlog = try one.hubQueueBacklog()
        #expect(backlog.messages == 3)
        #expect(backlog.oldest?.text == "2000-01-01T00:00:00Z")
    }

    @Test func `messages without an owner, as the version before has written them, wait beside the others`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { ($0.quotas.queueBytes, $0.queueTidyPause) = (4_000, .zero) }
        // An owner whose name is escaped in a line, and a line of another form than ours.
        var own = message(2)
        own.owner = "a\"b"
        for message in [message(1), own] { try store.enqueueHubMessage(message) }
        let file = "hub/queue.jsonl"
        let text = try folder.text(file)
        let byHand = text.split(separator: "\n").last.map(String.init) ?? ""
        try folder.write(
            text + byHand.replacing("m-2", with: "m-3").replacing("{", with: "{ ", maxReplacements: 1) + "\n", to: file)
        #expect(try store.queuedHubMessages(except: [], limit: 9).map(\.owner) == [nil, "a\"b", "a\"b"])
        // More than half of the queue is taken then, and two of these are more than a share.
        try store.enqueueHubMessage(message(4, bytes: 1_500))
        own.id = "m-5"
        #expect(throws: StoreError.shareExceeded(retryAfterSeconds: SharedRoom.retryAfterSeconds)) {
            try store.enqueueHubMessage(own)
        }
        try store.removeQueuedHubMessages(["m-2", "m-3"])
        try store.enqueueHubMessage(own)
    }

    @Test func `an update of nothing writes nothing`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let before = store.hubQueueRevision()
        try store.updateQueuedHubMessages([])
        try store.removeQueuedHubMessages([HubMessage]())
        #expect(store.hubQueueRevision() == before)
    }
}
