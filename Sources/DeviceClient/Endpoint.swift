// SPDX-License-Identifier: Apache-2.0
internal import DeviceAPI
import Text

/// Where the backend answers: `https://push.example.com`, `https://push.example.com:8443`, or `https://example.com/push`,
/// where it shares its name with another site.
public struct Endpoint: Equatable, Sendable, CustomStringConvertible {
    /// Why a text is no endpoint.
    public enum Malformed: Error, Equatable, Sendable {
        /// `http` is for `localhost` and loopback addresses: credentials do not travel in the clear.
        case insecure
        /// Neither `https://` nor `http://`.
        case unknownScheme
        /// No host, a port outside 1 ... 65535, or characters that no host has, such as the `@` after a user name.
        case badAuthority
        /// A query, a fragment, or a path that is no prefix: `/api` and what follows it are the contract's.
        case notAnOrigin
    }

    let scheme: String
    let authority: String
    let prefix: PathPrefix

    /// - Throws: `Malformed`. A single `/` at the end is forgiven.
    public init(_ text: String) throws(Malformed) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { throw .unknownScheme }
        let scheme = text[..<colon].lowercased()
        guard scheme == "https" || scheme == "http" else { throw .unknownScheme }
        let address = text[colon...].dropFirst(3)
        let rest = address.prefix { !"/?#".contains($0) }
        guard let prefix = PathPrefix(address[rest.endIndex...]) else { throw .notAnOrigin }
        guard let authority = Authority(rest) else { throw .badAuthority }
        guard scheme == "https" || authority.isLoopback else { throw .insecure }
        self.scheme = scheme
        self.prefix = prefix
        self.authority = authority.description
    }

    /// As it is typed: `https://push.example.com:8443`.
    public var description: String { "\(scheme)://\(authority)\(prefix)" }
}
