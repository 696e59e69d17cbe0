// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An address of version 4 or 6, as a number.
package enum IPAddress: Equatable, Sendable {
    case v4(UInt32)
    case v6(UInt128)

    /// Whether it is one of the public Internet: none of this host, of a private network, of a group, or of a kind that
    /// carries another address in it, where a gateway would decide where the packets end.
    ///
    /// After the IANA registries of special-purpose addresses (RFC 6890, with its successors); where they call a block
    /// half public, it is not public here.
    package var isPublic: Bool {
        switch self {
        case .v4(let bits): !Self.specialV4.contains { $0.contains(bits) }
        case .v6(let bits): Self.globalUnicast.contains(bits) && !Self.specialV6.contains { $0.contains(bits) }
        }
    }

    /// A block of addresses that begin with the same bits.
    private struct Block<Bits: FixedWidthInteger & Sendable>: Sendable {
        let first: Bits
        let length: Int

        func contains(_ address: Bits) -> Bool { (address ^ first) >> (Bits.bitWidth - length) == 0 }
    }

    private static func v4(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ length: Int) -> Block<UInt32> {
        Block(first: a << 24 | b << 16 | c << 8, length: length)
    }

    private static let specialV4: [Block<UInt32>] = [
        v4(0, 0, 0, 8),  // this network; 0.0.0.0 reaches this host (RFC 1122)
        v4(10, 0, 0, 8),  // private (RFC 1918)
        v4(100, 64, 0, 10),  // shared, behind a provider's NAT (RFC 6598)
        v4(127, 0, 0, 8),  // this host (RFC 1122)
        v4(169, 254, 0, 16),  // link-local (RFC 3927), and the metadata of clouds
        v4(172, 16, 0, 12),  // private
        v4(192, 0, 0, 24),  // protocols (RFC 6890)
        v4(192, 0, 2, 24),  // documentation (RFC 5737)
        v4(192, 88, 99, 24),  // 6to4 relays (RFC 7526)
        v4(192, 168, 0, 16),  // private
        v4(198, 18, 0, 15),  // benchmarks (RFC 2544)
        v4(198, 51, 100, 24),  // documentation
        v4(203, 0, 113, 24),  // documentation
        v4(224, 0, 0, 4),  // multicast (RFC 5771)
        v4(240, 0, 0, 4),  // reserved, and 255.255.255.255 (RFC 1112)
    ]

    private static func v6(_ a: UInt128, _ b: UInt128, _ length: Int) -> Block<UInt128> {
        Block(first: a << 112 | b << 96, length: length)
    }

    /// The only block that public addresses are given out of (RFC 4291 section 2.4). Outside of it are the unspecified
    /// address and this host (::, ::1), IPv4 in another form (::/96, ::ffff:0:0/96), NAT64 (64:ff9b::/96,
    /// 64:ff9b:1::/48), discard (100::/64), unique local (fc00::/7), link- and site-local (fe80::/10, fec0::/10) and
    /// multicast (ff00::/8).
    private static let globalUnicast = v6(0x2000, 0, 3)

    private static let specialV6: [Block<UInt128>] = [
        v6(0x2001, 0, 23),  // protocols: Teredo (RFC 4380), benchmarks, ORCHID (RFC 2928)
        v6(0x2001, 0xDB8, 32),  // documentation (RFC 3849)
        v6(0x2002, 0, 16),  // 6to4 (RFC 3056)
        v6(0x3FFF, 0, 20),  // documentation (RFC 9637)
    ]
}

extension IPAddress {
    /// - Parameter text: as libcurl writes it, without brackets.
    /// - Returns: nil for a text that is not an address (inet_pton(3)).
    init?(text: UnsafePointer<CChar>) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self = .v4(UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self = .v6(Self.number(v6))
        } else {
            return nil
        }
    }

    private static func number(_ address: in6_addr) -> UInt128 {
        withUnsafeBytes(of: address) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
    }

    /// - Parameter address: `length` bytes of a `sockaddr`.
    /// - Returns: nil for any other family, and for fewer bytes than the family's.
    init?(_ address: UnsafeRawPointer, length: Int) {
        guard length >= MemoryLayout<sockaddr_in>.size else { return nil }
        switch Int32(address.loadUnaligned(as: sockaddr_in.self).sin_family) {
        case AF_INET: self = .v4(UInt32(bigEndian: address.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            guard length >= MemoryLayout<sockaddr_in6>.size else { return nil }
            self = .v6(Self.number(address.loadUnaligned(as: sockaddr_in6.self).sin6_addr))
        default: return nil
        }
    }
}
