// SPDX-License-Identifier: Apache-2.0
internal import NotificationHub

/// The address at which apps call the site: `https://push.example.com`.
package struct SiteAddress: Equatable, Sendable, CustomStringConvertible {
    package let scheme: String
    /// Lower case, with the port where one was named.
    package let authority: String
    /// The host alone, as `server_name` has it.
    package let host: String

    /// Nil for everything but `https://` or `http://`, a host, perhaps a port, and perhaps a final slash.
    package init?(_ text: String) {
        let found = ["https", "http"].first { text.lowercased().hasPrefix($0 + "://") }
        guard let scheme = found else { return nil }
        var rest = text.dropFirst(scheme.count + 3)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let authority = Authority(rest) else { return nil }
        self.scheme = scheme
        self.authority = authority.description
        host = authority.host
    }

    package var description: String { "\(scheme)://\(authority)" }

    /// What `listen` has in nginx.
    var port: UInt16 {
        Authority(authority)?.port ?? (scheme == "https" ? 443 : 80)
    }
}
