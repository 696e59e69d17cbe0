// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Foundation
import HTTP
import JSON
import Testing
import Text

/// What docs/build/webhooks.md gives receivers to try themselves with.
struct WebhookVectorTests {
    @Test func `the documented vector is signed as the product signs`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let page = try String(contentsOf: root.appending(path: "docs/build/webhooks.md"), encoding: .utf8)
        let block = try #require(page.firstMatch(of: /\n## Test vector\n(?s:.*?)```json\n(?<json>(?s:.*?))```/)).json
        let vector = try JSONValue(parsing: Array(block.utf8))
        let secret = try #require(vector["secret"]?.string)
        let endpoint = try #require(
            WebhookEndpoint(
                label: "webhooks", request: Request(method: .post, authority: "r.example", path: "/hook"),
                secret: Secret(secret), kinds: []))
        let id = try #require(vector["webhook-id"]?.string)
        let body = try #require(vector["body"]?.string)
        let time = try #require(vector["webhook-timestamp"]?.string.flatMap { Int64($0) })
        let request = endpoint.request(id: id, body: body, now: Timestamp(seconds: time))
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            #expect(request.fields[named: name] == vector[name]?.string)
        }
        #expect(request.body == Array(body.utf8))
    }
}
