// SPDX-License-Identifier: Apache-2.0
import Foundation
import Store
import Testing

/// What a person changes in records, beside others who write.
@Suite struct EditTests {
    private let folder: TemporaryFolder
    private let store: FileStore

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    private func begin(_ table: String, _ key: String) throws -> RecordEdit {
        let table = try #require(store.table(table))
        return try #require(try store.edit(table, key: key, now: noon))
    }

    private func text(_ edit: RecordEdit) -> String { String(decoding: edit.text, as: UTF8.self) }

    /// Replaces a text as an editor would, and puts the outcome back.
    private func change(_ edit: RecordEdit, _ old: String, _ new: String) throws {
        let text = text(edit)
        try #require(text.contains(old))
        let (changes, faults) = edit.changes(in: Array(text.replacingOccurrences(of: old, with: new).utf8))
        #expect(faults == [])
        try store.apply(changes, of: edit)
    }

    @Test func `a user who is edited has the next version, a checksum, and what nobody knows`() throws {
        var user = try store.putUser(User(name: "alice", passwordHash: "x", tags: ["news"]))
        let line = try folder.text("users.jsonl").replacingOccurrences(
            of: #""version""#, with: #""note":"by hand","version""#)
        try folder.write(line, to: "users.jsonl")
        try change(begin("users", "alice"), "news", "sports")
        user.tags = ["sports"]
        user.version = 2
        #expect(try store.user("alice") == user)
        let last = try #require(try folder.text("users.jsonl").split(separator: "\n").last)
        #expect(last.contains(#""note":"by hand""#))
        #expect(try store.verify(now: noon).editedLines == 1)
        #expect(throws: StoreError.conflict) {
            try store.putUser(User(name: "alice", passwordHash: "y", version: 1))
        }
    }

    @Test func `a record that somebody changed meanwhile is not overwritten, nor is any other`() throws {
        let note = try store.createNotification(owner: "bob", payload: "one", now: noon, expiresAt: nextDay)
        _ = try store.createNotification(owner: "bob", payload: "two", now: noon, expiresAt: nextDay)
        let edit = try begin("notifications", "bob")
        _ = try store.readNotification(note.id, owner: "bob", now: noon)
        let changed = text(edit).replacingOccurrences(of: "one", with: "1").replacingOccurrences(of: "two", with: "2")
        #expect(throws: StoreError.conflict) {
            try store.apply(edit.changes(in: Array(changed.utf8)).changes, of: edit)
        }
        let payloads = try store.wholeNotifications(owner: "bob", now: noon)
        #expect(Set(payloads.map(\.payload)) == ["one", "two"])
    }

    @Test func `what others wrote beside the edited record stays`() throws {
        _ = try store.createNotification(owner: "bob", payload: "one", now: noon, expiresAt: nextDay)
        let second = try store.createNotification(owner: "bob", payload: "two", now: noon, expiresAt: nextDay)
        let edit = try begin("notifications", "bob")
        _ = try store.readNotification(second.id, owner: "bob", now: noon)
        _ = try store.createNotification(owner: "bob", payload: "three", now: noon, expiresAt: nextDay)
        try change(edit, "one", "1")
        let all = try store.wholeNotifications(owner: "bob", now: noon)
        #expect(Set(all.map(\.payload)) == ["1", "two", "three"])
        #expect(all.first { $0.payload == "two" }?.isRead == true)
    }

    @Test func `what was read before it was edited is read afterwards`() throws {
        let note = try store.createNotification(owner: "bob", payload: "one", now: noon, expiresAt: nextDay)
        _ = try store.readNotification(note.id, owner: "bob", now: noon)
        try change(begin("notifications", "bob"), "one", "1")
        let found = try #require(try store.notification(note.id, owner: "bob", now: noon))
        #expect(found.payload == "1" && found.isRead && found.token == note.token)
        try change(begin("notifications", "bob"), #","read":true"#, "")
        #expect(try store.notification(note.id, owner: "bob", now: noon)?.isRead == false)
    }

    @Test func `the indexes follow a device to its new owner, and a registration to its new tags`() throws {
        _ = try store.putDevice(DeviceRecord(id: "d", owner: "alice", updatedAt: noon))
        try change(begin("devices", "d"), "alice", "bob")
        #expect(try store.devices(owner: "alice") == [])
        #expect(try store.devices(owner: "bob").map(\.version) == [2])
        _ = try store.putHubRegistration(
            HubRegistration(id: "r", channel: "C", tags: ["news", "all"], description: .null, updatedAt: noon))
        try change(begin("hub/registrations", "r"), "news", "sports")
        #expect(try store.hubRegistrations(tag: "news", after: nil, limit: 9).elements == [])
        for tag in ["sports", "all"] {
            #expect(try store.hubRegistrations(tag: tag, after: nil, limit: 9).elements.map(\.id) == ["r"])
        }
        let report = try store.verify(now: noon)
        #expect(report.isWhole && report.strayIndexLines == [:] && report.missingIndexLines == [:])
    }

    @Test func `a line that is removed removes its record, and a new one adds one`() throws {
        let notes = try (1...2).map {
            try store.createNotification(owner: "bob", payload: "p\($0)", now: noon, expiresAt: nextDay)
        }
        let edit = try begin("notifications", "bob")
        let kept = try #require(text(edit).split(separator: "\n").first { $0.contains("p2") })
        let new = kept.replacingOccurrences(of: "\"id\":\(notes[1].id)", with: "\"id\":7")
        let (changes, faults) = edit.changes(in: Array("# a comment\n\n\(kept)\r\n\(new)".utf8))
        #expect(faults == [] && changes.count == 2)
        try store.apply(changes, of: edit)
        let ids = try store.notifications(owner: "bob", unreadOnly: false, after: nil, limit: 9, now: noon).map(\.id)
        #expect(Set(ids) == [7, notes[1].id])
        let device = try store.putDevice(DeviceRecord(id: "d", owner: "alice", updatedAt: noon))
        let removal = try begin("devices", "d")
        try store.apply(removal.changes(in: []).changes, of: removal)
        #expect(try store.device("d") == nil && store.devices(owner: "alice") == [])
        #expect(try store.putDevice(DeviceRecord(id: "d", owner: "alice", updatedAt: noon)).version > device.version)
    }

    @Test(arguments: [
        (#"{"id":7}"#, #"no text in "owner""#), ("[", "not JSON"), ("7", #"no "id""#),
        (#"{"id":7,"owner":"bob"}"#, "a member is missing"), (#"{"id":7,"op":"read","owner":"bob"}"#, #""op""#),
        (#"{"id":7,"owner":"eve"}"#, "a member is missing"), ("SAME", "the same"),
    ])
    func `a line that is no such record is named, and nothing is changed`(line: String, reason: String) throws {
        _ = try store.createNotification(owner: "bob", payload: "p", now: noon, expiresAt: nextDay)
        let edit = try begin("notifications", "bob")
        let same = text(edit).split(separator: "\n").joined()
        let (changes, faults) = edit.changes(in: Array((text(edit) + "\n" + (line == "SAME" ? same : line)).utf8))
        #expect(changes.isEmpty && faults.map(\.line) == [3])
        #expect(faults.first?.reason.contains(reason) == true)
    }

    @Test func `a record cannot be moved to another owner where the owner decides on the file`() throws {
        _ = try store.createNotification(owner: "bob", payload: "p", now: noon, expiresAt: nextDay)
        let edit = try begin("notifications", "bob")
        let (_, faults) = edit.changes(in: Array(text(edit).replacingOccurrences(of: "bob", with: "eve").utf8))
        #expect(faults.map(\.line) == [1])
    }

    @Test func `the queue is edited by whoever has the turn to deliver it`() throws {
        for id in ["q-1", "q-2"] {
            try store.enqueueHubMessage(
                HubMessage(id: id, document: .string("text"), createdAt: noon, expiresAt: nextDay))
        }
        let turn = try #require(try store.takeHubQueueTurn())
        #expect(throws: StoreError.busy(retryAfterSeconds: 1)) { try begin("hub/queue", "q-1") }
        turn.end()
        let edit = try begin("hub/queue", "q-1")
        #expect(try store.takeHubQueueTurn() == nil)
        try store.apply(edit.changes(in: []).changes, of: edit)
        #expect(try store.queuedHubMessages(except: [], limit: 9).map(\.id) == ["q-2"])
    }

    @Test func `an index is not edited`() throws {
        let index = try #require(store.table("owners"))
        let edit = try store.edit(index, key: "alice", now: noon)
        #expect(edit == nil)
    }
}
