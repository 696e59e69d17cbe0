// SPDX-License-Identifier: Apache-2.0

/// `host[:port]` of a URI (RFC 3986 section 3.2), without user information. Made lower case.
package struct Authority: Equatable, Sendable, CustomStringConvertible {
    /// The longest name that DNS can carry, in bytes.
    package static let maximumHostLength = 253

    /// A name, an IPv4 address, or an IPv6 address in brackets.
    package let host: String
    package let port: UInt16?

    /// Nil for an empty host, a character that no host has, a user (`@`) or a port outside 1 ... 65535.
    package init?(_ text: some StringProtocol) {
        let bytes = text.utf8.map(ASCII.lowercased)
        let hostEnd: Int
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            hostEnd = bracket + 1
            guard bytes[1..<bracket].allSatisfy({ ASCII.hexValue($0) != nil || ":.".utf8.contains($0) }) else {
                return nil
            }
        } else {
            hostEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            guard bytes[..<hostEnd].allSatisfy({ ASCII.isAlphanumeric($0) || "-._".utf8.contains($0) }) else {
                return nil
            }
        }
        guard hostEnd > 0, hostEnd <= Self.maximumHostLength else { return nil }
        host = String(decoding: bytes[..<hostEnd], as: UTF8.self)
        let rest = bytes[hostEnd...]
        if rest.isEmpty {
            port = nil
        } else {
            guard rest.first == UInt8(ascii: ":"), rest.dropFirst().allSatisfy(ASCII.isDigit),
                let number = UInt16(String(decoding: rest.dropFirst(), as: UTF8.self)), number > 0
            else { return nil }
            port = number
        }
    }

    package var description: String { port.map { "\(host):\($0)" } ?? host }

    /// Whether packets to it stay on this host.
    package var isLoopback: Bool { host == "localhost" || Loopback.contains(host) }
}
