// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON

extension TemporaryFolder {
    /// A store as version 0.1.0 has left it, of format 1: the lines of every table, a bucket that was compacted, one that
    /// was split, and messages that wait.
    static func ofFirstFormat() throws -> TemporaryFolder {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/format-1").path
        let folder = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture) {
            try FileManager.default.copyItem(atPath: fixture + "/" + name, toPath: folder.path + "/" + name)
        }
        return folder
    }

    /// Has `indexed.json` say that the store in this place is no copy.
    func markAsOpened() throws {
        var status = stat()
        guard stat(path + "/store.json", &status) == 0 else { throw CocoaError(.fileNoSuchFile) }
        let changed = status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec
        var json = JSONWriter()
        json.object {
            $0.member("inode", String(status.st_ino))
            $0.member("changed", changed)
        }
        try write(String(decoding: json.bytes, as: UTF8.self), to: "indexed.json")
    }
}
