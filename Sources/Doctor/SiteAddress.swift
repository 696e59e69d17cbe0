// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
internal import NotificationHub

/// The address at which apps call the site: `https://push.example.com`, or `https://example.com/push`.
package struct SiteAddress: Equatable, Sendable, CustomStringConvertible {
    package let scheme: String
    /// Lower case, with the port where one was named.
    package let authority: String
    /// The host alone, as `server_name` has it.
    package let host: String
    /// What stands before `/api/`.
    package let prefix: PathPrefix

    /// Nil for everything but `https://` or `http://`, a host, perhaps a port, and perhaps a prefix.
    package init?(_ text: String) {
        let found = ["https", "http"].first { text.lowercased().hasPrefix($0 + "://") }
        guard let scheme = found else { return nil }
        let rest = text.dropFirst(scheme.count + 3)
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let authority = Authority(rest[..<end]), let prefix = PathPrefix(rest[end...]) else { return nil }
        self.scheme = scheme
        self.authority = authority.description
        self.prefix = prefix
        host = authority.host
    }

    /// Without the prefix.
    var origin: String { "\(scheme)://\(authority)" }

    package var description: String { "\(scheme)://\(authority)\(prefix)" }

    /// What `listen` has in nginx.
    var port: UInt16 {
        Authority(authority)?.port ?? (scheme == "https" ? 443 : 80)
    }
}
