// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The sockets that were opened for libcurl, and whether a connection is still open. The transfer thread's own.
///
/// libcurl says by its local port which connection a request goes over, and closes sockets without telling us; so the
/// numbers here may be closed by now, or be those of something else.
final class OpenSockets {
    private var numbers: Set<Int32> = []
    /// Numbers above this are looked through for those that are none any more.
    private static let maximumNumbers = 4 * CurlOptions.maximumIdleConnections

    /// `POLLRDHUP`, which Glibc's module does not show.
    private static let peerHungUp: Int16 = 0x2000

    func add(_ number: Int32) {
        if numbers.count >= Self.maximumNumbers { numbers = numbers.filter { Self.localPort(of: $0) != nil } }
        numbers.insert(number)
    }

    /// Whether there is a connection from that port of ours that neither side has ended.
    func isConnected(from localPort: Int32) -> Bool {
        numbers = numbers.filter { Self.localPort(of: $0) != nil }
        guard let number = numbers.first(where: { Self.localPort(of: $0) == localPort }) else { return false }
        // poll(2) tells of a hang-up or an error in any case; POLLRDHUP is the peer's half of it.
        var asked = pollfd(fd: number, events: Self.peerHungUp, revents: 0)
        return poll(&asked, 1, 0) == 0
    }

    /// The port that a socket is bound to; nil for what is no socket of the internet.
    private static func localPort(of number: Int32) -> Int32? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                getsockname(number, base, &length) == 0
            else { return nil }
            // The port stands behind the family, in network order, in both families.
            switch Int32(base.pointee.sa_family) {
            case AF_INET, AF_INET6:
                return Int32(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            default: return nil
            }
        }
    }
}
