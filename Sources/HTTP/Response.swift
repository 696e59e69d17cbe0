// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// One HTTP answer, whole.
public struct Response: Sendable {
    public var status: HTTPResponse.Status
    public var fields: HTTPFields
    public var body: [UInt8]

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
}
