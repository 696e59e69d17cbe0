// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import Text

/// One HTTP request, whole: the body is in memory (every door limits its size before it makes one).
///
/// The same type is read from nginx by the FastCGI room and sent to a hub by the Curl room.
public struct Request: Sendable {
    /// Any token; a route that does not have it answers 405.
    public var method: HTTPRequest.Method
    /// `https` or `http`.
    public var scheme: String
    /// Host, with the port where it is not the scheme's own: `localhost:8443`. Empty when the caller named none.
    public var authority: String
    /// The path as it was sent: begins with `/`, percent-encoded, without the query.
    public var path: String
    /// What follows the first `?`, still encoded; empty when there is none.
    public var query: String
    /// Names are compared without case.
    public var fields: HTTPFields
    /// Whole, and within the limits of the door it came through.
    public var body: [UInt8]
    /// The peer's IP address as the web server saw it; nil inside one process and on a unix socket without it.
    public var remoteAddress: String?
    /// Names this request in logs and in errors, from nginx's `$request_id` where there is one. Never a secret.
    public var id: String
    /// The user whom the web server has authenticated by itself; nil: none. Only the web server's own parameters set it, never
    /// a field of the request. It is not sent.
    package var authenticatedUser: String?
    #if os(Linux)
        /// Whether it can be put off; the server that carries it says so. It is not sent.
        package var postponing = Postponing.unavailable
    #endif

    /// A request as a client makes it; what is left out is as empty as it can be.
    public init(
        method: HTTPRequest.Method, scheme: String = "https", authority: String = "", path: String,
        query: String = "", fields: HTTPFields = [:], body: [UInt8] = [], remoteAddress: String? = nil,
        id: String = ""
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
        self.fields = fields
        self.body = body
        self.remoteAddress = remoteAddress
        self.id = id
    }

    /// Whether the body is compressed, or otherwise not what its type says (`Content-Encoding`, RFC 9110 section 8.4).
    package var isEncoded: Bool {
        guard !body.isEmpty, let codings = fields[.contentEncoding] else { return false }
        return codings.split(separator: ",").contains { coding in
            !ASCII.equalIgnoringCase(coding.filter { $0 != " " && $0 != "\t" }, "identity")
        }
    }

    /// Path and query as they are in a request line.
    public var target: String { query.isEmpty ? path : path + "?" + query }
}
