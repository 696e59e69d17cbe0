// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A TCP port of this host that no other process gets as long as this is there, with or without a listener.
///
/// A port that is merely free now may be anybody's a moment later. So a socket stays bound to it that does not listen:
/// the kernel gives such a port neither to bind(2) with port 0 nor to connect(2). A server that is given the number
/// still binds to it, because both sides set SO_REUSEADDR (socket(7)), as nginx, Apache,
/// lighttpd and PostgreSQL do.
package final class LoopbackPort: Sendable {
    package struct Failed: Error { package let code: Int32 }

    package let number: UInt16
    private let descriptor: Int32

    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var (isOn, address): (Int32, sockaddr_in) = (1, sockaddr_in())
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size)) == 0
                    && bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else {
            let code = errno
            close(descriptor)
            throw Failed(code: code)
        }
        self.descriptor = descriptor
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
