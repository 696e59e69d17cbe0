// SPDX-License-Identifier: Apache-2.0
import Foundation
import NotificationHub
import Store
import Support
import Testing
import Text

import class System.Lock

@testable import BuiltInHub

/// What the hub says of a registration before it removes it.
@Suite final class GoneNoteTests {
    private let notes = Lock<[String]>([])
    private let path = NSTemporaryDirectory() + "/gone-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }

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

    @Test(arguments: SitePlace.allCases)
    func `a registration whose process ended before it was removed goes with the sweep`(place: SitePlace) throws {
        let (store, now) = (try place.open(path), Timestamp(seconds: HubBench.now))
        let device = DeviceRecord(
            id: "1-1-1", owner: "alice", platform: "browser", handle: "https://push", updatedAt: now)
        _ = try store.putDevice(device)
        let bench = DeliveryBench(
            store: store, sender: ScriptedSender(ScriptedSender.status(410)),
            noteGone: { (id, outcome, isSoStill) throws(StoreError) in
                try store.noteGone(id.description, reason: "\(outcome)", now: now, isAtHub: true, if: isSoStill)
                // Here the process ends.
                throw .full
            })
        bench.register(1)
        bench.start()
        #expect(try bench.outcomes(bench.send()) == ["ExpiredChannel": 1])
        #expect(try store.device(device.id)?.isGone == true && store.hubRegistration(device.id) != nil)
        while try !store.sweep(budget: 1_000, now: now + DeviceRecord.removalSeconds).finishedRound {}
        #expect(try store.hubRegistration(device.id) == nil)
        let left = try #require(try store.device(device.id))
        #expect(left.isGone && !left.needsReconciliation)
    }
}
