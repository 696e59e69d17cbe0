// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where a client comes from, as far as counting goes: one IPv4 address, or what of an IPv6 address one customer has.
struct ClientNetwork: Hashable, Sendable {
    /// The bytes of an IPv6 address that tell networks apart.
    enum Extent: Int, Sendable {
        /// A /64, because a household or a rented machine has all the 2^64 addresses of one.
        case household = 8
        /// A /48, because a site that rents one has 65,536 of those.
        case site = 6
    }

    let text: String

    /// - Parameter address: as the web server gave it; what is no address counts as a network of its own.
    init(_ address: String, _ extent: Extent = .household) {
        var bytes = in6_addr()
        guard address.contains(":"), inet_pton(AF_INET6, address, &bytes) == 1 else {
            text = address
            return
        }
        let octets = withUnsafeBytes(of: &bytes) { Array($0) }
        // ::ffff:a.b.c.d is an IPv4 address in IPv6's clothes (RFC 4291 section 2.5.5.2).
        let isMapped = octets.prefix(10).allSatisfy { $0 == 0 } && octets[10] == 0xFF && octets[11] == 0xFF
        let part = isMapped ? octets.suffix(4) : octets.prefix(extent.rawValue)
        text = part.map(String.init).joined(separator: isMapped ? "." : ",")
    }
}
