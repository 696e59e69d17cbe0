// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import HTTPTypes
import Text

/// The crossing from CGI's variables to a `Request`: one pass over the environment, then `request()`.
///
/// Knows nothing of FastCGI; on bytes, because most variables are never looked at as text.
struct CGIEnvironment {
    /// What no request can be made of; all but the last answered 400.
    enum Malformed: Error, Equatable {
        case method, target, authority, contentLength
        /// A declared length above what an integer holds; answered 413.
        case contentLengthTooLarge
    }

    /// The longest request id that is taken from the web server, in bytes; nginx's `$request_id` has 32.
    static let maximumIDBytes = 64

    private var method: String?
    private var target: String?
    private var prefix = ""
    private var scriptName: [UInt8] = []
    private var pathInfo: [UInt8] = []
    private var queryString: String?
    private var scheme: String?
    private var host: String?
    private var serverName: String?
    private var serverPort = ""
    private var remoteAddress: String?
    private var authenticatedUser: String?
    private var length: [UInt8] = []
    private var redirectedAuthorization: HTTPField?
    private var fields = HTTPFields()
    /// Names the request in the log, also when no request can be made of it.
    private(set) var id = ""

    init() {}

    /// Whether the answer goes without its body.
    var isHead: Bool { method == "HEAD" }

    /// Reads one variable. CGI's variables are C strings: a value ends before its first NUL.
    mutating func read(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard let start = value.baseAddress, let end = memchr(start, 0, value.count) else {
            return take(CGIVariable(name: name), value)
        }
        let count = UnsafeRawPointer(end) - UnsafeRawPointer(start)
        take(CGIVariable(name: name), UnsafeBufferPointer(rebasing: value.prefix(count)))
    }

    private mutating func take(_ variable: CGIVariable, _ value: UnsafeBufferPointer<UInt8>) {
        switch variable {
        case .method: method = text(value)
        case .requestURI: target = text(value)
        case .pathPrefix: prefix = text(value)
        case .scriptName: scriptName = [UInt8](value)
        case .pathInfo: pathInfo = [UInt8](value)
        case .queryString: queryString = text(value)
        case .contentType where !value.isEmpty: fields.append(HTTPField(name: .contentType, value: value))
        case .contentLength: length = [UInt8](value)
        case .remoteAddress: remoteAddress = Self.address(value)
        case .requestScheme: scheme = value.elementsEqual("https".utf8) ? "https" : "http"
        case .https where scheme == nil:
            scheme = value.isEmpty || value.elementsEqual("off".utf8) ? "http" : "https"
        case .authenticatedUser where !value.isEmpty: authenticatedUser = text(value)
        case .host: host = text(value)
        case .serverName: serverName = text(value)
        case .serverPort: serverPort = text(value)
        case .requestID where Self.isID(value): id = text(value)
        // mod_rewrite's `E=HTTP_AUTHORIZATION:%{HTTP:Authorization}` sets it to nothing where there are no credentials.
        case .redirectedAuthorization where !value.isEmpty:
            redirectedAuthorization = HTTPField(name: .authorization, value: value)
        case .field(let name): fields.append(HTTPField(name: name, value: value))
        case .contentType, .https, .requestID, .redirectedAuthorization, .authenticatedUser, .ignored: break
        }
    }

    /// Fills the id where the web server sent none: 128 random bits.
    mutating func makeID() {
        guard id.isEmpty else { return }
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        for _ in 0..<2 {
            let bits = generator.next()
            for shift in stride(from: 60, through: 0, by: -4) {
                bytes.append(ASCII.lowerHexDigits[Int((bits >> shift) & 15)])
            }
        }
        id = String(decoding: bytes, as: UTF8.self)
    }

    /// Bytes of body that the web server announced; 0 when it announced none.
    /// - Throws: `Malformed.contentLength` for anything but digits, `.contentLengthTooLarge` above `Int.max`.
    func contentLength() throws(Malformed) -> Int {
        var total = 0
        for byte in length {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { throw .contentLength }
            let (tens, overflowTens) = total.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = tens.addingReportingOverflow(Int(byte - UInt8(ascii: "0")))
            if overflowTens || overflow { throw .contentLengthTooLarge }
            total = sum
        }
        return total
    }

    /// The request, with an empty body.
    /// - Throws: `Malformed`, naming the first part that no request can be made of.
    func request() throws(Malformed) -> Request {
        guard let method = method.flatMap({ HTTPRequest.Method($0) }) else { throw .method }
        let (path, query) = try pathAndQuery()
        var fields = fields
        if let redirectedAuthorization, !fields.contains(.authorization) { fields.append(redirectedAuthorization) }
        var request = Request(
            method: method, scheme: scheme ?? "http", authority: try authority(), path: path, query: query,
            fields: fields, remoteAddress: remoteAddress, id: id)
        request.authenticatedUser = authenticatedUser
        return request
    }

    /// As it was sent where the server says so (`REQUEST_URI`); else put together from CGI's decoded path.
    private func pathAndQuery() throws(Malformed) -> (String, String) {
        guard let target else {
            let path = Self.encodePath(scriptName + pathInfo)
            guard path.utf8.first == UInt8(ascii: "/") else { throw .target }
            return (path, try Self.checkTarget(queryString ?? ""))
        }
        _ = try Self.checkTarget(target)
        guard target.utf8.first == UInt8(ascii: "/") else { throw .target }
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        let path = mark.map { String(target[..<$0]) } ?? target
        guard !Self.leadsElsewhere(path) else { throw .target }
        return (withoutPrefix(path), mark.map { String(target[target.utf8.index(after: $0)...]) } ?? "")
    }

    /// The path below the web server's prefix. One that does not begin with it stays as it is, and has no route then.
    private func withoutPrefix(_ path: String) -> String {
        guard !prefix.isEmpty, path.utf8.starts(with: prefix.utf8) else { return path }
        let rest = path.utf8.dropFirst(prefix.utf8.count)
        return rest.first == UInt8(ascii: "/") ? String(Substring(rest)) : path
    }

    /// `HTTP_HOST`, else the server's own name and, where it is not the scheme's own, port.
    private func authority() throws(Malformed) -> String {
        if let host {
            guard Self.isAuthority(host) else { throw .authority }
            return host
        }
        guard let serverName, !serverName.isEmpty else { return "" }
        let ownPort = scheme == "https" ? "443" : "80"
        let authority = serverPort.isEmpty || serverPort == ownPort ? serverName : "\(serverName):\(serverPort)"
        guard Self.isAuthority(authority) else { throw .authority }
        return authority
    }
}

extension CGIEnvironment {
    /// No blank, no control byte, no `#`: what a request target may not contain (RFC 9112 section 3.2).
    private static func checkTarget(_ text: String) throws(Malformed) -> String {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }) else { throw .target }
        return text
    }

    /// Whether a segment is `.` or `..`, or hides a slash, also percent-encoded. A web server chooses its location by
    /// the path without them and hands over the path with them: what it guards would not be what is asked for.
    private static func leadsElsewhere(_ path: String) -> Bool {
        // One look at the bytes spares nearly all requests the segments.
        var previous: UInt8 = 0
        let isSuspicious = path.utf8.contains { byte in
            defer { previous = byte }
            return byte == UInt8(ascii: "%") || byte == UInt8(ascii: ".") && previous == UInt8(ascii: "/")
        }
        guard isSuspicious else { return false }
        return path.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
            PercentEncoding.decode(segment).map { !$0.isPathSegment } ?? false
        }
    }

    private static func isAuthority(_ text: String) -> Bool {
        text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._~:[]%!$&'()*+,;=".utf8.contains($0) }
    }

    private static func isID(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        !value.isEmpty && value.count <= maximumIDBytes
            && value.allSatisfy(ASCII.isURLSafe)
    }

    /// nginx says `unix:` for a client on a unix socket: no address. An unparsable address is kept, without what does
    /// not belong in a log. It is never mapped to nil, because nil means a local caller.
    private static func address(_ value: UnsafeBufferPointer<UInt8>) -> String? {
        if value.isEmpty || value.elementsEqual("unix:".utf8) { return nil }
        let isLegal = value.allSatisfy { ASCII.isAlphanumeric($0) || ".:%-".utf8.contains($0) }
        return isLegal ? String(decoding: value.prefix(64), as: UTF8.self) : "?"
    }

    private static func encodePath(_ bytes: [UInt8]) -> String {
        var path: [UInt8] = []
        for byte in bytes {
            if ASCII.isAlphanumeric(byte) || "/-._~!$&'()*+,;=:@".utf8.contains(byte) {
                path.append(byte)
            } else {
                path += [
                    UInt8(ascii: "%"), ASCII.upperHexDigits[Int(byte >> 4)], ASCII.upperHexDigits[Int(byte & 15)],
                ]
            }
        }
        return String(decoding: path, as: UTF8.self)
    }

    private func text(_ value: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: value, as: UTF8.self)
    }
}
