// SPDX-License-Identifier: Apache-2.0
import FileStore
import Store
import Testing

/// What an operator reads of the store.
@Suite struct EventTests {
    static let events: [(event: StoreEvent, weight: StoreEvent.Weight)] = [
        (.editedLine(file: "users.jsonl", line: 7), .note), (.reindexed(lines: 3), .note),
        (.compacted(file: "users.jsonl", bytesBefore: 9, bytesAfter: 3), .detail),
        (.split(file: "users.jsonl"), .detail),
        (.brokenLine(file: "users.jsonl", line: 7, reason: "no \"id\""), .trouble),
        (.quarantined(file: "users.jsonl", lines: 3), .trouble), (.tidyingFailed(file: "users.jsonl", .full), .trouble),
        (.unwritable(file: "users.jsonl", reason: "Disk quota exceeded"), .trouble),
        (.remoteFileSystem(kind: "NFS"), .trouble), (.poisoned(file: "users.jsonl", reason: "I/O error"), .failure),
    ]

    @Test(arguments: events.indices) func `an event is a sentence of its own, and has its weight`(_ row: Int) throws {
        let (event, weight) = Self.events[row]
        #expect(event.weight == weight)
        let name = try #require(Mirror(reflecting: event).children.first?.label)
        #expect(!"\(event)".contains(name) && "\(event)".contains(" "))
    }

    @Test func `the health of a store that cannot be written says beforehand what it would throw`() {
        #expect(StoreHealth.writable.trouble == nil)
        #expect(StoreHealth.readOnly.trouble == .readOnly)
        #expect(StoreHealth.poisoned.trouble == .poisoned)
        #expect(StoreHealth.unavailable.trouble == .unavailable(detail: "it does not answer"))
    }
}
