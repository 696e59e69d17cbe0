// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

import class System.Lock

/// The server's programs, the newest there are, and the user that they run as: they refuse to run as root.
struct PostgresPrograms: Sendable {
    private static let root = "/usr/lib/postgresql"

    private let folder: String
    /// Nil: this process's own user.
    private let user: (id: uid_t, group: gid_t)?

    init() throws {
        let versions = TextFile.names(in: Self.root).compactMap { Int($0) }.sorted()
        guard let newest = versions.last else {
            throw PostgresServer.Fault(what: "no \(Self.root)/*/bin: script/packages test installs it")
        }
        folder = "\(Self.root)/\(newest)/bin"
        guard geteuid() == 0 else {
            user = nil
            return
        }
        guard let entry = getpwnam("postgres") else { throw PostgresServer.Fault(what: "no user postgres") }
        user = (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }

    func path(_ program: String) -> String { folder + "/" + program }

    /// The folder becomes the server's user's.
    func give(_ folder: String) throws {
        guard let user else { return }
        guard chown(folder, user.id, user.group) == 0 else { throw PostgresServer.Fault(what: "chown") }
    }

    /// setpriv becomes what it starts, so that the child is the server itself.
    func start(_ program: String, _ arguments: [String], output: String) throws -> ChildProcess {
        let environment = ["LC_ALL=C.UTF-8"]
        guard let user else {
            return try ChildProcess(
                path(program), arguments, environment: environment, output: output, errors: output)
        }
        let identity = ["--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups", "--", path(program)]
        return try ChildProcess(
            "/usr/bin/setpriv", identity + arguments, environment: environment, output: output, errors: output)
    }
}

/// The server's main process, which changes when it is started again.
final class ProcessBox: Sendable {
    private let child = Lock<ChildProcess?>(nil)

    var current: ChildProcess? { child.withLock { $0 } }

    func set(_ new: ChildProcess) { child.withLock { $0 = new } }
    func take() -> ChildProcess? { child.withLock { $0.take() } }
}

/// Ends a server and removes its folder when the process that started it has ended: it waits for the end of a pipe that
/// only that process has.
final class Caretaker: Sendable {
    /// Only a process that works in that folder is the server; its number may be another process's by now.
    private static let script = """
        read -r _
        runs() { [ "$(readlink "/proc/$id/cwd")" = "$1/data" ]; }
        if read -r id < "$1/data/postmaster.pid" && runs "$1"; then
            kill -CONT "$id"
            kill -QUIT "$id"
            while runs "$1"; do sleep 0.05; done
        fi
        rm -rf "$1"
        """

    private let pipe: Int32
    private let child: ChildProcess

    init(folder: String) throws {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw PostgresServer.Fault(what: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        pipe = ends[1]
        // In a session of its own: what ends a whole group of processes must not end it.
        let arguments = ["/bin/sh", "-c", Self.script, "caretaker", folder]
        child = try ChildProcess("/usr/bin/setsid", arguments, input: .descriptor(ends[0]))
    }

    /// It is waited for: an exit test's child is not seen to end as long as there is another one that was not reaped.
    deinit {
        close(pipe)
        _ = child.wait(seconds: PostgresServer.seconds)
    }
}

/// Small files.
enum TextFile {
    private static let maximumBytes = 1 << 20

    static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}
