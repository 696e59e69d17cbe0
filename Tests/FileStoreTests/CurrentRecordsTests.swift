// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import Store
import Testing

@testable import FileStore

/// Which records a file holds, told from the beginnings of its lines as from all of them.
@Suite struct CurrentRecordsTests {
    private let store: FileSiteStore
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    private func sent(_ id: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","owner":"bob","expiresAt":"2027-01-15T08:00:00Z"\#(more)}"#
    }

    /// What was read of the file, by key and as a whole, without and with the parsing of every line.
    private func read(_ lines: [String]) -> [CurrentRecords] {
        let content = BucketContent(
            bytes: Array(lines.map { $0 + "\n" }.joined().utf8), name: "sent/00.jsonl",
            identity: FileIdentity(stat()))
        return [
            CurrentRecords(content, store.sentTable, key: "bob"), CurrentRecords(content, store.sentTable),
            CurrentRecords(content, store.sentTable, parsingAll: true),
        ]
    }

    private func ids(_ records: CurrentRecords) -> [String] {
        records.inOrder.filter { records.line(of: $0) != nil }.map(\.name.idText)
    }

    @Test func `a record is where its newest line is, and goes with its removal`() {
        let removal = #"{"id":"a","op":"delete","owner":"bob"}"#
        for records in read([sent("a"), sent("b"), sent("a"), sent("c"), removal, sent("d"), sent("b")]) {
            #expect(ids(records) == ["c", "d", "b"] && records.count == 3)
            #expect(records.hasRemovals)
        }
        for records in read([sent("a"), removal, sent("a")]) { #expect(ids(records) == ["a"]) }
    }

    @Test func `a broken line leaves the one before it, and is named where all lines are parsed`() {
        let broken = #"{"id":"a","owner":"bob","expiresAt":7}"#
        let all = read([sent("a", #","note":1"#), broken, #"{"id":"b","owner":"bob","#])
        for records in all {
            #expect(ids(records) == ["a"])
            #expect(records.inOrder.first.flatMap { records.line(of: $0)?.value["note"]?.integer } == 1)
        }
        #expect(all.map(\.broken.count) == [0, 0, 2])
    }

    @Test func `a line counts in its turn in whatever form it is, and is the same record`() {
        let byHand = #"{ "owner" : "bob", "expiresAt": "2027-01-15T08:00:00Z", "id": "a", "note": 2 }"#
        let escaped = #"{"id":"\u0061","owner":"b\u006fb","expiresAt":"2027-01-15T08:00:00Z","note":3}"#
        for (lines, note) in [([sent("a"), byHand], 2), ([byHand, escaped], 3), ([escaped, sent("a")], nil as Int?)] {
            for records in read(lines) {
                #expect(ids(records) == ["a"])
                let record = records.record(id: .string("a"), key: "bob")
                #expect(record.flatMap { records.value(of: $0)?["note"]?.integer } == note)
                #expect(record.flatMap { records.value(of: $0)?["crc"] } == nil)
            }
        }
    }

    @Test func `names that only look alike, or need escapes, are told apart`() {
        for records in read([sent("caf\u{E9}"), sent("cafe\u{301}"), sent(#"q\"q"#), sent(#"q\\q"#)]) {
            #expect(records.count == 4)
            #expect(Set(ids(records).map { Array($0.utf8) }).count == 4)
            #expect(ids(records).suffix(2) == ["q\"q", "q\\q"])
        }
    }

    @Test func `an op belongs to the line before it, the first of a name`() throws {
        let note = try store.createNotification(
            owner: "bob", sender: "", payload: "p", now: noon, expiresAt: nextDay)
        _ = try store.readNotification(note.id, owner: "bob", now: noon)
        let file = try #require(try folder.files(under: "notifications").first)
        try folder.append(#"{"id":\#(note.id),"op":"unheard-of","owner":"bob","x":1}"# + "\n", to: file)
        try folder.append(#"{"id":\#(note.id),"op":"unheard-of","owner":"bob","x":2}"# + "\n", to: file)
        let table = store.notificationTable
        let records = CurrentRecords(try table.read("bob"), table, key: "bob")
        let record = try #require(records.inOrder.first)
        #expect(record.ops.map(\.name) == ["read", "unheard-of"])
        #expect(records.value(of: record)?["read"] == .bool(true))
        try folder.append(String(decoding: note.line, as: UTF8.self), to: file)
        let again = CurrentRecords(try table.read("bob"), table, key: "bob")
        #expect(again.inOrder.map(\.ops.count) == [0])
    }

    @Test func `a broken line does not hide what was done to the record before it`() throws {
        let note = try store.createNotification(
            owner: "bob", sender: "", payload: "p", now: noon, expiresAt: nextDay)
        _ = try store.readNotification(note.id, owner: "bob", now: noon)
        let file = try #require(try folder.files(under: "notifications").first)
        let broken = String(decoding: note.line, as: UTF8.self).replacing(#""payload":"p""#, with: #""payload":p"#)
        try folder.append(broken, to: file)
        var exported: [StoredRecord] = []
        try store.forEachRecord(now: noon) { exported.append($0) }
        var read = note
        read.isRead = true
        #expect(exported == [.notification(read)])
    }
}
