// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Support

/// A tmpfs of 6 MiB, mounted for one test.
final class SmallDisk: Sendable {
    let folder: TemporaryFolder
    private let mount: Mount

    /// - Parameter inodes: how many names it has room for; nil: more than bytes.
    init(inodes: Int? = nil) throws {
        folder = try TemporaryFolder()
        mount = try Mount(tmpfs: folder.path, options: "size=6m" + (inodes.map { ",nr_inodes=\($0)" } ?? ""))
    }

    func makeReadOnly() throws {
        try mount.makeReadOnly()
    }
}

/// A folder that a program shows in a second place, mounted for one test.
final class UserSpaceDisk: Sendable {
    private static let program = "/usr/bin/bindfs"

    static let isPossible: Bool = Mount.isPossible && access(program, X_OK) == 0 && (try? UserSpaceDisk()) != nil

    private let source: TemporaryFolder
    private let target: TemporaryFolder
    private let mount: Mount

    var path: String { target.path }

    init() throws {
        (source, target) = (try TemporaryFolder(), try TemporaryFolder())
        mount = try Mount(source.path, at: target.path, by: Self.program)
    }
}
