// SPDX-License-Identifier: Apache-2.0
import Foundation
import Processes
import Testing

/// Calls of mount(8) and its like.
private enum Mount {
    static let seconds = 20

    static func run(_ program: String, _ arguments: [String]) throws -> Bool {
        let child = try ChildProcess(program, arguments)
        let status = child.wait(seconds: seconds)
        if status == nil { child.stop(seconds: 0) }
        return status == 0
    }

    /// Lazily: what still uses it ends with its user.
    static func take(down path: String) {
        _ = try? run("/bin/umount", ["--lazy", path])
    }
}

/// A tmpfs of 6 MiB, mounted for one test.
final class SmallDisk: Sendable {
    let folder: TemporaryFolder

    static let isPossible: Bool = {
        guard getuid() == 0, let disk = try? SmallDisk() else { return false }
        return FileManager.default.fileExists(atPath: disk.folder.path)
    }()

    /// - Parameter inodes: how many names it has room for; nil: more than bytes.
    init(inodes: Int? = nil) throws {
        folder = try TemporaryFolder()
        let limit = inodes.map { ",nr_inodes=\($0)" } ?? ""
        try #require(
            try Mount.run(
                "/bin/mount", ["-t", "tmpfs", "-o", "size=6m,mode=0700" + limit, "tmpfs", folder.path]))
    }

    func makeReadOnly() throws {
        try #require(try Mount.run("/bin/mount", ["-o", "remount,ro", folder.path]))
    }

    deinit {
        Mount.take(down: folder.path)
    }
}

/// A folder that a program shows in a second place, mounted for one test.
final class UserSpaceDisk: Sendable {
    private let source: TemporaryFolder
    private let target: TemporaryFolder

    static let isPossible: Bool = {
        guard getuid() == 0, access("/usr/bin/bindfs", X_OK) == 0, let disk = try? UserSpaceDisk() else { return false }
        return FileManager.default.fileExists(atPath: disk.path)
    }()

    var path: String { target.path }

    init() throws {
        (source, target) = (try TemporaryFolder(), try TemporaryFolder())
        try #require(try Mount.run("/usr/bin/bindfs", [source.path, target.path]))
    }

    deinit {
        Mount.take(down: target.path)
    }
}
