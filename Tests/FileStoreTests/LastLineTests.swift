// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Testing

/// A record is its last whole line and the ops behind that, whatever the lines before them say.
struct LastLineTests {
    private func device(_ version: Int, _ platform: String) -> DeviceRecord {
        DeviceRecord(id: "1-1-1", owner: "alice", platform: platform, updatedAt: noon, version: version)
    }

    private func folder() throws -> (TemporaryFolder, FileSiteStore, file: String) {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        for (version, platform) in ["apns", "fcm", "wns"].enumerated() {
            _ = try store.putDevice(device(version, platform))
        }
        return (folder, store, try #require(folder.files(under: "devices").first))
    }

    @Test func `the last line counts, and a broken one leaves the one before it`() throws {
        let (folder, store, file) = try folder()
        #expect(try store.device("1-1-1") == device(3, "wns"))
        let broken = try folder.text(file).replacingOccurrences(of: #""wns""#, with: #""wns"#)
        try folder.write(broken, to: file)
        #expect(try store.device("1-1-1") == device(2, "fcm"))
        try folder.write(broken.replacingOccurrences(of: #""apns""#, with: #""apns"#), to: file)
        #expect(try store.device("1-1-1") == device(2, "fcm"))
    }

    @Test func `a line written by hand counts in its turn, in whatever order its members are`() throws {
        let (folder, store, file) = try folder()
        let line =
            #"{ "owner": "bob", "id": "1-1-1", "platform": "mpns", "handle": "", "tags": [], "version": 9, "#
            + #""updatedAt": "2027-01-15T08:00:00Z" }"#
        try folder.append(line + "\n", to: file)
        #expect(try store.device("1-1-1")?.owner == "bob")
        try folder.append(#"{"id":"1-1-1","op":"unheard-of"}"# + "\n", to: file)
        #expect(try store.device("1-1-1")?.owner == "bob")
        try folder.append(#"{"id":"1-1-1","op":"delete"}"# + "\n", to: file)
        #expect(try store.device("1-1-1") == nil)
        #expect(try store.putDevice(device(0, "apns")).version == 1)
    }
}
