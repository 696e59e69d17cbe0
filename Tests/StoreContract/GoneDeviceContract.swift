// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing
internal import Text

/// What every store must do with devices that are gone.
package struct GoneDeviceContract {
    private let store: any SiteStore

    package init(store: any SiteStore) { self.store = store }

    package func run() throws {
        try note()
        try find()
        try sweep()
        try finish()
    }

    private func note() throws {
        let made = try store.putDevice(
            DeviceRecord(id: "g1", owner: "gina", platform: "apns", handle: "AB", updatedAt: noon))
        for reason in ["NotFound", "ExpiredChannel"] {
            // The clock was set back.
            try store.noteGone("g1", reason: reason, now: noon + -9)
        }
        let gone = try #require(try store.device("g1"))
        #expect(
            gone.gone == DeviceRecord.Gone(at: noon, reason: "NotFound") && gone.version == made.version + 1
                && !gone.isLive)
        // Nothing is noted of what was registered again meanwhile, and of an id that is not used, or not there.
        var again = gone
        (again.gone, again.updatedAt) = (nil, noon + 9)
        again = try store.putDevice(again)
        let unused = try store.putDevice(DeviceRecord(id: "g2", owner: "gina", updatedAt: noon))
        try store.noteGone("g1", reason: "NotFound", now: noon, if: { false })
        for id in ["g2", "g3"] { try store.noteGone(id, reason: "NotFound", now: noon) }
        #expect(try store.devices(owner: "gina") == [again, unused])
    }

    /// By owner and handle, for as long as they are gone.
    private func find() throws {
        for (id, owner, handle) in [("f1", "fay", "A"), ("f2", "fay", "B"), ("f3", "fay", "A"), ("f4", "finn", "A")] {
            _ = try store.putDevice(
                DeviceRecord(id: id, owner: owner, platform: "apns", handle: handle, updatedAt: noon))
            if id != "f3" { try store.noteGone(id, reason: "ExpiredChannel", now: noon) }
        }
        func found(_ handle: String = "A") throws -> [String] {
            try store.goneDevices(owner: "fay", handle: handle).map(\.id)
        }
        #expect(try found() == ["f1"] && found("B") == ["f2"] && found("C") == [] && found("a") == [])
        try store.noteGone("f3", reason: "ExpiredChannel", now: noon)
        #expect(try found() == ["f1", "f3"])
        var again = try #require(try store.device("f1"))
        (again.gone, again.updatedAt) = (nil, noon + 1)
        _ = try store.putDevice(again)
        #expect(try found() == ["f3"])
        let last = try #require(try store.device("f3"))
        #expect(try store.removeDevice(last.id, version: last.version) && found() == [])
    }

    private func sweep() throws {
        for id in ["gone", "live", "renewed"] {
            var device = DeviceRecord(id: id, owner: "dan", platform: "apns", handle: "AB", updatedAt: noon)
            if id != "live" { device.gone = DeviceRecord.Gone(at: noon, reason: "ExpiredChannel") }
            // A version that knows no gone devices keeps the note in a record that it renews.
            if id == "renewed" { device.updatedAt = noon + 1 }
            _ = try store.putDevice(device)
        }
        func left(at time: Timestamp) throws -> [String] {
            try tidy(at: time)
            return try store.devices(owner: "dan").map(\.id)
        }
        #expect(try left(at: noon + DeviceRecord.goneSeconds + -1) == ["gone", "live", "renewed"])
        #expect(try left(at: noon + DeviceRecord.goneSeconds) == ["live", "renewed"])
        #expect(try store.device("renewed")?.isLive == true)
    }

    /// The hub of the store still has a registration whose device was called gone by a process that has ended.
    private func finish() throws {
        for id in ["killed", "done", "again"] {
            _ = try store.putHubRegistration(
                HubRegistration(id: id, channel: "C", tags: ["kim"], description: .object([]), updatedAt: noon))
            _ = try store.putDevice(
                DeviceRecord(id: id, owner: "kim", platform: "apns", handle: "C", updatedAt: noon))
            try store.noteGone(id, reason: "ExpiredChannel", now: noon, isAtHub: true)
        }
        #expect(try store.removeHubRegistration("done", version: nil))
        try store.noteRemoved("done")
        var again = try #require(try store.device("again"))
        (again.gone, again.updatedAt) = (nil, noon + 1)
        again = try store.putDevice(again)
        try store.noteRemoved("again")
        func left(at time: Timestamp) throws -> (registrations: [String], pending: [String]) {
            try tidy(at: time)
            return (
                try store.hubRegistrations(tag: "kim", after: nil, limit: 9).elements.map(\.id),
                try store.devices(owner: "kim").filter(\.needsReconciliation).map(\.id)
            )
        }
        // Such a process may still be at it.
        #expect(try left(at: noon + DeviceRecord.removalSeconds + -1) == (["again", "killed"], ["again", "killed"]))
        #expect(try left(at: noon + DeviceRecord.removalSeconds) == (["again"], ["again"]))
        #expect(try store.hubRegistration("killed") == nil)
        #expect(try store.hubRegistrations(channel: "C").map(\.id) == ["again"])
        #expect(try store.device("killed")?.isGone == true && store.device("again") == again)
        try tidy(at: noon + DeviceRecord.goneSeconds)
        #expect(try store.devices(owner: "kim") == [again])
    }

    private func tidy(at time: Timestamp) throws {
        while try !store.sweep(budget: 1_000, now: time).finishedRound {}
    }
}
