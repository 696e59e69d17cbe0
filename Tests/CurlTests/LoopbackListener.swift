// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// A listening socket on a free loopback port. Its backlog lets peers connect; it never answers them.
final class LoopbackListener: Sendable {
    let descriptor: Int32
    let port: UInt16

    struct Failed: Error { let code: Int32 }

    init() throws {
        (descriptor, port) = try Self.bound()
        guard listen(descriptor, 128) == 0 else { throw Failed(code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Waits for a connection that the kernel has already accepted into the backlog, and takes it.
    /// - Returns: -1, when none comes, or the listener was shut down.
    func accept() -> Int32 {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, Int32(Patience.seconds * 1_000)) == 1 else { return -1 }
        // Not handed down to a child that another test starts at this moment: it would keep the connection open.
        return platform_accept(descriptor)
    }

    /// What has come over the connections that were not accepted yet, each of which the client has closed.
    func arrivals() -> [String] {
        var texts: [String] = []
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, 0) == 1 {
            let connection = HTTPConnection(platform_accept(descriptor))
            texts.append(connection.readToEnd())
        }
        return texts
    }

    /// A socket that is bound to a loopback port of the kernel's choice.
    private static func bound() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else {
            let code = errno
            close(descriptor)
            throw Failed(code: code)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
