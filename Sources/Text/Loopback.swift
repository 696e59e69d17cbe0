// SPDX-License-Identifier: Apache-2.0

/// The addresses of this host itself, which packets do not leave.
package enum Loopback {
    /// Whether an address is 127.0.0.0/8 or ::1 (RFC 1122, RFC 4291), IPv4 in IPv6 included where it is written
    /// with dots.
    /// - Parameter address: an IPv4 or IPv6 address, with or without brackets; a name is not looked up, and is not one.
    package static func contains(_ address: some StringProtocol) -> Bool {
        var text = address.lowercased()[...]
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        guard text.utf8.contains(UInt8(ascii: ":")) else { return isLoopbackV4(text) }
        guard !text.hasSuffix(":"), let colon = text.lastIndex(of: ":") else { return false }
        let last = text[text.index(after: colon)...]
        let groups = text[..<colon].split(separator: ":")
        if last.contains(".") {
            return groups.last == "ffff" && groups.dropLast().allSatisfy(isZero) && isLoopbackV4(last)
        }
        return groups.allSatisfy(isZero) && !last.isEmpty && last.drop { $0 == "0" } == "1"
    }

    /// Four numbers; `127.example.org` is a name.
    private static func isLoopbackV4(_ text: Substring) -> Bool {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { $0.utf8.allSatisfy(ASCII.isDigit) && UInt8($0) != nil }
    }

    private static func isZero(_ group: Substring) -> Bool { group.utf8.allSatisfy { $0 == UInt8(ascii: "0") } }
}
