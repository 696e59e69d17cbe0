// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import System

/// A listening socket. It is never `shutdown()`: it may be shared with systemd and with sibling processes, and for them
/// too that would be the end.
package final class Listener: Sendable {
    /// Connections that wait in the kernel until they are accepted.
    static let backlog: Int32 = 1024
    /// Microseconds that accept(2) waits at most, where another process has made the socket blocking.
    private static let longestAccept = 100_000

    let descriptor: Descriptor
    /// For the log: `descriptor 3`, `/run/app.sock`, `127.0.0.1:9000`.
    package let description: String
    /// The port of a TCP socket of our own; what port 0 became.
    package let port: UInt16?
    /// Whether it is a port, to which every process of the host can connect; Nagle's algorithm is switched off on its
    /// connections.
    package let isTCP: Bool
    private let socketFile: SocketFile?

    init(
        _ descriptor: Descriptor, description: String, port: UInt16? = nil, isTCP: Bool = false,
        socketFile: SocketFile? = nil
    ) {
        self.descriptor = descriptor
        self.description = description
        self.port = port
        self.isTCP = isTCP
        self.socketFile = socketFile
    }

    deinit {
        unlinkSocket()
    }

    /// Removes the socket file, if it is our own, so that a successor can have its place at once. What already waits in
    /// the kernel stays until the descriptor is closed.
    func unlinkSocket() {
        socketFile?.removeIfOurs()
    }

    /// Takes or opens the socket.
    /// - Throws: `ListenError`, naming what the operator should change.
    package static func open(_ address: ListenAddress) throws(ListenError) -> Listener {
        let listener =
            switch address {
            case .inherited: try inherited()
            case .unix(let path): try unix(path)
            case .tcp(let host, let port): try tcp(host, port)
            }
        let number = listener.descriptor.number
        guard listener.ensureNonBlocking(), fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else { throw .system("fcntl: \(numberedErrorText())") }
        var limit = timeval(tv_sec: 0, tv_usec: longestAccept)
        guard setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size)) == 0
        else { throw .system("setsockopt: \(numberedErrorText())") }
        return listener
    }

    /// Before each round of accept(2), which must not block: several processes may wait for one connection, and the
    /// loser has other things to do.
    ///
    /// Once is not enough. The mode is one for all who hold the socket, and systemd makes it blocking again for every
    /// process that it gives it as standard input (systemd.exec(5), `StandardInput=socket`), the commands of a reload too.
    /// Where that happens between this call and accept(2), `longestAccept` ends the wait.
    @discardableResult func ensureNonBlocking() -> Bool {
        let mode = fcntl(descriptor.number, F_GETFL)
        guard mode >= 0 else { return false }
        return mode & O_NONBLOCK != 0 || fcntl(descriptor.number, F_SETFL, mode | O_NONBLOCK) == 0
    }

    /// systemd's first descriptor when it is meant for this process (sd_listen_fds), else standard input.
    private static func inherited() throws(ListenError) -> Listener {
        let number: Int32 = isSystemdSocket() ? 3 : 0
        guard option(number, SO_ACCEPTCONN) == 1 else { throw .nothingInherited }
        let family = option(number, SO_DOMAIN)
        return Listener(
            Descriptor(owning: number), description: number == 0 ? "standard input" : "descriptor 3",
            isTCP: family == AF_INET || family == AF_INET6)
    }

    private static func isSystemdSocket() -> Bool {
        guard let process = getenv("LISTEN_PID"), let count = getenv("LISTEN_FDS") else { return false }
        return Int32(String(cString: process)) == getpid() && (Int32(String(cString: count)) ?? 0) >= 1
    }

    static func option(_ number: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(number, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    private static func unix(_ path: String) throws(ListenError) -> Listener {
        let (descriptor, file) = try SocketFile.listen(at: path, backlog: backlog)
        return Listener(descriptor, description: path, socketFile: file)
    }

    private static func tcp(_ host: String, _ port: UInt16) throws(ListenError) -> Listener {
        guard var address = SocketAddress(host: host, port: port) else { throw .badAddress("\(host):\(port)") }
        let descriptor = try newSocket(address.family)
        var on: Int32 = 1
        setsockopt(descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard address.call({ bind(descriptor.number, $0, $1) }) == 0, Glibc.listen(descriptor.number, backlog) == 0
        else {
            if errno == EADDRINUSE { throw .inUse("\(host):\(port)") }
            throw .system("\(host):\(port): \(numberedErrorText())")
        }
        let bound = SocketAddress(localOf: descriptor.number)?.port ?? port
        let shown = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(bound)" : "\(host):\(bound)"
        return Listener(descriptor, description: shown, port: bound, isTCP: true)
    }

    static func newSocket(_ family: Int32) throws(ListenError) -> Descriptor {
        let number = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .system("socket: \(numberedErrorText())") }
        return Descriptor(owning: number)
    }
}
