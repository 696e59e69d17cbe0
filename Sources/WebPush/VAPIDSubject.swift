// SPDX-License-Identifier: Apache-2.0
internal import Text

/// Where a push service finds the operator when something is wrong with what they send (`sub`, RFC 8292 section 2.1):
/// `mailto:push@example.com` or `https://example.com/contact`.
package struct VAPIDSubject: Sendable, Equatable, CustomStringConvertible {
    /// The longest that is taken, in bytes: it travels with every message.
    package static let maximumLength = 256

    /// Why a text is not a subject.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    package let description: String

    /// Stricter than the RFC, which lets it be absent or any URI: Apple answers 403 `BadJwtToken` to a subject that is
    /// missing, that is neither kind of URI, or whose host is not in the public DNS.
    /// - Throws: `Malformed`.
    package init(_ text: String) throws(Malformed) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\".utf8.contains($0) })
        else { throw Malformed(description: "must be mailto: and an address, or an https: URL, without blanks") }
        try Self.check(host: try Self.host(of: text))
        description = text
    }

    /// As it is written; its characters are those that a host may have.
    private static func host(of text: String) throws(Malformed) -> String {
        let kind = Malformed(
            description: "must be mailto: and an address (mailto:push@example.com), or an https: URL")
        let written: Substring
        if ASCII.equalIgnoringCase(String(text.prefix(7)), "mailto:") {
            written = try host(ofAddress: text.dropFirst(7).prefix { $0 != "?" }, otherwise: kind)
            // Here a port would be part of the name.
            guard Authority(written)?.port == nil else { throw kind }
        } else {
            guard ASCII.equalIgnoringCase(String(text.prefix(8)), "https://") else { throw kind }
            written = text.dropFirst(8).prefix { !"/?#".contains($0) }
        }
        guard let authority = Authority(written) else { throw kind }
        return authority.host
    }

    private static func host(
        ofAddress address: Substring, otherwise kind: Malformed
    ) throws(Malformed) -> Substring {
        let halves = address.split(separator: "@", omittingEmptySubsequences: false)
        guard !address.contains(where: { ",;".contains($0) }), halves.count <= 2 else {
            throw Malformed(description: "must be one mail address, with one @")
        }
        guard halves.count == 2, let name = halves.first, let host = halves.last, !name.isEmpty else { throw kind }
        guard !name.contains(":") else { throw Malformed(description: "has mailto: twice, or a colon in its address") }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty }) else {
            throw Malformed(description: "has a mail address with a dot too many")
        }
        return host
    }

    private static func check(host: String) throws(Malformed) {
        guard !host.hasPrefix("["), host.split(separator: ".").last?.first?.isNumber != true else {
            throw Malformed(description: "must name a host, not its address")
        }
        guard !SpecialUseName.contains(host) else {
            throw Malformed(
                description: "must not name this host or one of a private network: push services refuse that")
        }
        guard HostName.isName(host, labels: 2) else {
            throw Malformed(description: "must name a host with its domain, such as example.com, without a final dot")
        }
    }
}
