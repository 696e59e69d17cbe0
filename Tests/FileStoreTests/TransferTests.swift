// SPDX-License-Identifier: Apache-2.0
import FileStore
import JSON
import Store
import StoreContract
import Support
import Testing
import Text

/// Records on their way from one store to another, and their lines.
@Suite struct TransferTests {
    @Test(arguments: [128 << 10, 700])
    func `the file store keeps the contract of transfers, whatever its buckets' size`(bucketBytes: Int) throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let stores = try folders.map { folder in
            try folder.open { ($0.bucketBytes, $0.quotas.notificationsPerOwner) = (bucketBytes, 5) }
        }
        try TransferContract(source: stores[0], target: stores[1]).runAll()
        #expect(try stores[1].verify(now: noon).isWhole)
        #expect(try stores[1].verify(now: noon).editedLines == 0)
    }

    @Test func `what is moved file by file has all its index lines, and is not moved twice`() throws {
        let (from, to) = (try TemporaryFolder(), try TemporaryFolder())
        let source = try from.open { $0.bucketBytes = 1_500 }
        let settled = try SettledRecords(source)
        var records: [StoredRecord] = []
        try source.forEachRecord(now: noon) { records.append($0) }
        let target = try to.open { $0.bucketBytes = 1_500 }
        var count = 0
        for start in stride(from: 0, to: records.count, by: 50) {
            count += try target.putRecords(Array(records[start..<min(start + 50, records.count)]), now: noon)
        }
        #expect(count == records.count)
        #expect(try target.verify(now: noon).missingIndexLines == [:])
        #expect(try target.putRecords(records, now: noon) == 0)
        #expect(try settled.faults(in: target) == [])
    }

    @Test func `a line that is broken does not hold its name against a record that comes`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        _ = try store.putUser(User(name: "alice", passwordHash: "x"))
        let text = try folder.text("users.jsonl").replacingOccurrences(of: #""version":1"#, with: #""version":}"#)
        try folder.write(text, to: "users.jsonl")
        let user = User(name: "alice", passwordHash: "y", version: 7)
        #expect(try store.putRecords([.user(user)], now: noon) == 1)
        #expect(try store.user("alice") == user)
    }

    @Test func `an older line holds the name of a record whose newest line is broken, and a removed one holds none`()
        throws
    {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let old = try store.putUser(User(name: "alice", passwordHash: "old"))
        try folder.append(#"{"id":"alice","passwordHash":}"# + "\n", to: "users.jsonl")
        let new = User(name: "alice", passwordHash: "new", version: 7)
        #expect(try store.putRecords([.user(new)], now: noon) == 0)
        #expect(try store.user("alice") == old)
        _ = try store.removeUser("alice")
        #expect(try store.putRecords([.user(new)], now: noon) == 1)
        #expect(try store.user("alice") == new)
    }

    @Test func `a record whose time is over does not hold its name against one that comes`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let old = Session(id: "s", owner: "alice", binding: "b", createdAt: noon, expiresAt: noon + 1)
        try store.createSession(old, now: noon)
        var new = old
        new.expiresAt = nextDay
        #expect(try store.putRecords([.session(new)], now: noon + 1) == 1)
        #expect(try store.session("s", now: noon + 1) == new)
    }

    // MARK: Lines

    @Test func `whatever a record holds, its line gives it back`() throws {
        var random = RandomRecords(seed: 20_261_121)
        var tables: Set<String> = []
        for _ in 0..<4_000 {
            let record = random.next()
            tables.insert(record.table)
            let line = record.line
            #expect(line.count { $0 == 0x0A } == 1 && line.last == 0x0A)
            let again = try read(line)
            #expect(again == record && again.line == line)
        }
        #expect(tables.count == 13)
    }

    @Test func `a line that was hurt is refused or is another record, and never stops the reader`() throws {
        var random = RandomRecords(seed: 7)
        var refused = 0
        for _ in 0..<4_000 {
            var line = random.next().line
            let place = Int.random(in: 0..<line.count - 1, using: &random.numbers)
            line[place] = UInt8.random(in: .min ... .max, using: &random.numbers)
            do { _ = try read(line) } catch { refused += 1 }
        }
        #expect(refused > 1_000)
    }

    @Test(arguments: [
        "", "7", "{}", #"{"table":7}"#, #"{"table":"nothing","id":"x"}"#, #"{"table":"users","id":"x"}"#,
        #"{"table":"owners","id":"x","owner":"y"}"#,
    ])
    func `what is no record of a table is refused`(line: String) {
        #expect(throws: ExportFault.self) { try read(Array(line.utf8)) }
    }

    @Test(arguments: [
        StoredRecord.user(User(name: "u", passwordHash: "", version: .max - 1)),
        .device(DeviceRecord(id: "d", owner: "u", updatedAt: noon, version: StoredRecord.maximumVersion + 1)),
        .hubRegistration(
            HubRegistration(
                id: "r", channel: "c", tags: [], description: .null, updatedAt: noon,
                version: StoredRecord.maximumVersion + 1)),
    ])
    func `a record that could hardly be changed again is refused`(record: StoredRecord) {
        #expect(throws: ExportFault.self) { try read(record.line) }
    }

    private func read(_ line: [UInt8]) throws -> StoredRecord {
        try line.withUnsafeBufferPointer { try StoredRecord(line: $0) }
    }

    // MARK: Exports

    private static let header = ExportWriter().header(version: "1", now: noon)
    private static let user = User(name: "alice", passwordHash: "x", version: 1)

    private func read(_ lines: [[UInt8]]) throws -> ExportReader {
        var reader = ExportReader()
        for line in lines { _ = try line.dropLast().withUnsafeBufferPointer { try reader.read($0) } }
        return reader
    }

    @Test func `a whole export ends, and counts`() throws {
        var writer = ExportWriter()
        let lines = [Self.header, writer.line(.user(Self.user)), writer.trailer]
        let reader = try read(lines)
        #expect(reader.hasEnded && reader.counts == ["users": 1])
        #expect(try !read(lines.dropLast()).hasEnded)
    }

    @Test func `an export that lost, or won, a line in its middle is refused at its end`() throws {
        var writer = ExportWriter()
        let line = writer.line(.user(Self.user))
        #expect(throws: ExportFault.self) { try read([Self.header, writer.trailer]) }
        #expect(throws: ExportFault.self) { try read([Self.header, line, line, writer.trailer]) }
        #expect(throws: ExportFault.self) { try read([Self.header, line, writer.trailer, line]) }
    }

    @Test(arguments: [
        #"{"table":"users","id":"alice","passwordHash":"x"}"#, #"{"export":"app-backend","format":2}"#,
        #"{"export":"end","records":0,"tables":{}}"#, "[]",
    ])
    func `what does not begin as an export of this format is refused`(line: String) {
        #expect(throws: ExportFault.self) { try read([Array(line.utf8) + [0x0A]]) }
    }
}
