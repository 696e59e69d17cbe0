// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import JSON
import Store
import Support
import Testing

/// One store and more than one version of this program.
@Suite struct VersionTests {
    @Test func `a store of the first version opens, and all that is in it is read`() throws {
        let log = EventLog()
        let folder = try TemporaryFolder.ofFirstFormat()
        let store = try folder.open { $0.onEvent = { log.append($0) } }
        #expect(try store.verify(now: noon).isWhole)
        #expect(log.all == [.migrated(from: 1, to: 3)])
        #expect(try store.users().map(\.name) == ["alice", "bob"] + (0..<8).map { "user-\($0)" })
        #expect(try store.user("alice")?.tags == ["news", "weather-*"])
        let notes = try store.wholeNotifications(owner: "alice", now: noon)
        #expect(notes.allSatisfy { $0.sender.isEmpty })
        #expect(notes.map(\.payload) == ["unread", "read"] && notes.map(\.isRead) == [false, true])
        #expect(try store.devices(owner: "alice").map(\.id) == ["1-1", "2-2"])
        #expect(try store.hubRegistration("1-1")?.version == 3)
        #expect(try store.hubRegistrations(channel: "AB01").map(\.id) == ["1-1"])
        #expect(try store.hubRegistrations(tag: "news", after: nil, limit: 9).elements.map(\.id) == ["1-1", "2-2"])
        #expect(try store.session("0123", now: noon)?.owner == "alice")
        #expect(try store.hasSent("m-1", owner: "alice", now: noon))
        #expect(try store.hubMessage("m-1", now: noon)?.document == .string("sent"))
        #expect(try store.queuedHubMessages(except: [], limit: 9).map(\.id) == ["m-3"])
    }

    @Test func `a store of the first version is written on`() throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        let store = try folder.open()
        var alice = try #require(try store.user("alice"))
        alice.passwordHash = "new"
        #expect(try store.putUser(alice).version == 2)
        var registration = try #require(try store.hubRegistration("1-1"))
        registration.tags = ["sports"]
        #expect(try store.putHubRegistration(registration).version == 4)
        #expect(try store.hubRegistrations(tag: "news", after: nil, limit: 9).elements.map(\.id) == ["2-2"])
        #expect(try store.verify(now: noon).isWhole)
    }

    @Test func `the store of a newer version is refused by its name, with what to do`() throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"format":4,"salt":"000102030405060708090a0b0c0d0e0f"}"#, to: "store.json")
        let detail =
            "store.json: format 4 is that of another version of this program; this one knows formats 1 to 3. "
            + "Run the version that wrote it, and move the site to this one by its export and an import"
        #expect(throws: StoreError.damaged(detail: detail)) { try folder.open() }
        #expect(try folder.text("store.json").contains("4"))
    }

    @Test func `members of a newer version stay when an older one changes the record`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        _ = try store.putUser(User(name: "alice", passwordHash: "x"))
        _ = try store.putDevice(DeviceRecord(id: "d", owner: "alice", installationID: "i", alias: "a", updatedAt: noon))
        _ = try store.putHubRegistration(
            HubRegistration(id: "r", channel: "c", tags: [], description: .null, updatedAt: noon))
        for table in ["users.jsonl", "devices", "hub/registrations"] { try addMember(to: table, in: folder) }
        _ = try store.putUser(User(name: "alice", passwordHash: "y", version: 1))
        _ = try store.putDevice(DeviceRecord(id: "d", owner: "bob", updatedAt: noon, version: 1))
        _ = try store.putHubRegistration(
            HubRegistration(id: "r", channel: "c2", tags: [], description: .null, updatedAt: noon, version: 1))
        for table in ["users.jsonl", "devices", "hub/registrations"] {
            let last = try #require(try text(table, in: folder).split(separator: "\n").last)
            let line = try JSONValue(parsing: Array(last.utf8))
            #expect(line["later"] == .object([.init("by", .array([.string("root")]))]))
            // What this version knows and left out, it meant to leave out; and each member is there once.
            #expect(line["installationId"] == nil && line["alias"] == nil)
            let names = line.members?.map(\.name) ?? []
            #expect(Set(names).count == names.count && names.last == "crc")
        }
        #expect(try store.verify(now: noon).editedLines == 3)
    }

    private func addMember(to table: String, in folder: TemporaryFolder) throws {
        let file = try file(table, in: folder)
        let text = try folder.text(file)
        try folder.write(text.replacing(#","version":"#, with: #","later":{"by":["root"]},"version":"#), to: file)
    }

    private func text(_ table: String, in folder: TemporaryFolder) throws -> String {
        try folder.text(file(table, in: folder))
    }

    private func file(_ table: String, in folder: TemporaryFolder) throws -> String {
        table.hasSuffix(".jsonl") ? table : try #require(try folder.files(under: table).first)
    }
}
