// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import JSON
import Store
import Support
import Testing
import Text

/// What only a queue in files can get wrong with messages that wait for their time. `noon` is 8:00 on 2027-01-15.
@Suite struct DueTests {
    private let file = "hub/due/2027-01-15T10.jsonl"
    /// Within the hour of that file.
    private let later = noon + 2 * 3_600 + 60

    private func message(_ id: Int, at time: Timestamp, text: String = "x") -> HubMessage {
        HubMessage(
            id: "m-\(id)", document: .string(text), createdAt: noon, notBefore: time, expiresAt: time + 86_400)
    }

    private func due(_ store: FileSiteStore, _ now: Timestamp, except ids: Set<String> = []) throws -> [String] {
        try store.dueHubMessages(except: ids, limit: .max, now: now).messages.map(\.id)
    }

    @Test func `a message is in the file of its hour until it is delivered, and the file goes with the last`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        for id in 1...2 { try store.enqueueHubMessage(message(id, at: later + Int64(id))) }
        #expect(try folder.files(under: "hub/due") == [file])
        #expect(try due(store, later + 9) == ["m-1", "m-2"])
        #expect(try folder.text(file).split(separator: "\n").count == 2)
        try store.removeQueuedHubMessages([message(1, at: later + 1)])
        for now in [noon, later + 9] {
            while try !store.sweep(budget: 9_999, now: now).finishedRound {}
        }
        #expect(try due(store, later + 9) == ["m-2"])
        try store.removeQueuedHubMessages([message(2, at: later + 2)])
        while try !store.sweep(budget: 9_999, now: later + 9).finishedRound {}
        #expect(try folder.files(under: "hub/due").isEmpty)
        #expect(try due(store, later + 9) == [])
        // The same hour may come again.
        try store.enqueueHubMessage(message(3, at: later))
        #expect(try due(store, later) == ["m-3"])
    }

    @Test func `another process's messages are seen, also in an hour that has begun`() throws {
        let folder = try TemporaryFolder()
        let (one, other) = (try folder.open(), try folder.open())
        try other.enqueueHubMessage(message(1, at: later + 100))
        #expect(try one.dueHubMessages(except: [], limit: 9, now: later).next == later + 100)
        let before = one.hubQueueRevision(now: later)
        #expect(one.hubQueueRevision(now: later + 1) == before)
        try other.enqueueHubMessage(message(2, at: later + 50))
        #expect(one.hubQueueRevision(now: later) != before)
        #expect(try one.dueHubMessages(except: [], limit: 9, now: later).next == later + 50)
        #expect(try due(one, later + 50) == ["m-2"])
        #expect(try due(one, later + 100) == ["m-2", "m-1"])
        try other.removeQueuedHubMessages([message(2, at: later + 50)])
        #expect(try due(one, later + 100) == ["m-1"])
    }

    @Test func `a clock that is set back delays what waits, and loses nothing`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        try store.enqueueHubMessage(message(1, at: later))
        #expect(try due(store, later + 5) == ["m-1"])
        #expect(try due(store, noon) == [])
        #expect(try store.hubQueueBacklog(now: noon).messages == 0)
        #expect(try store.dueHubMessages(except: [], limit: 9, now: noon).next == later + -60)
        #expect(try store.hubQueueBacklog(now: later).messages == 1)
        // Nor when it was set forth before, by a year.
        #expect(try due(store, noon + 365 * 86_400) == ["m-1"])
        while try !store.sweep(budget: 9_999, now: later).finishedRound {}
        #expect(try due(store, later) == ["m-1"])
    }

    @Test func `what is scheduled is bounded in bytes and in time, and does not fill the queue`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open {
            ($0.quotas.scheduledBytes, $0.quotas.queueBytes, $0.queueTidyPause) = (20_000, 5_000, .zero)
        }
        let text = String(repeating: "x", count: 900)
        var count = 0
        #expect(throws: StoreError.quotaExceeded) {
            for id in 0..<100 {
                try store.enqueueHubMessage(message(id, at: later + Int64(id) * 3_600, text: text))
                count += 1
            }
        }
        #expect((10...20).contains(count))
        try store.enqueueHubMessage(
            HubMessage(id: "now", document: .string(text), createdAt: noon, expiresAt: nextDay))
        try store.removeQueuedHubMessages((0..<count).map { message($0, at: later + Int64($0) * 3_600) })
        // It is looked through at the time of a message that finds no room.
        var next = message(100, at: nextDay + 86_400, text: text)
        next.createdAt = nextDay
        try store.enqueueHubMessage(next)
        #expect(throws: StoreError.quotaExceeded) {
            try store.enqueueHubMessage(message(101, at: noon + 32 * 86_400))
        }
    }

    @Test func `a line that was moved to another hour by hand counts nowhere, and is named`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        try store.enqueueHubMessage(message(1, at: later))
        let other = "hub/due/2027-01-15T09.jsonl"
        try folder.write(try folder.text(file), to: other)
        try folder.write(try folder.text(file), to: "hub/queue.jsonl")
        #expect(try due(store, later) == ["m-1"])
        let report = try store.verify(now: noon)
        #expect(report.faults.map(\.file).sorted() == [other, "hub/queue.jsonl"])
        // What is no hour is not touched.
        try folder.write("x", to: "hub/due/notes.jsonl")
        #expect(try due(store, later) == ["m-1"])
    }

    @Test func `what was cut short or is broken costs its own message`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.bucketBytes = 500 }
        for id in 1...3 { try store.enqueueHubMessage(message(id, at: later)) }
        var lines = try folder.text(file).split(separator: "\n").map(String.init)
        lines[1] = String(lines[1].dropLast(30))
        try folder.write(lines.joined(separator: "\n") + "\n" + lines[0].prefix(20), to: file)
        #expect(try due(store, later) == ["m-1", "m-3"])
        for id in 4...9 { try store.enqueueHubMessage(message(id, at: later)) }
        #expect(try due(store, later) == ["m-1", "m-3"] + (4...9).map { "m-\($0)" })
        #expect(try folder.text("quarantine/hub-due-2027-01-15T10.jsonl").contains("m-2"))
    }

    // MARK: What it costs

    /// Calls and bytes of an opening, a look, an enqueue and a count.
    private func costs(waiting: Int) throws -> [[Int]] {
        let folder = try TemporaryFolder()
        let nextWeek = noon + 7 * 86_400
        let records = (0..<waiting).map { id in
            StoredRecord.queuedMessage(message(id, at: nextWeek + Int64(id % 7_200)))
        }
        #expect(try folder.open().putRecords(records, now: noon) == waiting)
        try folder.open().enqueueHubMessage(
            HubMessage(id: "now", document: .null, createdAt: noon, expiresAt: nextDay))
        let reads = ReadCount()
        var opened: FileSiteStore?
        // Without the bytes: `indexed.json` holds a number of the file system's.
        var costs = [Array(try reads.during { opened = try folder.open { $0.calls = reads.counting } }.prefix(1))]
        let store = try #require(opened)
        var (found, backlog) = ([String](), QueueBacklog())
        costs.append(try reads.during { found = try due(store, noon) })
        costs.append(
            try reads.during {
                try store.enqueueHubMessage(
                    HubMessage(id: "other", document: .null, createdAt: noon, expiresAt: nextDay))
            })
        costs.append(try reads.during { backlog = try store.hubQueueBacklog(now: noon) })
        costs.append(
            try reads.during { while try !store.sweep(budget: 9_999, now: noon).finishedRound {} })
        #expect(found == ["now"] && backlog.messages == 2)
        if waiting > 0 {
            #expect(try store.dueHubMessages(except: [], limit: 5, now: nextWeek).messages.count == 5)
        }
        return costs
    }

    @Test
    func `100,000 messages that are due next week cost an opening, a look, an enqueue, a count and a sweep nothing`()
        throws
    {
        let without = try costs(waiting: 0)
        #expect(without[1][1] > 0)
        #expect(try costs(waiting: 100_000) == without)
    }

    @Test func `an hour that has begun is read once until something in it is due, or changes`() throws {
        let folder = try TemporaryFolder()
        let reads = ReadCount()
        let store = try folder.open { $0.calls = reads.counting }
        for id in 0..<50 { try store.enqueueHubMessage(message(id, at: later + 600 + Int64(id))) }
        let first = try reads.during { _ = try due(store, later) }
        #expect(first[1] > 0)
        for now in [later, later + 599] {
            var (found, backlog) = (["?"], QueueBacklog(messages: -1))
            let again = try reads.during {
                found = try due(store, now)
                backlog = try store.hubQueueBacklog(now: now)
            }
            #expect(found == [] && backlog.messages == 0 && again == [0, 0])
        }
        #expect(try due(store, later + 600) == ["m-0"])
        #expect(try due(store, later + 601, except: ["m-0"]) == ["m-1"])
    }
}
