// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A listening socket on a free loopback port. Its backlog lets peers connect; nobody ever answers them.
final class LoopbackListener: Sendable {
    let descriptor: Int32
    let port: UInt16

    struct Failed: Error { let code: Int32 }

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(code: errno) }
        var address = Self.address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = self.descriptor
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard bound else { throw Failed(code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Waits for a connection that the kernel has already accepted into the backlog, and takes it.
    func accept() -> Int32 {
        Glibc.accept(descriptor, nil, nil)
    }

    static func freePort() throws -> UInt16 {
        try LoopbackListener().port
    }

    static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
