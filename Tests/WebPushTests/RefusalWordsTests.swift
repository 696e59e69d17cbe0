// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Testing

@testable import WebPush

@Suite struct `What a push service says of a refusal` {
    private func driver() throws -> WebPushDriver {
        WebPushDriver(
            key: VAPIDKey(), subject: try VAPIDSubject("mailto:push@example.com"), hosts: try PushHosts(["*"]),
            now: { 1_800_000_000 })
    }

    private func push(to endpoint: String) throws -> Request {
        try driver().request(for: .browser(json: Array("{}".utf8)), to: Browser().handle(endpoint))
    }

    private func reason(_ response: Response, _ endpoint: String = "https://web.push.apple.com/QAbc123-xyz") throws
        -> String?
    {
        try driver().result(of: response, to: push(to: endpoint)).reason
    }

    private static let answers: [(code: Int, body: String, reason: String)] = [
        (403, #"{"reason":"BadJwtToken"}"#, "BadJwtToken"), (400, #"{"reason":"BadWebPushTopic"}"#, "BadWebPushTopic"),
        (
            401, #"{"code":401,"errno":109,"error":"Unauthorized","message":"VAPID public key mismatch"}"#,
            "errno 109: VAPID public key mismatch"
        ),
        (410, #"{"code":410,"errno":106}"#, "errno 106"), (403, #"{"error":{"message":"sender"}}"#, "sender"),
        (404, "push subscription has unsubscribed or expired.\n", "push subscription has unsubscribed or expired."),
        (
            403, "<HTML>\n<HEAD><TITLE>the key does not correspond to the sender ID</TITLE></HEAD>x</HTML>",
            "the key does not correspond to the sender ID"
        ),
        (400, "a\r\nb\u{1b}[31m\u{0}c", "a b [31m c"), (503, "", "status 503"), (500, "{}", "status 500"),
        (502, "<html><body>x</body></html>", "status 502"),
    ]

    @Test(arguments: answers)
    func `is taken into the reason, on one line`(row: (code: Int, body: String, reason: String)) throws {
        let response = Response(status: HTTPResponse.Status(code: row.code), body: Array(row.body.utf8))
        #expect(try reason(response) == row.reason)
    }

    @Test func `is in a header where the service is Microsoft's`() throws {
        let name = try #require(HTTPField.Name("X-WNS-Error-Description"))
        let response = Response(status: .forbidden, fields: [name: "The token is of another domain."])
        #expect(try reason(response) == "The token is of another domain.")
    }

    @Test(arguments: [
        ("https://ntfy.example.com/upAbc12345?up=1", "no such topic upAbc12345"),
        ("https://ntfy.example.com/a%2Fb%2Fc1234567", "unknown: a/b/c1234567"),
        ("https://wns2-par02p.notify.windows.com/w/?token=BQYAAAc%2fd1", "bad token BQYAAAc%2fd1"),
    ])
    func `is not repeated where it has a part of the endpoint`(endpoint: String, text: String) throws {
        #expect(try reason(Response(status: .badRequest, body: Array(text.utf8)), endpoint) == "status 400")
    }

    @Test func `is cut to a length, and long words are left out, which may be tokens`() throws {
        let long = String(repeating: "word ", count: 200) + String(repeating: "A1", count: 40)
        let cut = try #require(try reason(Response(status: .badRequest, body: Array(long.utf8))))
        #expect(cut.count <= RefusalWords.maximumLength)
        let token = "of " + String(repeating: "A1", count: 40) + " here"
        #expect(try reason(Response(status: .badRequest, body: Array(token.utf8))) == "of ... here")
    }

    @Test func `is nothing of a push that was taken`() throws {
        #expect(try reason(Response(status: .created, body: Array("ok".utf8))) == nil)
    }
}
