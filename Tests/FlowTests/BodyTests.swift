// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import Testing

/// Bodies as some clients send them.
struct BodyTests {
    /// Each with a body that is taken.
    static let calls: [(method: HTTPRequest.Method, path: String, query: String, body: String)] = [
        (.post, "/api/notifications", "", #"{"To":"bob","Body":"Hi"}"#),
        (.post, "/api/notifications", "", #""secret""#),
        (.post, "/api/notifications", "pns=apns&to_tag=bob", #""Hi""#),
        (.post, "/api/session", "", #"{"UserName":"alice","Password":"alice-secret"}"#),
        (.post, "/api/tokens", "", #"{"Scopes":["send"]}"#),
        (
            .put, Path.installations, "",
            #"{"installationId":"a","platform":"apns","pushChannel":"\#(TestSite.token(1))","tags":[]}"#
        ),
    ]

    @Test(arguments: calls.indices) func `a byte order mark in front of a body is skipped`(row: Int) throws {
        let call = Self.calls[row]
        let site = try TestSite()
        let user = call.path == "/api/session" ? nil : "alice"
        let answer = site.call(call.method, call.path, query: call.query, as: user, body: "\u{FEFF}" + call.body)
        #expect(answer.status == .ok)
    }

    @Test(arguments: calls.indices) func `a compressed body is refused by name, and an identity is taken`(row: Int)
        throws
    {
        let call = Self.calls[row]
        let site = try TestSite()
        let user = call.path == "/api/session" ? nil : "alice"
        func answer(_ coding: String) -> Response {
            site.call(
                call.method, call.path, query: call.query, as: user, body: call.body,
                fields: [.contentEncoding: coding])
        }
        let refused = answer("gzip")
        #expect(refused.status == .unsupportedMediaType && Problem(refused).field == "Content-Encoding")
        #expect(refused.fields[.acceptEncoding] == "identity")
        let ofType = site.call(.post, "/api/tokens", as: "alice", body: "{}", contentType: "text/plain")
        #expect(ofType.status == .unsupportedMediaType && ofType.fields[.acceptEncoding] == nil)
        #expect(answer("identity").status == .ok)
    }
}
