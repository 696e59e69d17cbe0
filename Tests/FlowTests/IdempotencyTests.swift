// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import HTTPTypes
import JSON
import Testing

/// Requests with an `Idempotency-Key`: made twice, done once.
struct IdempotencyTests {
    @Test func `a message that is sent again is answered as before and not sent`() throws {
        let site = try TestSite()
        let first = site.post(.message)
        #expect(first.status == .ok)
        for _ in 0..<2 { first.expectRepeated(site.post(.message)) }
        #expect(site.hub.messages.count == 1)
    }

    @Test func `a secret that is left again is there once, and its recipient reads it`() throws {
        let site = try TestSite()
        let first = site.post(.secret)
        first.expectRepeated(site.post(.secret))
        #expect(site.hub.messages.count == 4)
        let list = try JSONValue(parsing: site.call(.get, "/api/notifications", as: "bob").body)
        #expect(list.array?.count == 1)
        let id = try #require(try SendOutcome(first).id)
        #expect(try SecureMessage(site.call(.get, "/api/notifications/\(id)", as: "bob")).payload == "the launch code")
    }

    @Test func `without a key each request is one of its own`() throws {
        let site = try TestSite()
        for _ in 0..<2 {
            let response = site.call(
                .post, "/api/notifications", query: "pns=apns&to_tag=bob", as: "alice", body: #""Hello""#)
            #expect(response.status == .ok && !response.isReplayed)
        }
        #expect(site.hub.messages.count == 2)
    }

    @Test func `a registration id that was lost on the way is given again, and takes no second place`() throws {
        let site = try TestSite()
        let first = site.post(.registration)
        first.expectRepeated(site.post(.registration))
        #expect(try site.store.devices(owner: "alice").map(\.id) == [JSONValue(parsing: first.body).string])
        let other = site.post(KeyedPost(path: "/api/register", query: "", body: "", key: "k-2"))
        #expect(try site.store.devices(owner: "alice").count == 2 && !other.isReplayed)
    }

    @Test(arguments: [
        KeyedPost(query: "to_tag=bob&pns=apns"), KeyedPost(query: "PNS=apns&TO_TAG=b%6Fb"),
        KeyedPost(path: "/API/Notifications/"), KeyedPost(key: #""k-1""#), KeyedPost(user: "ALICE"),
    ])
    func `the same request in other letters is the same request`(again: KeyedPost) throws {
        let site = try TestSite()
        site.post(.message).expectRepeated(site.post(again))
        #expect(site.hub.messages.count == 1)
    }

    @Test(arguments: [
        KeyedPost(body: #""another text""#), KeyedPost(query: "pns=apns&to_tag=alice"),
        KeyedPost(query: "pns=wns&to_tag=bob"), KeyedPost.secret, KeyedPost.registration,
    ])
    func `the key of another request is refused, and nothing is done`(other: KeyedPost) throws {
        let site = try TestSite()
        let first = site.post(.message)
        let refused = site.post(other)
        refused.expectConflict()
        #expect(Problem(refused).code == .keyReused)
        #expect(site.hub.messages.count == 1)
        first.expectRepeated(site.post(.message))
    }

    @Test func `the same key of another user is another key`() throws {
        let site = try TestSite()
        for user in ["alice", "bob"] {
            let response = site.post(KeyedPost(user: user))
            #expect(response.status == .ok && !response.isReplayed)
        }
        #expect(site.hub.messages.count == 2)
    }

    @Test(arguments: [
        "", "a b", "é", "\u{7F}", #"""#, #""a"#, #""""#, #""a"b""#, #""a\b""#, #""a\""#, #""a";p=1"#, "a, b",
        String(repeating: "x", count: 256),
    ])
    func `what is no key is refused by the field's name, and nothing is done`(key: String) throws {
        let site = try TestSite()
        for post in [KeyedPost.message, .secret, .registration] {
            var post = post
            post.key = key
            let response = site.post(post)
            #expect(response.status == .badRequest)
            #expect(Problem(response).field == "Idempotency-Key")
        }
        #expect(site.hub.requests.isEmpty)
    }

    @Test func `requests that do no more when they are made twice are not asked for their keys`() throws {
        let site = try TestSite()
        let id = try site.register("alice")
        var fields = HTTPFields()
        fields[.idempotencyKey] = "no key"
        let put = #"{"Platform":"apns","Handle":"\#(TestSite.token(1))"}"#
        let installation = #"{"platform":"ios","instId":"i-1","deviceToken":"\#(TestSite.token(2))"}"#
        for (method, path, body) in [
            (.put, "/api/register/\(id)", put), (.get, "/api/notifications", ""), (.get, "/api/register", ""),
            (.post, "/api/register", installation), (.delete, "/api/register/\(id)", ""),
        ] as [(HTTPRequest.Method, String, String)] {
            #expect(site.call(method, path, as: "alice", body: body, fields: fields).status == .ok, "\(method)")
        }
    }

    @Test func `the key of an unauthenticated request is not looked at`() throws {
        let site = try TestSite()
        var fields = HTTPFields()
        fields[.idempotencyKey] = "no key"
        #expect(site.call(.post, "/api/notifications", fields: fields).status == .unauthorized)
    }

    @Test func `an answer is given again for a day`() throws {
        let site = try TestSite()
        let first = site.post(.message)
        site.clock.advance(86_399)
        first.expectRepeated(site.post(.message))
        site.clock.advance(1)
        #expect(site.post(.message).status == .ok)
        #expect(site.hub.messages.count == 2)
    }

    @Test func `an app tries again with the key of its message, on one platform and on several`() async throws {
        let site = try TestSite()
        let notifications = try site.device(of: "alice").notifications
        let key = IdempotencyKey.random()
        for _ in 0..<2 {
            #expect(try await notifications.send("Hello", to: "bob", on: .apns, key: key.part("one")).isAccepted)
            let outcome = try await notifications.send("Hello", to: "bob", on: [.apns, .wns], key: key)
            #expect(outcome.isAccepted && outcome.outcomes.count == 2)
            #expect(try await notifications.sendSecure("secret", to: "bob", key: key.part("two")).id != nil)
        }
        #expect(site.hub.messages.count == 1 + 2 + 4)
    }

    /// A message is short, and a key may be anybody's number: neither may be found in a copy of the store.
    @Test func `of what was asked the store keeps nothing that could be read`() throws {
        let site = try TestSite()
        #expect(site.post(KeyedPost(key: "order-4711")).status == .ok)
        let folder = site.folder.appending(path: "idempotency")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let text = try names.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
        #expect(text.contains(#""owner":"alice""#) && text.contains("NotificationId"))
        // As words: a hash may have three letters of a name by chance.
        for word in [/order/, /launch/, /\bbob\b/] { #expect(!text.contains(word)) }
    }
}
