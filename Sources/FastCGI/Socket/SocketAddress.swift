// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A `sockaddr` of the three families that a web server reaches us by.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length = socklen_t(0)

    var family: Int32 { Int32(storage.ss_family) }

    /// The address of a socket file; nil when the path does not fit.
    init?(path: String) {
        let bytes = [UInt8](path.utf8)
        guard bytes.count <= ListenAddress.maximumPathBytes else { return nil }
        store(sockaddr_un()) { address in
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        }
    }

    /// An IPv4 or IPv6 address in digits; nil when it is neither.
    init?(host: String, port: UInt16) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            store(sockaddr_in()) { address in
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr = four
            }
        } else if inet_pton(AF_INET6, host, &six) == 1 {
            store(sockaddr_in6()) { address in
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = port.bigEndian
                address.sin6_addr = six
            }
        } else {
            return nil
        }
    }

    /// The address that a socket is bound to (getsockname); nil when there is none.
    init?(localOf number: Int32) {
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &size) }
        }
        guard result == 0 else { return nil }
        length = size
    }

    /// The TCP port; nil for a socket file.
    var port: UInt16? {
        withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET: UInt16(bigEndian: bytes.loadUnaligned(as: sockaddr_in.self).sin_port)
            case AF_INET6: UInt16(bigEndian: bytes.loadUnaligned(as: sockaddr_in6.self).sin6_port)
            default: nil
            }
        }
    }

    /// Hands the address to bind(2), connect(2).
    mutating func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        let length = length
        return withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    private mutating func store<Address>(_ blank: Address, _ fill: (inout Address) -> Void) {
        var address = blank
        fill(&address)
        length = socklen_t(MemoryLayout<Address>.size)
        withUnsafeMutableBytes(of: &storage) { target in
            withUnsafeBytes(of: &address) { target.copyMemory(from: $0) }
        }
    }
}
