// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON
import Store
import Testing

/// What an administrator counts, drops and seals.
@Suite struct TidyingTests {
    private let folder: TemporaryFolder
    private let store: FileStore

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    private func table(_ name: String) throws -> StoreTable { try #require(store.table(name)) }

    private func create(_ payload: String, until end: Timestamp = nextDay) throws -> SecureNotification {
        try store.createNotification(owner: "bob", payload: payload, now: noon, expiresAt: end)
    }

    private var file: String { get throws { try #require(try folder.files(under: "notifications").first) } }

    // MARK: Statistics

    @Test func `each table is counted: what counts, what is over, and what cannot be read`() throws {
        let note = try create("live")
        _ = try create("over", until: noon + 1)
        _ = try store.readNotification(note.id, owner: "bob", now: noon)
        try folder.append("{broken}\n", to: try file)
        try folder.write("lost\nlost\n", to: "quarantine/notifications-00.jsonl")
        _ = try store.putDevice(DeviceRecord(id: "d", owner: "bob", updatedAt: noon + 5))
        let statistics = try store.statistics(now: noon + 1)
        let found = try #require(statistics.tables.first { $0.name == "notifications" })
        #expect(found.files == 1 && found.lines == 4 && found.records == 1 && found.expired == 1)
        #expect(found.opLines == 1 && found.brokenLines == 1 && found.quarantinedLines == 2 && found.inodes == 2)
        #expect(try found.bytes == folder.text(file).utf8.count)
        #expect(try found.largest?.name == file && found.largest?.bytes == found.bytes)
        #expect(found.oldest == noon && found.newest == noon)
        let devices = try #require(statistics.tables.first { $0.name == "devices" })
        #expect(devices.records == 1 && devices.newest == noon + 5)
        #expect(statistics.tables.map(\.name) == store.allTables.map(\.name))
        #expect(statistics.inodes > 20 && statistics.bytes > found.bytes + devices.bytes)
    }

    @Test func `a store that may only be read is counted all the same`() throws {
        _ = try create("p")
        let reading = try folder.open { $0.isReadOnly = true }
        #expect(try reading.statistics(now: noon) == store.statistics(now: noon))
    }

    // MARK: Compaction

    @Test func `what was superseded or is over leaves the disk at once, and what counts stays byte for byte`() throws {
        let live = try create("live")
        _ = try create("over", until: noon + 1)
        _ = try store.readNotification(live.id, owner: "bob", now: noon)
        let lines = try folder.text(file).split(separator: "\n").filter { !$0.contains("over") }
        let report = try store.compact(table("notifications"), now: noon + 1)
        #expect(report.files == 1 && report.rewritten == 1 && report.bytesAfter < report.bytesBefore)
        #expect(try folder.text(file).split(separator: "\n").dropFirst() == lines[...])
        #expect(try store.notification(live.id, owner: "bob", now: noon)?.isRead == true)
        let again = try store.compact(table("notifications"), now: noon + 1)
        #expect(again.rewritten == 0 && again.bytesBefore == report.bytesAfter)
    }

    @Test func `a line that cannot be read goes to quarantine, and is counted there`() throws {
        _ = try create("live")
        try folder.append("{broken}\n", to: try file)
        #expect(try store.compact(table("notifications"), now: noon).rewritten == 1)
        let found = try store.statistics(now: noon).tables.first { $0.name == "notifications" }
        #expect(found?.brokenLines == 0 && found?.quarantinedLines == 1 && found?.records == 1)
    }

    @Test func `files that a lock is held of are passed over and told`() throws {
        _ = try create("over", until: noon + 1)
        let other = try folder.open { $0.lockTimeout = .milliseconds(1) }
        let table = try #require(other.table("notifications"))
        var report = RewriteReport()
        try store.withLockHeld(on: "notifications", in: folder) { report = try other.compact(table, now: noon + 1) }
        #expect(report.busy == 1 && report.rewritten == 0)
        #expect(try store.compact(self.table("notifications"), now: noon + 1).rewritten == 1)
    }

    // MARK: Sealing

    @Test func `edited lines get the right checksum, and every other byte stays`() throws {
        for payload in ["one", "two", "three", "four"] { _ = try create(payload) }
        var lines = try folder.text(file).split(separator: "\n").map(String.init)
        lines[0] = lines[0].replacingOccurrences(of: "one", with: "1")
        // Blanks and a member of an administrator's, a checksum that somebody took away, and an editor for Windows.
        lines[1] =
            "  " + lines[1].dropLast(18).replacingOccurrences(of: ",\"payload\"", with: ", \"note\": 1.50, \"payload\"")
            + "}"
        lines[2] += "\r"
        let edited = (lines + ["{broken}", ""]).joined(separator: "\n")
        try folder.write(edited, to: try file)
        let report = try store.seal(table("notifications"))
        #expect(report.sealedLines == 3 && report.rewritten == 1)
        let sealed = try folder.text(file).split(separator: "\n").map(String.init)
        #expect(sealed[0].dropLast(10) == lines[0].dropLast(10) && sealed[0] != lines[0])
        #expect(sealed[1].dropLast(18) + "}" == lines[1].dropFirst(2))
        #expect(sealed[2] + "\r" == lines[2])
        #expect(sealed[3...] == [lines[3], "{broken}"])
        let report2 = try store.verify(now: noon)
        #expect(report2.editedLines == 0 && report2.faultyLines == 1)
        #expect(try store.seal(table("notifications")).rewritten == 0)
    }

    @Test(arguments: [
        #"{"id":"a","crc":"00000000","passwordHash":"x"}"#, #"{"id":"a","passwordHash":"x","crc":"0"}"#,
        #"{ "id" : "a", "passwordHash": "x" , "crc" : "00000000" }"#, #"{"id":"a","passwordHash":"x","crc":null}"#,
        #"{"id":"a","crc":"1","passwordHash":"x"}"#, #"{"id":"a","passwordHash":"x","z":["\u00e9",1e3]}"#,
        #"{"id":"a","z":",\"crc\":\"0000","passwordHash":"x"}"#, #"{"id":"a","passwordHash":",\"crc\":\"00000000"}"#,
        #"{"crc":"1","id":"a","passwordHash":"x"}"#,
    ])
    func `whatever the checksum looked like, one right one is left`(line: String) throws {
        try folder.write(line, to: "users.jsonl")
        #expect(try store.seal(table("users")).sealedLines == 1)
        let value = try JSONValue(parsing: Array(try folder.text("users.jsonl").utf8))
        let before = try JSONValue(parsing: Array(line.utf8))
        #expect(value.members?.dropLast() == before.members?.filter { $0.name != "crc" }[...])
        #expect(try store.verify(now: noon).editedLines == 0)
        #expect(try store.user("a") != nil)
    }

    @Test func `a last line without its end is a line once it is sealed`() throws {
        try folder.write(#"{"id":"a","passwordHash":"x"}"#, to: "users.jsonl")
        #expect(try store.user("a") == nil)
        _ = try store.seal(table("users"))
        #expect(try store.user("a")?.passwordHash == "x")
    }

    // MARK: Showing

    private func show(_ table: String, _ key: String, secrets: Bool = true) throws -> [JSONValue] {
        let table = try self.table(table)
        var found: [JSONValue] = []
        try store.forEachRecord(of: table, key: key, now: noon) {
            found.append(secrets ? $0 : table.withoutSecrets($0))
        }
        return found
    }

    @Test func `records are shown as they stand: once each, read where they were, without what is over`() throws {
        let note = try create("live")
        _ = try create("over", until: noon)
        _ = try store.readNotification(note.id, owner: "bob", now: noon)
        let shown = try show("notifications", "bob")
        #expect(shown.count == 1 && shown.first?["read"] == .bool(true) && shown.first?["payload"] == .string("live"))
        #expect(shown.first?["crc"] == nil)
        #expect(try show("notifications", "eve") == [])
    }

    @Test func `devices, sessions and registrations are shown by what their indexes know them by, too`() throws {
        for id in ["d-1", "d-2"] { _ = try store.putDevice(DeviceRecord(id: id, owner: "bob", updatedAt: noon)) }
        #expect(try show("devices", "bob").map { $0["id"] } == [.string("d-1"), .string("d-2")])
        #expect(try show("devices", "d-2").count == 1)
        _ = try store.putHubRegistration(
            HubRegistration(id: "r", channel: "C", tags: ["news"], description: .null, updatedAt: noon))
        for key in ["r", "C", "news"] { #expect(try show("hub/registrations", key).count == 1) }
        for id in ["q-1", "q-2"] {
            try store.enqueueHubMessage(
                HubMessage(id: id, document: .string("t"), createdAt: noon, expiresAt: nextDay))
        }
        #expect(try show("hub/queue", "hub").count == 2)
        #expect(try show("hub/queue", "q-2").map { $0["id"] } == [.string("q-2")])
    }

    @Test func `no secret is shown unless it is asked for`() throws {
        var random = RandomRecords(seed: 3)
        for _ in 0..<500 {
            let record = random.next()
            guard try store.putRecords([record], now: Timestamp(seconds: 0)) == 1 else { continue }
        }
        var shown = 0
        for table in store.allTables where !table.isIndex {
            try store.forEachRecord(now: Timestamp(seconds: 0)) { record in
                guard record.table == table.name, let value = try? JSONValue(parsing: record.line) else { return }
                shown += 1
                let open = table.withoutSecrets(value)
                for name in ["passwordHash", "payload", "token", "handle", "channel", "description", "binding", "body"]
                {
                    if value[name] != nil { #expect(open[name] == .string("(hidden)")) }
                }
                if table.name == "hub/queue" { #expect(open["document"] == .string("(hidden)")) }
                #expect(open["id"] == value["id"])
            }
        }
        #expect(shown > 100)
    }
}

extension FileStore {
    /// F_OFD_SETLK of fcntl(2), which Glibc's module does not show.
    private static let setOFDLock: Int32 = 37

    /// Runs `body` while every lock of the table is held, as by another process.
    fileprivate func withLockHeld(
        on table: String, in folder: TemporaryFolder, _ body: () throws -> Void
    ) throws {
        let descriptor = Glibc.open(folder.path + "/lock/" + table, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        try #require(fcntl(descriptor, Self.setOFDLock, &lock) == 0)
        // A child of another test may hold a copy of the descriptor at this moment, so closing ours would not do.
        defer {
            lock.l_type = Int16(F_UNLCK)
            _ = fcntl(descriptor, Self.setOFDLock, &lock)
        }
        try body()
    }
}
