// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Text

/// A request that is fit for the wire: what libcurl would otherwise have to be trusted to refuse is refused here.
struct OutgoingRequest: Sendable {
    let method: HTTPRequest.Method
    let url: String
    /// In lower case and with the port: `localhost:443`.
    let hostAndPort: String
    /// In curl's spelling: `Name: value`, `Name;` for an empty value, `Name:` to keep libcurl from adding its own.
    let fieldLines: [String]
    let body: [UInt8]

    /// - Throws: `malformedRequest`, when the scheme is not allowed, the authority or target has a character that no
    ///   URL has (RFC 3986 appendix A), or a field value has a CR, LF or NUL.
    init(_ request: Request, allowPlainHTTP: Bool, userAgent: String) throws(TransportError) {
        guard request.scheme == "https" || (request.scheme == "http" && allowPlainHTTP) else {
            throw .malformedRequest(reason: "the scheme is not allowed")
        }
        guard Self.isAuthority(request.authority) else {
            throw .malformedRequest(reason: "the authority is not a host with an optional port")
        }
        guard request.path.utf8.first == UInt8(ascii: "/"), Self.isTarget(request.path),
            !request.path.utf8.contains(UInt8(ascii: "?")), Self.isTarget(request.query)
        else {
            throw .malformedRequest(reason: "the path or query is not percent-encoded")
        }
        method = request.method
        url = request.scheme + "://" + request.authority + request.target
        hostAndPort = Self.hostAndPort(request.authority, defaultPort: request.scheme == "https" ? 443 : 80)
        body = request.body
        fieldLines = try Self.lines(of: request.fields, userAgent: userAgent)
    }

    /// Whether making the request twice does what making it once does (RFC 9110 section 9.2.2).
    var isIdempotent: Bool { [.get, .head, .put, .delete, .options].contains(method) }

    /// Fields that say how the message is carried; libcurl writes them itself, and a second one would let a message
    /// end in two places. `Expect` would cost a round trip per call.
    private static let ownFields: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "te", "upgrade",
    ]

    private static func lines(of fields: HTTPFields, userAgent: String) throws(TransportError) -> [String] {
        var lines = ["Expect:"]
        for field in fields where !ownFields.contains(field.name.canonicalName) {
            guard isFieldValue(field.value), field.name.rawName.utf8.first != UInt8(ascii: ":") else {
                throw .malformedRequest(reason: "a field that would break the header")
            }
            lines.append(field.name.rawName + (field.value.isEmpty ? ";" : ": " + field.value))
        }
        // Without these libcurl sends "*/*" and, for a body, "application/x-www-form-urlencoded".
        if fields[.accept] == nil { lines.append("Accept:") }
        if fields[.contentType] == nil { lines.append("Content-Type:") }
        if fields[.userAgent] == nil {
            guard isFieldValue(userAgent) else { throw .malformedRequest(reason: "the user agent") }
            lines.append(userAgent.isEmpty ? "User-Agent:" : "User-Agent: " + userAgent)
        }
        return lines
    }

    /// Whether a field value stays on its line. swift-http-types promises it; the line is written by C.
    static func isFieldValue(_ value: String) -> Bool {
        !value.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0x00 }
    }

    /// Host and optional port; no user information (`@`), which would be sent as a password.
    static func isAuthority(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._~%:[]".utf8.contains($0) }
    }

    private static func hostAndPort(_ authority: String, defaultPort: Int) -> String {
        let host = authority.lowercased()
        let afterBrackets = host.utf8[(host.utf8.lastIndex(of: UInt8(ascii: "]")) ?? host.startIndex)...]
        return afterBrackets.contains(UInt8(ascii: ":")) ? host : "\(host):\(defaultPort)"
    }

    /// Visible ASCII without `#` (a fragment is never sent) and without what RFC 3986 excludes.
    static func isTarget(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"#\"<>\\^`{|}".utf8.contains($0) }
    }
}
