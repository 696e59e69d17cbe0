// SPDX-License-Identifier: Apache-2.0
import FileStore
import JSON
import Store
import Support
import Testing

/// What an entry of a long list costs: nothing but its own line.
@Suite struct WaitingTests {
    private func entry(_ number: Int) -> HubMessage {
        HubMessage(
            id: "e-\(number)", owner: "user-\(number % 100)", document: .string(String(repeating: "x", count: 900)),
            createdAt: noon, expiresAt: nextDay)
    }

    @Test func `an entry that is looked for, changed or taken away costs its own line`() throws {
        let folder = try TemporaryFolder()
        let reads = ReadCount()
        let store = try folder.open { $0.calls = reads.counting }
        for number in 0..<1_000 { try store.putWaiting([entry(number)], in: .sends) }
        let other = try folder.open()
        // The file is read once, and then what others have added.
        #expect(try store.waitingEntry("e-7", in: .sends) == entry(7))
        try other.putWaiting([entry(1_000)], in: .sends)
        let cost = try reads.during { () throws in
            #expect(try store.waitingEntry("e-1000", in: .sends) == entry(1_000))
            #expect(try store.waitingEntry("unknown", in: .sends) == nil)
            #expect(try store.waiting(in: .sends, of: "user-7").map(\.id) == (0..<10).map { "e-\($0 * 100 + 7)" })
            #expect(try store.changeWaiting(entry(500), to: nil, in: .sends))
            #expect(try store.waitingEntry("e-500", in: .sends) == nil)
        }
        // 1.1 MB are in the file.
        #expect(cost[1] < 30_000)
    }

    @Test func `an entry whose last line is broken is as the line before says`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        var (first, second) = (entry(1), entry(1))
        (first.document, second.document) = (.string("first"), .string("second"))
        try store.putWaiting([first], in: .sends)
        try store.putWaiting([second], in: .sends)
        let lines = try folder.text("scheduled.jsonl").split(separator: "\n").map(String.init)
        let broken = String(lines.last?.dropLast(9) ?? "")
        try folder.write((lines.dropLast() + [broken, ""]).joined(separator: "\n"), to: "scheduled.jsonl")
        #expect(try store.waitingEntry("e-1", in: .sends) == first)
        #expect(try store.waiting(in: .sends, of: "user-1") == [first])
        #expect(try store.changeWaiting(first, to: nil, in: .sends))
        #expect(try store.waiting(in: .sends) == [])
    }
}
