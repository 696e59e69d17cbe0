// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import JSON
import Testing

/// Messages as the tutorials' apps send them: what a person typed, between quotation marks.
struct TypedMessageTests {
    static let typed = "two\tlines\r\nof text"

    @Test func `a message with a tab and line breaks arrives with them`() throws {
        let site = try TestSite()
        let query = "pns=apns&to_tag=alice"
        let response = site.call(.post, "/api/notifications", query: query, as: "bob", body: "\"\(Self.typed)\"")
        #expect(response.status == .ok)
        let push = try JSONValue(parsing: Array(try #require(site.hub.messages.first).body.utf8))
        #expect(push["aps"]?["alert"]?.string == "From bob: \(Self.typed)")
        let secret = site.call(
            .post, "/api/notifications", query: "to_tag=alice", as: "bob", body: "\"\(Self.typed)\"")
        let id = try #require(try SendOutcome(secret).id)
        let read = try SecureMessage(site.call(.get, "/api/notifications/\(id)", as: "alice"))
        #expect(read.payload == Self.typed)
    }

    @Test func `nothing else is taken that is not JSON, and nothing that is no message`() throws {
        let site = try TestSite()
        for body in ["\"a \"quoted\" word\"", "\"a\u{0}b\"", "\"C:\\x\""] {
            let response = site.call(
                .post, "/api/notifications", query: "pns=apns&to_tag=alice", as: "bob", body: body)
            #expect(response.status == .badRequest)
        }
        let id = try site.newID("alice")
        let registration = "{\"Platform\":\"apns\",\"Handle\":\"\(TestSite.token(1))\",\"Tags\":[\"a\nb\"]}"
        #expect(site.call(.put, "/api/register/\(id)", as: "alice", body: registration).status == .badRequest)
    }

    @Test func `a token as iOS 13 describes it is refused with what the app has to change`() throws {
        let site = try TestSite()
        let handle = "{LENGTH=32,BYTES=0X752EFC88CA41F7CC...E6EFFA58AB393847}"
        let id = try site.newID("alice")
        let put = Problem(site.put(id, as: "alice", handle: handle))
        #expect(put.status == .badRequest && put.field == "Handle")
        #expect(put.detail.contains("iOS 13") && put.detail.contains("hexadecimal"))
        #expect(!put.detail.contains("752"))
    }
}
