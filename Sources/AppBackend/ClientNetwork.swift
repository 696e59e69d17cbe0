// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where a client comes from, as far as counting goes: one IPv4 address, or the /64 of an IPv6 address, because a
/// household or a rented machine has all the 2^64 addresses of one.
struct ClientNetwork: Hashable, Sendable {
    private let text: String

    /// - Parameter address: as the web server gave it; what is no address counts as a network of its own.
    init(_ address: String) {
        var bytes = in6_addr()
        guard address.contains(":"), inet_pton(AF_INET6, address, &bytes) == 1 else {
            text = address
            return
        }
        let octets = withUnsafeBytes(of: &bytes) { Array($0) }
        // ::ffff:a.b.c.d is an IPv4 address in IPv6's clothes (RFC 4291 section 2.5.5.2).
        let isMapped = octets.prefix(10).allSatisfy { $0 == 0 } && octets[10] == 0xFF && octets[11] == 0xFF
        let part = isMapped ? octets.suffix(4) : octets.prefix(8)
        text = part.map(String.init).joined(separator: isMapped ? "." : ",")
    }
}
