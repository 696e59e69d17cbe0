// SPDX-License-Identifier: Apache-2.0
public import HTTP
public import HTTPTypes
internal import JSON

/// What went wrong, for machines and for people: `application/problem+json` (RFC 9457).
public struct Problem: Error, Equatable, Sendable {
    /// The answer's status, 400 or above.
    public var status: HTTPResponse.Status
    /// One sentence that says what is wrong and what would be right. Never a secret, a handle or a message's text.
    public var detail: String
    /// The one field of the request that is at fault: a parameter's, a member's or a header field's name.
    public var field: String?
    /// The methods that the path has; sent as `Allow` with 405.
    public var allow: [HTTPRequest.Method]
    /// After how many seconds to try again; sent as `Retry-After` with 429 and 503.
    public var retryAfter: Int?

    /// A problem with what the answer needs to say it; the rest may be left out.
    public init(
        _ status: HTTPResponse.Status, _ detail: String, field: String? = nil, allow: [HTTPRequest.Method] = [],
        retryAfter: Int? = nil
    ) {
        self.status = status
        self.detail = detail
        self.field = field
        self.allow = allow
        self.retryAfter = retryAfter
    }

    /// 403, when a registration id is another user's: the caller has to do with another id.
    public static let foreignRegistration = Problem(.forbidden, "This registration id belongs to another user.")

    /// The media type of a problem's body.
    public static let contentType = "application/problem+json"

    /// The answer that carries this problem: `{"type":"about:blank","title":…,"status":…,"detail":…,"field":…}`.
    public var response: Response { response(with: nil) }

    /// As `response`; with the outcome's `Id` and `Outcomes` as further members (RFC 9457 section 3.2), when a send
    /// failed on every platform.
    public func response(with outcome: SendOutcome?) -> Response {
        let json = JSONWriter.object { json in
            json.member("type", "about:blank")
            json.member("title", status.reasonPhrase)
            json.member("status", status.code)
            json.member("detail", detail)
            if let field { json.member("field", field) }
            outcome?.writeMembers(to: &json)
        }
        var response = Response.json(json.bytes, status: status, contentType: Self.contentType)
        response.fields[.cacheControl] = "no-store"
        // RFC 9110 section 15.5.16: of the type alone the answer says nothing of encodings.
        if status == .unsupportedMediaType, field == "Content-Encoding" {
            response.fields[.acceptEncoding] = "identity"
        }
        if !allow.isEmpty { response.fields[.allow] = allow.map(\.rawValue).joined(separator: ", ") }
        if let retryAfter { response.fields[.retryAfter] = String(retryAfter) }
        return response
    }

    /// Reads the problem out of an answer that is not a success. An answer without a problem's body, as a web
    /// server's own error page, becomes a problem with its status and reason.
    public init(_ response: Response) {
        let document = try? JSONValue(parsing: response.body)
        self.init(
            response.status, document?["detail"]?.string ?? Self.reason(of: response.status),
            field: document?["field"]?.string, retryAfter: response.fields[.retryAfter].flatMap { Int($0) })
    }

    /// The status in words. A transport that reads HTTP/2 knows only its number.
    private static func reason(of status: HTTPResponse.Status) -> String {
        status.reasonPhrase.isEmpty ? "HTTP \(status.code)" : status.reasonPhrase
    }
}
