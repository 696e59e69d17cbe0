// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What these tests do with sockets themselves.
enum LoopbackSocket {
    struct Failed: Error { let code: Int32 }

    /// Whether a process accepts connections at that path.
    static func answers(_ path: String) -> Bool {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(number) }
        return withAddress(path) { connect(number, $0, $1) } == 0
    }

    /// Connects until no more are taken.
    /// - Returns: the connections, which are the caller's to close.
    static func fill(_ path: String) -> [Int32] {
        var connections: [Int32] = []
        while true {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let number = socket(AF_UNIX, kind, 0)
            guard number >= 0, withAddress(path, { connect(number, $0, $1) }) == 0 else {
                close(number)
                return connections
            }
            connections.append(number)
        }
    }

    /// Whether a process accepts connections at that port.
    static func answers(port: UInt16) -> Bool {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(number) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        } == 0
    }

    /// A listening socket as systemd makes one: it outlives the processes that it is handed to.
    /// - Parameter backlog: connections that may wait, and one.
    static func listen(at path: String, backlog: Int32 = 1024) throws -> Int32 {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard withAddress(path, { bind(number, $0, $1) }) == 0, Glibc.listen(number, backlog) == 0 else {
            let code = errno
            close(number)
            throw Failed(code: code)
        }
        return number
    }

    /// A socket for datagrams, as systemd's for its services.
    static func datagrams(at path: String) throws -> Int32 {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard withAddress(path, { bind(number, $0, $1) }) == 0 else {
            let code = errno
            close(number)
            throw Failed(code: code)
        }
        return number
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
