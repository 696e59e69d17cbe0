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
        guard let host = Self.host(of: rest) else { throw .badAuthority }
        guard scheme == "https" || host == "localhost" || Loopback.contains(host) else { throw .insecure }
        self.scheme = scheme
        self.prefix = prefix
        authority = rest.lowercased()
    }

    /// The host in lower case; nil when it or the port is not one.
    private static func host(of authority: Substring) -> String? {
        let end: Substring.Index
        if authority.first == "[" {
            guard let bracket = authority.firstIndex(of: "]") else { return nil }
            guard authority[..<bracket].utf8.dropFirst().allSatisfy(isAddressByte) else { return nil }
            end = authority.index(after: bracket)
        } else {
            end = authority.firstIndex(of: ":") ?? authority.endIndex
            guard end > authority.startIndex, authority[..<end].utf8.allSatisfy(isNameByte) else { return nil }
        }
        let port = authority[end...]
        guard port.isEmpty || isPort(port) else { return nil }
        return authority[..<end].lowercased()
    }

    /// Whether the text is a colon and a port.
    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.dropFirst()
        guard text.first == ":", digits.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
        else { return false }
        return UInt16(digits).map { $0 > 0 } ?? false
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        ASCII.hexValue(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }

    /// As it is typed: `https://push.example.com:8443`.
    public var description: String { "\(scheme)://\(authority)\(prefix)" }
}
