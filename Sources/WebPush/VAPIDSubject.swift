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
    /// missing, that is neither kind of URI, or whose host is `localhost`.
    /// - Throws: `Malformed`.
    package init(_ text: String) throws(Malformed) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\".utf8.contains($0) })
        else { throw Malformed(description: "must be mailto: and an address, or an https: URL, without blanks") }
        guard let host = Self.host(of: text), let authority = Authority(host) else {
            throw Malformed(description: "must be mailto: and an address (mailto:push@example.com), or an https: URL")
        }
        guard !authority.isLoopback, !authority.host.hasSuffix(".localhost") else {
            throw Malformed(description: "must not name this host: push services want to reach a person")
        }
        description = text
    }

    private static func host(of text: String) -> Substring? {
        if ASCII.equalIgnoringCase(String(text.prefix(7)), "mailto:") {
            let address = text.dropFirst(7).prefix { $0 != "?" }
            guard let at = address.lastIndex(of: "@"), at != address.startIndex else { return nil }
            return address[address.index(after: at)...]
        }
        guard ASCII.equalIgnoringCase(String(text.prefix(8)), "https://") else { return nil }
        return text.dropFirst(8).prefix { !"/?#".contains($0) }
    }
}
