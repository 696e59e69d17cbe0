// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// One HTTP answer, whole.
public struct Response: Sendable {
    /// Any HTTP status.
    public var status: HTTPResponse.Status
    /// Without `Content-Length`, which the server adds when it writes the answer.
    public var fields: HTTPFields
    /// Empty where the status says it all.
    public var body: [UInt8]
    /// The pattern of the route that answered, for metrics; nil where there is none. It is not sent.
    public var route: String?
    #if os(Linux)
        /// There is no answer yet: the server goes on with the request when this has ended. Only for requests that can be put
        /// off.
        package var postponement: (any Postponement)?
    #endif

    /// An answer; 200 without a body when nothing is said.
    public init(status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// An answer with a JSON body.
    public static func json(
        _ body: [UInt8], status: HTTPResponse.Status = .ok, contentType: String = "application/json; charset=utf-8"
    ) -> Response {
        Response(status: status, fields: [.contentType: contentType], body: body)
    }

    /// An answer with a JSON body that no cache keeps: it is one user's.
    package static func unstoredJSON(_ body: [UInt8]) -> Response {
        var response = json(body)
        response.fields[.cacheControl] = "no-store"
        return response
    }
}
