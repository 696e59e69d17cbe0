// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Synchronization
import Testing
import Text

import class System.Lock

/// Indexes that have lost lines, and getting them back.
@Suite struct IndexTests {
    private func register(_ store: FileSiteStore, _ id: String, tags: [String] = ["news"]) throws {
        let registration = HubRegistration(
            id: id, channel: "channel-\(id)", tags: tags, description: .null, updatedAt: noon)
        _ = try store.putHubRegistration(registration)
        _ = try store.putDevice(DeviceRecord(id: id, owner: "alice", updatedAt: noon))
    }

    private func forget(_ index: String, in folder: TemporaryFolder) throws {
        for file in try folder.files(under: index) { try folder.write("", to: file) }
    }

    private func idsTagged(_ tag: String, in store: FileSiteStore) throws -> [String] {
        try store.hubRegistrations(tag: tag, after: nil, limit: .max).elements.map(\.id)
    }

    @Test func `an undamaged store is whole`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        try register(store, "r")
        let tables = Lock<[String]>([])
        let report = try store.verify(now: noon) { table in tables.withLock { $0.append(table) } }
        #expect(report.isWhole && !report.isUnopenedCopy)
        // A registration with its channel and its tag, a device with its owner.
        #expect(report.lines == 5)
        #expect(report.missingIndexLines == [:] && report.cutLines == 0)
        #expect(tables.withLock { $0.contains("users") && $0.contains("hub/queue") })
    }

    @Test func `an index line that cannot be read is missing, and comes back`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        try register(store, "r")
        let file = try #require(try folder.files(under: "hub/tags").first)
        // The quotation mark behind the checksum is gone.
        try folder.write(try folder.text(file).replacing("\"}\n", with: "}\n"), to: file)
        #expect(try store.verify(now: noon).missingIndexLines == ["hub/tags": 1])
        #expect(try store.reindex(now: noon) == 1)
        #expect(try store.verify(now: noon).missingIndexLines == [:])
        #expect(try idsTagged("news", in: store) == ["r"])
    }

    @Test func `gone devices that an earlier version has marked are listed by their handle with the next sweep`() throws
    {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        _ = try store.putDevice(DeviceRecord(id: "d", owner: "alice", platform: "apns", handle: "AB", updatedAt: noon))
        try store.noteGone("d", reason: "ExpiredChannel", now: noon)
        try forget("hub/channels", in: folder)
        #expect(try store.goneDevices(owner: "alice", handle: "AB") == [])
        while try !store.sweep(budget: 1_000, now: noon).finishedRound {}
        #expect(try store.goneDevices(owner: "alice", handle: "AB").map(\.id) == ["d"])
        #expect(try store.verify(now: noon).isWhole)
    }

    @Test func `gone devices are found without reading the owner's other devices`() throws {
        let folder = try TemporaryFolder()
        let reads = ReadCount()
        let store = try folder.open { $0.calls = reads.counting }
        for number in 0..<80 {
            _ = try store.putDevice(
                DeviceRecord(
                    id: "d\(number)", owner: "alice", platform: "apns", handle: "\(number)", updatedAt: noon))
        }
        try store.noteGone("d7", reason: "ExpiredChannel", now: noon)
        var found: [DeviceRecord] = []
        let cost = try reads.during { found = try store.goneDevices(owner: "alice", handle: "7") }
        #expect(found.map(\.id) == ["d7"] && cost[0] < 10, "\(cost)")
    }

    @Test func `a verification reads little more where much of an index is missing`() throws {
        let folder = try TemporaryFolder()
        let reads = ReadCount()
        let store = try folder.open {
            ($0.quotas.devicesPerOwner, $0.calls) = (.max, reads.counting)
        }
        for index in 0..<200 { try register(store, "r-\(index)") }
        let whole = try reads.during { _ = try store.verify(now: noon) }
        for index in ["hub/tags", "hub/channels", "owners"] { try forget(index, in: folder) }
        var report: StoreReport?
        let hurt = try reads.during { report = try store.verify(now: noon) }
        #expect(report?.missingIndexLines == ["hub/tags": 200, "hub/channels": 200, "owners": 200])
        // The files of records are read once to be looked at, once for each index, and twice for what it lacks.
        #expect(hurt[0] < 8 * whole[0])
    }

    @Test func `a send looks into no file in which none of its registrations lie`() throws {
        let folder = try TemporaryFolder()
        let writer = try folder.open {
            $0.quotas.devicesPerOwner = .max
        }
        for index in 0..<400 { try register(writer, "r-\(index)", tags: [index % 200 == 0 ? "few" : "tag-\(index)"]) }
        let wanted = ["\"r-0\"", "\"r-200\"", "\"few\""]
        var kept = 0
        for file in try folder.files(under: "hub") {
            let text = try folder.text(file)
            if wanted.contains(where: text.contains) {
                kept += 1
            } else {
                // Larger than any file of ours; a call that reads it fails.
                #expect(truncate(folder.path + "/" + file, 1 << 30) == 0)
            }
        }
        // A channel, a registration and a tag each, and what is in one file with them.
        #expect(kept <= 5)
        let store = try folder.open { $0.isReadOnly = true }
        let found = Lock<[String]>([])
        try store.forEachHubRegistration(tag: "few") { registration in found.withLock { $0.append(registration.id) } }
        #expect(found.withLock { $0.sorted() } == ["r-0", "r-200"])
        #expect(throws: StoreError.self) { try store.hubRegistrations(after: nil, limit: 1_000) }
    }

    @Test func `what an index has lost is counted, and comes back`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        for id in ["a", "b", "c"] { try register(store, id) }
        for index in ["owners", "hub/tags", "hub/channels"] { try forget(index, in: folder) }
        #expect(try idsTagged("news", in: store) == [])
        let hurt = try store.verify(now: noon)
        #expect(!hurt.isWhole && hurt.missingIndexLines == ["owners": 3, "hub/tags": 3, "hub/channels": 3])
        #expect(try store.reindex(now: noon) == 9)
        #expect(try store.reindex(now: noon) == 0)
        #expect(try idsTagged("news", in: store) == ["a", "b", "c"])
        #expect(try store.hubRegistrations(channel: "channel-b").map(\.id) == ["b"])
        #expect(try store.devices(owner: "alice").count == 3)
        #expect(try store.verify(now: noon).isWhole)
    }

    @Test func `also of many records in many files, all of it comes back`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open {
            ($0.bucketBytes, $0.quotas.devicesPerOwner) = (700, .max)
        }
        for index in 0..<300 { try register(store, "r-\(index)", tags: ["all", "tag-\(index % 60)"]) }
        for index in ["owners", "hub/tags", "hub/channels"] { try forget(index, in: folder) }
        #expect(try store.reindex(now: noon) == 300 * 4)
        #expect(try idsTagged("all", in: store).count == 300)
        for index in 0..<60 { #expect(try idsTagged("tag-\(index)", in: store).count == 5) }
        #expect(try store.verify(now: noon).missingIndexLines == [:])
    }

    @Test func `a removed record does not come back, and a hint that leads nowhere does no harm`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        try register(store, "r")
        let index = try #require(try folder.files(under: "hub/tags").first)
        let line = try folder.text(index)
        _ = try store.removeHubRegistration("r", version: nil)
        try folder.append(line, to: index)
        #expect(try store.verify(now: noon).isWhole)
        #expect(try store.reindex(now: noon) == 0)
        #expect(try idsTagged("news", in: store) == [])
    }

    @Test func `names that only look alike are listed apart`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        try register(store, "one", tags: ["caf\u{E9}"])
        try register(store, "two", tags: ["cafe\u{301}"])
        try forget("hub/tags", in: folder)
        #expect(try store.reindex(now: noon) == 2)
        #expect(try idsTagged("caf\u{E9}", in: store) == ["one"])
        #expect(try idsTagged("cafe\u{301}", in: store) == ["two"])
    }

    @Test func `a session that is about to end is not looked for in its index`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        for (id, end) in [("short", noon + 60), ("long", nextDay)] {
            let session = Session(id: id, owner: "alice", binding: "b", createdAt: noon, expiresAt: end)
            try store.createSession(session, now: noon)
        }
        try forget("session-owners", in: folder)
        #expect(try store.verify(now: noon).missingIndexLines == ["session-owners": 1])
        #expect(try store.reindex(now: noon) == 1)
        #expect(try store.removeSessions(owner: "alice") == 1)
    }

    @Test func `while others write, nothing is called missing that is not, and nothing gets lost`() throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<3).map { _ in
            try folder.open {
                ($0.bucketBytes, $0.quotas.devicesPerOwner) = (1_000, .max)
            }
        }
        let failures = Lock<[String]>([])
        let isDone = Atomic(false)
        let group = DispatchGroup()
        for writer in 0..<2 {
            DispatchQueue(label: "writer-\(writer)").async(group: group) {
                do {
                    for index in 0..<150 {
                        try register(stores[writer], "\(writer)-\(index)", tags: ["all", "tag-\(index % 7)"])
                        if index % 3 == 0 {
                            _ = try stores[writer].removeHubRegistration("\(writer)-\(index)", version: nil)
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        group.notify(queue: DispatchQueue(label: "done")) { isDone.store(true, ordering: .releasing) }
        while !isDone.load(ordering: .acquiring) {
            #expect(try stores[2].verify(now: noon).missingIndexLines == [:])
            try stores[2].reindex(now: noon)
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try idsTagged("all", in: stores[2]).count == 200)
        #expect(try stores[2].devices(owner: "alice").count == 300)
    }
}
