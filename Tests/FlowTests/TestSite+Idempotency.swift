// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import Testing

/// A POST with a key, as any HTTP client makes it.
struct KeyedPost: Sendable {
    var path = "/api/notifications"
    var query = "pns=apns&to_tag=bob"
    var user = "alice"
    var body = #""the launch code""#
    /// The field's value.
    var key = "k-1"

    static let message = KeyedPost()
    static let secret = KeyedPost(query: "to_tag=bob")
    static let registration = KeyedPost(path: "/api/register", query: "handle=\(TestSite.token(1))", body: "")
}

extension TestSite {
    func post(_ post: KeyedPost) -> Response {
        Self.post(post, to: backend)
    }

    /// - Parameter backend: that of a site's own process, or of another.
    static func post(_ post: KeyedPost, to backend: Backend) -> Response {
        var fields = HTTPFields()
        fields[.idempotencyKey] = post.key
        fields[.authorization] =
            "Basic " + Data("\(post.user):\(post.user.lowercased())-secret".utf8).base64EncodedString()
        if !post.body.isEmpty { fields[.contentType] = "application/json" }
        return backend.respond(
            to: Request(
                method: .post, authority: "backend.test", path: post.path, query: post.query, fields: fields,
                body: Array(post.body.utf8), id: "test")
        ).withCode()
    }
}

extension Response {
    var isReplayed: Bool { fields[.idempotencyReplayed] == "true" }

    /// What is answered again: all but the field that says so.
    func expectRepeated(_ again: Response, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(!isReplayed && again.isReplayed, sourceLocation: sourceLocation)
        #expect(again.status == status, sourceLocation: sourceLocation)
        #expect(again.body == body, sourceLocation: sourceLocation)
        #expect(again.fields[.contentType] == fields[.contentType], sourceLocation: sourceLocation)
        #expect(again.fields[.retryAfter] == nil, sourceLocation: sourceLocation)
    }

    /// 409 about the key.
    func expectConflict(retryAfter: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status == .conflict, sourceLocation: sourceLocation)
        #expect(Problem(self).field == "Idempotency-Key", sourceLocation: sourceLocation)
        #expect(fields[.retryAfter] == retryAfter, sourceLocation: sourceLocation)
    }
}
