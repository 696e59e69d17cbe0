// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Text

/// The address at which apps call the site: `https://push.example.com`, or `https://example.com/push`.
struct SiteAddress: Equatable, Sendable, CustomStringConvertible {
    let scheme: String
    /// Lower case, with the port where one was named.
    let authority: String
    /// The host alone, as `server_name` has it.
    let host: String
    /// What stands before `/api/`.
    let prefix: PathPrefix

    /// Nil for everything but `https://` or `http://`, a host, perhaps a port, and perhaps a prefix.
    init?(_ text: String) {
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

    var description: String { "\(scheme)://\(authority)\(prefix)" }

    /// What `listen` has in nginx.
    var port: UInt16 {
        Authority(authority)?.port ?? (scheme == "https" ? 443 : 80)
    }
}
