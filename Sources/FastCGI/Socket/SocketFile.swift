// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The file of a unix socket of our own, known by device and inode, so that another process's file is never removed.
struct SocketFile: Sendable {
    /// Only owner and group may connect, because a peer may claim to be any client.
    static let mode: mode_t = 0o660

    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Binds a new socket file. One that a dead process left behind is replaced; one that answers is not.
    /// - Throws: `ListenError.inUse`, `.notASocket`, or `.system`.
    static func listen(at path: String, backlog: Int32) throws(ListenError) -> (Descriptor, SocketFile) {
        guard var address = SocketAddress(path: path) else { throw .badAddress(path) }
        try removeStale(path, &address)
        let descriptor = try Listener.newSocket(AF_UNIX)
        guard address.call({ bind(descriptor.number, $0, $1) }) == 0 else {
            if errno == EADDRINUSE { throw .inUse(path) }
            throw .system("\(path): \(numberedErrorText())")
        }
        // Before listen(2) no client can connect, so the mode is right from the first connection on.
        guard chmod(path, mode) == 0, Glibc.listen(descriptor.number, backlog) == 0, let status = status(of: path)
        else { throw .system("\(path): \(numberedErrorText())") }
        return (descriptor, SocketFile(path: path, device: status.st_dev, inode: status.st_ino))
    }

    /// Removes the file if it is still the one that was bound.
    func removeIfOurs() {
        guard let now = Self.status(of: path), now.st_dev == device, now.st_ino == inode else { return }
        unlink(path)
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    private static func removeStale(_ path: String, _ address: inout SocketAddress) throws(ListenError) {
        guard let existing = status(of: path) else { return }
        guard existing.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path) }
        let probe = try Listener.newSocket(AF_UNIX)
        // Not blocking: a live server whose backlog is full is still a live server.
        _ = fcntl(probe.number, F_SETFL, O_NONBLOCK)
        guard address.call({ connect(probe.number, $0, $1) }) != 0, errno == ECONNREFUSED else { throw .inUse(path) }
        guard unlink(path) == 0 || errno == ENOENT else { throw .system("\(path): \(numberedErrorText())") }
    }
}
