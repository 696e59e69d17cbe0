// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import HTTPTypes
package import Text

/// An address of a service, taken apart. Path and query are kept byte for byte: services put tokens there, with `%2f` in
/// them.
package struct ServiceURL: Equatable, Sendable, CustomStringConvertible {
    /// `https` or `http`.
    package let scheme: String
    package let authority: Authority
    package let path: String
    package let query: String

    /// - Returns: nil for anything but `https` or `http`, a host, an optional port, a path and a query in visible ASCII.
    package init?(_ text: String) {
        guard let scheme = ["https", "http"].first(where: { text.hasPrefix($0 + "://") }),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { return nil }
        let rest = text.dropFirst(scheme.count + 3)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let authority = Authority(rest[..<end]) else { return nil }
        let parts = rest[end...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map(String.init) ?? ""
        self.scheme = scheme
        self.authority = authority
        self.path = path.isEmpty ? "/" : path
        query = parts.count > 1 ? String(parts[1]) : ""
    }

    package var description: String { "\(scheme)://\(authority)\(path)" + (query.isEmpty ? "" : "?" + query) }

    /// Whether it is `https` on port 443, at a host below that domain.
    package func isBelow(_ domain: String) -> Bool {
        scheme == "https" && (authority.port ?? 443) == 443 && authority.host.hasSuffix("." + domain)
    }

    package func request(_ method: HTTPRequest.Method, fields: HTTPFields = [:], body: [UInt8] = []) -> Request {
        Request(
            method: method, scheme: scheme, authority: authority.description, path: path, query: query, fields: fields,
            body: body)
    }
}
