// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

/// The cookie that carries a session (RFC 6265).
///
/// `__Host-`: browsers take it only over TLS, from this very host and for all of it, so that no neighbour under the
/// same domain can plant one. `HttpOnly`: no script reads it. `SameSite=Strict`: no other site's page makes a browser
/// send it.
enum SessionCookie {
    static let name = "__Host-app_backend"

    /// Longer fields are not looked at, in bytes. Web servers take some 8 KiB in all.
    static let maximumFieldBytes = 16_384

    private static let attributes = "Secure; HttpOnly; SameSite=Strict"

    /// The token in a request's cookies. Nil when there is none, when the cookie is there twice, which is ambiguous, and
    /// when it is not a token of ours.
    static func token(in fields: HTTPFields) -> SessionToken? {
        let values = fields[values: .cookie]
        guard values.reduce(0, { $0 + $1.utf8.count }) <= maximumFieldBytes else { return nil }
        // HTTP/2 may send one field for each cookie (RFC 9113 section 8.2.3).
        let ours = values.flatMap { Self.values(in: $0) }
        guard ours.count == 1, let value = ours.first else { return nil }
        return SessionToken(value)
    }

    /// The values of our cookies in one field: `a=1; b=2`. Names are compared with case, as browsers keep them.
    private static func values(in field: String) -> [Substring] {
        field.utf8.split(separator: UInt8(ascii: ";")).compactMap { pair in
            let pair = pair.trimmingBlanks
            guard pair.starts(with: name.utf8) else { return nil }
            let rest = pair.dropFirst(name.utf8.count)
            guard rest.first == UInt8(ascii: "=") else { return nil }
            return Substring(rest.dropFirst())
        }
    }

    /// The value of `Set-Cookie` that gives the token to a browser.
    static func set(_ token: SessionToken, maximumAge seconds: Int64) -> String {
        "\(name)=\(token.text.reveal()); Path=/; Max-Age=\(seconds); \(attributes)"
    }

    /// The value of `Set-Cookie` that makes a browser forget it.
    static let clear = "\(name)=; Path=/; Max-Age=0; \(attributes)"
}

extension Substring.UTF8View {
    /// Without the blanks and tabs around it.
    var trimmingBlanks: Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return rest
    }
}
