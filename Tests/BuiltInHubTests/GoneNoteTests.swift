// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
import Support
import Testing
import Text

import class System.Lock

@testable import BuiltInHub

/// What the hub says of a registration before it removes it.
@Suite struct GoneNoteTests {
    private let notes = Lock<[String]>([])

    @Test func `a registration is removed once it is noted that the device is gone, and why`() throws {
        let (store, notes) = (MemoryHubStore(), self.notes)
        let bench = DeliveryBench(
            store: store, sender: ScriptedSender(ScriptedSender.status(410)),
            noteGone: { (id, outcome, isSoStill) throws(StoreError) in
                let (isThere, isSo) = (try store.hubRegistration(id.description) != nil, try isSoStill())
                notes.withLock { $0.append("\(id) \(outcome) \(isThere && isSo)") }
            })
        bench.register(1)
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["ExpiredChannel": 1])
        #expect(notes.withLock(\.self) == ["1-1-1 ExpiredChannel true"])
        #expect(try store.hubRegistration("1-1-1") == nil)
    }

    @Test func `a registration stays when that cannot be noted, and goes with a later message`() throws {
        let (store, notes) = (MemoryHubStore(), self.notes)
        let bench = DeliveryBench(
            store: store, sender: ScriptedSender(ScriptedSender.status(410)),
            noteGone: { (id, _, _) throws(StoreError) in
                let isFirst = notes.withLock { notes in
                    notes.append("\(id)")
                    return notes.count == 1
                }
                if isFirst { throw .full }
            })
        bench.register(1)
        bench.start()
        for isThere in [true, false] {
            #expect(try bench.outcomes(bench.send()) == ["ExpiredChannel": 1])
            #expect(try (store.hubRegistration("1-1-1") != nil) == isThere)
        }
        #expect(bench.reports.withLock { $0.contains { $0.hasPrefix("delivery: a dead registration stays") } })
    }

    @Test func `a registration that was renewed meanwhile is not gone`() throws {
        let (store, notes) = (MemoryHubStore(), self.notes)
        let bench = DeliveryBench(
            store: store, sender: ScriptedSender(ScriptedSender.status(410)),
            noteGone: { (id, _, isSoStill) throws(StoreError) in
                if let found = try store.hubRegistration(id.description) { _ = try store.putHubRegistration(found) }
                let isSo = try isSoStill()
                notes.withLock { $0.append("\(isSo)") }
            })
        bench.register(1)
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["ExpiredChannel": 1])
        #expect(try notes.withLock(\.self) == ["false"] && store.hubRegistration("1-1-1") != nil)
    }
}
