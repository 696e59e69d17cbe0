// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file system that is mounted for a test, and taken down with the last reference to it.
///
/// script/test gives the tests mounts of their own, so that the kernel takes them down where a test could not.
package final class Mount: Sendable {
    package struct Failed: Error { package let program: String }

    private static let seconds = 20

    /// Whether this process may mount.
    package static let isPossible: Bool = {
        guard getuid() == 0 else { return false }
        var template = Array("/tmp/mount-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return false }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { rmdir(path) }
        return (try? Mount(tmpfs: path, options: "size=1m")) != nil
    }()

    private let path: String

    /// - Parameter options: as of mount(8): `size=6m`, `nr_inodes=200`.
    package init(tmpfs path: String, options: String) throws {
        self.path = path
        try Self.run("/bin/mount", ["-t", "tmpfs", "-o", "mode=0700," + options, "tmpfs", path])
    }

    /// Shows a folder in a second place, or in its own.
    package init(binding source: String, to path: String) throws {
        self.path = path
        try Self.run("/bin/mount", ["--bind", source, path])
    }

    /// - Parameter program: mounts the one path at the other when it is called with both: `bindfs`.
    package init(_ source: String, at path: String, by program: String) throws {
        self.path = path
        try Self.run(program, [source, path])
    }

    /// The kernel refuses it while a file is open for writing, and a child of another test has a copy of every descriptor
    /// until it becomes its program; so it is asked again.
    /// - Parameter isBind: whether only this view becomes so.
    package func makeReadOnly(isBind: Bool = false) throws {
        let arguments = ["-o", "remount,ro" + (isBind ? ",bind" : ""), path]
        guard Deadline.poll(seconds: Self.seconds, { (try? Self.run("/bin/mount", arguments)) != nil }) else {
            throw Failed(program: "/bin/mount")
        }
    }

    /// Lazily: what still uses it ends with its user.
    package func end() throws {
        try Self.run("/bin/umount", ["--lazy", path])
    }

    /// Of one that has ended nothing is left to do.
    deinit {
        try? end()
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let child = try ChildProcess(program, arguments)
        guard let status = child.wait(seconds: seconds) else {
            child.stop(seconds: 0)
            throw Failed(program: program)
        }
        guard status == 0 else { throw Failed(program: program) }
    }
}
