// SPDX-License-Identifier: Apache-2.0
internal import NotificationHub

/// A push resource (RFC 8030 section 2), taken apart. A subscription has it normalised: lower-case host, no `:443`.
struct PushEndpoint {
    let authority: Authority
    /// Never rewritten: services put tokens there, with `%2f` in them.
    let path: String
    let query: String

    /// Nil for what is no `https` URI, or has a user in it.
    init?(_ endpoint: String) {
        let scheme = "https://"
        guard endpoint.hasPrefix(scheme) else { return nil }
        let rest = endpoint.dropFirst(scheme.count)
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let start = first.firstIndex(of: "/"), let authority = Authority(first[..<start])
        else { return nil }
        self.authority = authority
        path = String(first[start...])
        query = parts.count > 1 ? String(parts[1]) : ""
    }

    /// What a token is made out to (RFC 6454 section 6.1).
    var origin: String { "https://\(authority)" }

    /// Whether Microsoft's service answers there, which is Edge's.
    var isWNS: Bool { authority.host.hasSuffix(".notify.windows.com") }
}
