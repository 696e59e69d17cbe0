// SPDX-License-Identifier: Apache-2.0
internal import Text

/// Names that the public DNS does not have: those of RFC 2606, 6761, 6762, 7686, 8375 and 9476, that ICANN has reserved
/// (`internal`), and those that private networks give to their hosts (RFC 6762 appendix G; `localdomain`).
enum SpecialUseName {
    /// Of `example` the top-level domain alone: `example.com` is reserved, but it is in the public DNS.
    private static let domains = [
        "local", "localhost", "localdomain", "invalid", "test", "example", "lan", "internal", "home.arpa", "onion",
        "alt", "intranet", "private", "corp", "home",
    ]

    /// Whether the name is one of them, or below one.
    /// - Parameter host: in lower case.
    static func contains(_ host: String) -> Bool {
        domains.contains { host == $0 || host.hasSuffix("." + $0) }
    }

    /// Whether the name cannot be anybody's, on any network (RFC 6761 section 6.4).
    static func isInvalid(_ host: String) -> Bool { host == "invalid" || host.hasSuffix(".invalid") }
}

/// What is a host's name in the DNS.
enum HostName {
    /// Whether it is a name and not an address: resolvers take `2130706433`, `127.1` and `0x7f.1` for addresses, and no
    /// top-level domain begins with a digit. A final dot, which would be another spelling of the same name, is refused.
    static func isName(_ host: String, labels: Int) -> Bool {
        let parts = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count >= labels, let first = parts.last?.first, ASCII.lowercased(first) >= UInt8(ascii: "a") else {
            return false
        }
        return parts.allSatisfy { part in
            !part.isEmpty && part.count <= 63 && part.allSatisfy { ASCII.isAlphanumeric($0) || "-_".utf8.contains($0) }
        }
    }
}
