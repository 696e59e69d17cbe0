// SPDX-License-Identifier: Apache-2.0
public import HTTP
public import HTTPTypes
internal import JSON

/// What went wrong, for machines and for people: `application/problem+json` (RFC 9457).
public struct Problem: Error, Equatable, Sendable {
    /// The answer's status, 400 or above.
    public var status: HTTPResponse.Status
    /// The kind of problem, by which programs decide; `nil` if the answer names none, or one that this version does not know.
    public let code: ProblemCode?
    /// The code as the answer has it, also one that this version does not know.
    public let codeText: String?
    /// One sentence that says what is wrong and what would be right. Never a secret, a handle or a message's text.
    public var detail: String
    /// The one field of the request that is at fault: a parameter's, a member's or a header field's name.
    public var field: String?
    /// The methods that the path has; sent as `Allow` with 405.
    public var allow: [HTTPRequest.Method]
    /// After how many seconds to try again; sent as `Retry-After` with 429 and 503.
    public var retryAfter: Int?

    /// A problem with what the answer needs to say it; the rest may be left out. The code has the status.
    public init(
        _ code: ProblemCode, _ detail: String, field: String? = nil, allow: [HTTPRequest.Method] = [],
        retryAfter: Int? = nil
    ) {
        self.init(
            status: code.status, code: code.rawValue, detail: detail, field: field, allow: allow,
            retryAfter: retryAfter)
    }

    private init(
        status: HTTPResponse.Status, code: String?, detail: String, field: String?, allow: [HTTPRequest.Method],
        retryAfter: Int?
    ) {
        self.status = status
        self.code = code.flatMap(ProblemCode.init)
        codeText = code
        self.detail = detail
        self.field = field
        self.allow = allow
        self.retryAfter = retryAfter
    }

    /// 403, when a registration id is another user's: the caller has to do with another id.
    package static let foreignRegistration = Problem(
        .foreignRegistration, "This registration id belongs to another user.")

    /// An answer that was a success and cannot be read. Clients make it; no server sends it, so it has no code.
    package static func malformedAnswer(_ detail: String) -> Problem {
        Problem(status: .badGateway, code: nil, detail: detail, field: nil, allow: [], retryAfter: nil)
    }

    /// The same problem of another field.
    package func naming(_ field: String) -> Problem {
        var problem = self
        problem.field = field
        return problem
    }

    /// The media type of a problem's body.
    public static let contentType = "application/problem+json"

    /// Comes before the code in `type`.
    private static let typePrefix = "urn:app-backend:problem:"

    /// The answer that carries this problem: `{"type":…,"title":…,"status":…,"code":…,"detail":…,"field":…}`.
    public var response: Response { response(with: nil) }

    /// As `response`; with the outcome's `Id` and `Outcomes` as further members (RFC 9457 section 3.2), when a send
    /// failed on every platform.
    public func response(with outcome: SendOutcome?) -> Response {
        let json = JSONWriter.object { json in
            json.member("type", codeText.map { Self.typePrefix + $0 } ?? "about:blank")
            json.member("title", status.reasonPhrase)
            json.member("status", status.code)
            if let codeText { json.member("code", codeText) }
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
            status: response.status, code: document?["code"]?.string,
            detail: document?["detail"]?.string ?? Self.reason(of: response.status),
            field: document?["field"]?.string, allow: [],
            retryAfter: response.fields[.retryAfter].flatMap { Int($0) })
    }

    /// The status in words. A transport that reads HTTP/2 knows only its number.
    private static func reason(of status: HTTPResponse.Status) -> String {
        status.reasonPhrase.isEmpty ? "HTTP \(status.code)" : status.reasonPhrase
    }
}
