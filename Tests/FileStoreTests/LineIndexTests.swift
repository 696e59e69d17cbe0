// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Support
import Testing
import Text

/// What a process remembers of where lines are says the same as the files.
@Suite struct LineIndexTests {
    private func device(_ id: Int, _ platform: String, version: Int = 0, owner: String = "alice") -> DeviceRecord {
        DeviceRecord(id: "d-\(id)", owner: owner, platform: platform, updatedAt: noon, version: version)
    }

    @Test func `whatever is written, by whom ever, a reader with an index finds what one without it finds`() throws {
        let folder = try TemporaryFolder()
        let open = { (bytes: Int) in
            try folder.open {
                ($0.bucketBytes, $0.indexedFileBytes, $0.quotas.devicesPerOwner) = (2_000, bytes, .max)
            }
        }
        let (indexed, plain, other) = (try open(0), try open(.max), try open(0))
        var random = SeededRandom(seed: 7)
        for _ in 0..<1_000 {
            let id = Int.random(in: 0..<40, using: &random)
            let writer = [indexed, other, plain][Int.random(in: 0..<3, using: &random)]
            let current = try plain.device("d-\(id)")
            #expect(try indexed.device("d-\(id)") == current)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: if let current { _ = try writer.removeDevice(current.id, version: current.version) }
            case 1: try edit(id, of: folder, using: &random)
            case 2: _ = try writer.sweep(budget: 40, now: noon)
            default:
                let owner = "owner-\(Int.random(in: 0..<9, using: &random))"
                _ = try writer.putDevice(
                    device(
                        id, "p\(Int.random(in: 0..<9, using: &random))", version: current?.version ?? 0, owner: owner))
            }
            let owner = "owner-\(Int.random(in: 0..<9, using: &random))"
            #expect(try indexed.devices(owner: owner) == plain.devices(owner: owner))
        }
        #expect(try indexed.verify(now: noon).missingIndexLines == [:])
    }

    /// As a person does: a value in place, a line in other words, a line that is not whole.
    private func edit(_ id: Int, of folder: TemporaryFolder, using random: inout SeededRandom) throws {
        for file in try folder.files(under: "devices") {
            let text = try folder.text(file)
            guard text.contains("\"d-\(id)\"") else { continue }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try folder.write(text.replacing("\"platform\":\"p", with: "\"platform\":\"q"), to: file)
            case 1: try folder.write(text.replacing("{\"id\":\"d-\(id)\"", with: "{ \"id\":\"d-\(id)\""), to: file)
            default: try folder.append("{\"id\":\"d-\(id)\",\"own", to: file)
            }
        }
    }

    @Test func `a record of a bucket that was read before costs its own line`() throws {
        let folder = try TemporaryFolder()
        let reads = ReadCount()
        let store = try folder.open {
            ($0.calls, $0.quotas.notificationsPerOwner) = (reads.counting, .max)
        }
        let ids = try (0..<200).map { _ in
            try store.createNotification(
                owner: "alice", sender: "", payload: "secret", now: noon, expiresAt: nextDay
            ).id
        }
        let (first, other) = (try #require(ids.first), try #require(ids.dropFirst(100).first))
        for _ in 0..<2 { _ = try store.notification(first, owner: "alice", now: noon) }
        let size = try folder.text(try #require(folder.files(under: "notifications").first)).utf8.count
        var found: SecureNotification?
        let cost = try reads.during { found = try store.notification(other, owner: "alice", now: noon) }
        #expect(found?.id == other && cost[0] == 1 && cost[1] < size / 20)
        let absent = try reads.during { found = try store.notification(0, owner: "alice", now: noon) }
        #expect(found == nil && absent == [0, 0])
    }

    @Test func `a line in another form is found beside those of our own, and a broken one leaves the one before`()
        throws
    {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        _ = try store.putDevice(device(1, "apns"))
        for _ in 0..<3 { #expect(try store.device("d-1")?.platform == "apns") }
        let file = try #require(folder.files(under: "devices").first)
        try folder.append(
            #"{ "id": "d-1", "owner": "alice", "platform": "fcm", "handle": "", "tags": [], "#
                + #""updatedAt": "2026-12-21T00:00:00Z", "version": 5 }"# + "\n", to: file)
        for _ in 0..<3 { #expect(try store.device("d-1")?.version == 5) }
        try folder.append(#"{"id":"d-1","owner":"al"# + "\n", to: file)
        for _ in 0..<3 { #expect(try store.device("d-1")?.version == 5) }
        try folder.append(#"{"id":"d-1","op":"delete"}"# + "\n", to: file)
        for _ in 0..<3 { #expect(try store.device("d-1") == nil) }
    }
}
