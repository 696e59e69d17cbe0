// SPDX-License-Identifier: Apache-2.0
import JSON
package import Store
import Testing
internal import Text

/// What every `WaitingStore` must do, of each list.
package struct WaitingContract {
    private let store: any WaitingStore

    package init(store: any WaitingStore) { self.store = store }

    package func run() throws {
        for list in WaitingList.allCases {
            try keeps(list)
            try changes(list)
            try finds(list)
            try turns(list)
        }
    }

    private func keeps(_ list: WaitingList) throws {
        #expect(try store.waiting(in: list) == [])
        let (first, second, third) = (entry("e-b", 0), entry("e-a", 1), entry("e-c", 2))
        try store.putWaiting([], in: list)
        try store.putWaiting([first, second], in: list)
        try store.putWaiting([third], in: list)
        #expect(try store.waiting(in: list) == [first, second, third])
        #expect(try store.waiting(in: list, except: ["e-a", "unknown"]) == [first, third])
        // Each is there once, as it was put last.
        var again = second
        again.document = .string("tried once\u{0}\n")
        try store.putWaiting([again], in: list)
        #expect(try store.waiting(in: list, except: ["e-b", "e-c"]) == [again])
        try store.removeWaiting([], from: list)
        try store.removeWaiting(["e-b", "e-c", "unknown"], from: list)
        #expect(try store.waiting(in: list) == [again])
        // The lists are apart.
        for other in WaitingList.allCases where other != list { #expect(try store.waiting(in: other) == []) }
        try store.removeWaiting(["e-a"], from: list)
        #expect(try store.waiting(in: list) == [])
    }

    /// An entry changes as long as it is as it was seen, and of two changes one succeeds.
    private func changes(_ list: WaitingList) throws {
        let entry = entry("e", 0)
        #expect(try !store.changeWaiting(entry, to: nil, in: list))
        try store.putWaiting([entry], in: list)
        var begun = entry
        begun.document = .object([JSONValue.Member("begun", .bool(true)), JSONValue.Member("n", .number("7"))])
        #expect(try store.changeWaiting(entry, to: begun, in: list))
        #expect(try !store.changeWaiting(entry, to: begun, in: list))
        #expect(try !store.changeWaiting(entry, to: nil, in: list))
        #expect(try store.waiting(in: list) == [begun])
        #expect(try store.changeWaiting(begun, to: nil, in: list))
        #expect(try !store.changeWaiting(begun, to: entry, in: list))
        #expect(try store.waiting(in: list) == [])
    }

    /// Of one owner, what says of none, and by the id.
    private func finds(_ list: WaitingList) throws {
        let all = [
            entry("e-1", 0, of: "alice"), entry("e-2", 1, of: "bob"), entry("e-3", 2), entry("e-4", 3, of: "alice"),
        ]
        for entry in all { try store.putWaiting([entry], in: list) }
        #expect(try store.waiting(in: list, of: "alice") == [all[0], all[2], all[3]])
        #expect(try store.waiting(in: list, of: "carol") == [all[2]])
        #expect(try store.waitingEntry("e-2", in: list) == all[1])
        #expect(try store.waitingEntry("e-5", in: list) == nil)
        var changed = all[0]
        changed.document = .string("changed")
        #expect(try store.changeWaiting(all[0], to: changed, in: list))
        #expect(try store.waitingEntry("e-1", in: list) == changed)
        #expect(try store.waiting(in: list, of: "alice") == [changed, all[2], all[3]])
        try store.removeWaiting(all.map(\.id), from: list)
        #expect(try store.waiting(in: list, of: "alice") == [])
        #expect(try store.waitingEntry("e-1", in: list) == nil)
    }

    private func entry(_ id: String, _ seconds: Int64, of owner: String? = nil) -> HubMessage {
        HubMessage(id: id, owner: owner, document: .string("new"), createdAt: noon + seconds, expiresAt: nextDay)
    }

    private func turns(_ list: WaitingList) throws {
        let turn = try #require(try store.acquireLease(of: list))
        #expect(turn.renew())
        #expect(try store.acquireLease(of: list) == nil)
        // The lists' turns are apart.
        for other in WaitingList.allCases where other != list {
            try #require(try store.acquireLease(of: other)).release()
        }
        turn.release()
        try #require(try store.acquireLease(of: list)).release()
    }
}
