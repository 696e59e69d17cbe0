// SPDX-License-Identifier: Apache-2.0
import Glibc
import Text

/// Where the web server finds us, as the configuration says it.
package enum ListenAddress: Equatable, Sendable {
    /// The socket that the parent process has opened: systemd, spawn-fcgi, mod_fcgid, lighttpd.
    case inherited
    /// A unix socket of our own.
    case unix(path: String)
    /// A TCP socket of our own: an IPv4 or IPv6 address and a port; port 0 takes a free one.
    case tcp(host: String, port: UInt16)

    /// Bytes of the longest path that fits `sockaddr_un`, its final NUL not counted.
    package static let maximumPathBytes = 107

    /// Reads the configuration's `listen`.
    /// - Parameters:
    ///   - text: nil for the inherited socket; `/path/to.sock`; `127.0.0.1:9000`, `[::1]:9000` or `localhost:9000`.
    ///   - allowNonLoopback: whether other machines may connect. FastCGI has no password: a peer can claim any
    ///     address and any header, so this is off unless the operator asks for it by name.
    /// - Throws: `ListenError.badAddress` or `.notLoopback`.
    package init(_ text: String?, allowNonLoopback: Bool = false) throws(ListenError) {
        guard let text else {
            self = .inherited
            return
        }
        if text.hasPrefix("/") {
            guard text.utf8.count <= Self.maximumPathBytes, !text.utf8.contains(0) else { throw .badAddress(text) }
            self = .unix(path: text)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw .badAddress(text)
        }
        let host = Self.unbracketed(text[..<colon])
        guard Self.isAddress(host) else { throw .badAddress(text) }
        guard Loopback.contains(host) || allowNonLoopback else { throw .notLoopback(text) }
        self = .tcp(host: host, port: port)
    }

    private static func unbracketed(_ text: Substring) -> String {
        if text == "localhost" { return "127.0.0.1" }
        return text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
    }

    private static func isAddress(_ host: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
    }
}

/// Why there is no socket to listen on; each says what the operator should do.
package enum ListenError: Error, Equatable, Sendable, CustomStringConvertible {
    case badAddress(String)
    case notLoopback(String)
    case nothingInherited
    case inUse(String)
    case notASocket(String)
    case system(String)

    package var description: String {
        switch self {
        case .badAddress(let text):
            "\"\(text)\" is neither a path that begins with / (at most \(ListenAddress.maximumPathBytes) bytes)"
                + " nor an address and port such as 127.0.0.1:9000"
        case .notLoopback(let text):
            "\"\(text)\" is open to other machines, and FastCGI knows no password; use a unix socket or a"
                + " loopback address, or allow it explicitly"
        case .nothingInherited:
            "no socket was passed (neither systemd's descriptor 3 nor standard input);"
                + " set \"listen\" to a path or address"
        case .inUse(let text): "another process answers on \(text)"
        case .notASocket(let text): "\(text) exists and is not a socket"
        case .system(let text): text
        }
    }
}
