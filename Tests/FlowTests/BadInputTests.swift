// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

/// What each route answers to requests that are not as they should be: the status, and the field at fault.
struct BadInputTests {
    /// One malformed request. `{id}` in a path is a registration id of alice's.
    struct Row: CustomTestStringConvertible, Sendable {
        let method: HTTPRequest.Method
        let path: String
        var query = ""
        var body = ""
        var contentType: String? = "application/json"
        let status: Int
        var field: String?

        var testDescription: String { "\(method) \(path)?\(query) \(body.prefix(40)) -> \(status) \(field ?? "")" }
    }

    static let longHandle = String(repeating: "a", count: 5000)
    /// A browser's public key.
    static let p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let register = "/api/register"
    static let one = "/api/register/{id}"
    static let notifications = "/api/notifications"

    /// An installation that is well but for one member.
    static func installation(_ field: String, _ member: String, status: Int = 400) -> Row {
        let well = [
            "installationId": #""installationId":"one""#, "platform": #""platform":"apns""#,
            "pushChannel": #""pushChannel":"\#(TestSite.token(1))""#,
        ]
        let members = well.filter { $0.key != field }.map(\.value).sorted() + [member]
        return Row(
            method: .put, path: Path.installations, body: "{\(members.joined(separator: ","))}", status: status,
            field: field)
    }

    static let rows: [Row] = [
        // No such path, no such method.
        Row(method: .get, path: "/", status: 404), Row(method: .get, path: "/api", status: 404),
        Row(method: .get, path: "/api/unknown", status: 404), Row(method: .get, path: "/api/register/1/2", status: 404),
        Row(method: .get, path: "/api/notifications/%zz", status: 404),
        Row(method: .put, path: register, status: 405), Row(method: .get, path: one, status: 405),
        Row(method: .patch, path: one, status: 405), Row(method: .delete, path: notifications, status: 405),
        Row(method: .put, path: "/api/notifications/1", status: 405),
        Row(method: .post, path: "/api/sessions", status: 405), Row(method: .get, path: "/api/password", status: 405),
        Row(method: .delete, path: "/api/sessions/1", status: 404),
        Row(method: .put, path: "/api/password", body: #"{"NewPassword":"a"}"#, status: 400, field: "Password"),
        Row(method: .put, path: "/api/password", body: #"{"Password":"a"}"#, status: 400, field: "NewPassword"),
        Row(method: .put, path: "/api/password", body: "[]", status: 400, field: "body"),
        Row(
            method: .put, path: "/api/password", body: "{}", contentType: "text/plain", status: 415,
            field: "Content-Type"),
        Row(method: .post, path: "/api/inbox", status: 405), Row(method: .get, path: "/api/inbox/1", status: 405),
        Row(method: .get, path: "/api/inbox/1/read", status: 405),
        // /api/notifications/scheduled
        Row(method: .post, path: "/api/notifications/scheduled", status: 405),
        Row(method: .get, path: "/api/notifications/scheduled/AAAAAAAAAAAAAAAAAAAAAA", status: 405),
        Row(method: .delete, path: "/api/notifications/scheduled/AAAAAAAAAAAAAAAAAAAAAA", status: 404),
        Row(method: .delete, path: "/api/notifications/scheduled/%2e%2e", status: 404),
        Row(
            method: .post, path: notifications, body: #"{"To":"alice","Body":"Hi","SendAt":"now"}"#, status: 400,
            field: "SendAt"),
        Row(
            method: .post, path: notifications, body: #"{"To":"alice","Body":"Hi","SendAt":7}"#, status: 400,
            field: "SendAt"),
        // What is empty would do more than was meant.
        Row(
            method: .post, path: notifications, body: #"{"To":"alice","Body":"Hi","SendAt":""}"#, status: 400,
            field: "SendAt"),
        Row(
            method: .post, path: notifications, body: #"{"To":"alice","Body":"Hi","FromDevice":""}"#, status: 400,
            field: "FromDevice"),
        Row(
            method: .post, path: notifications, body: #"{"To":"alice","Body":"Hi","Platforms":[]}"#, status: 400,
            field: "Platforms"),
        // /api/notifications/{MessageId}/timeline
        Row(method: .post, path: "/api/notifications/AAAAAAAAAAAAAAAAAAAAAA/timeline", status: 405),
        Row(method: .get, path: "/api/notifications/AAAAAAAAAAAAAAAAAAAAAA/timeline", status: 404),
        Row(method: .get, path: "/api/notifications/1/timeline", status: 404),
        Row(method: .get, path: "/api/notifications/%2e%2e/timeline", status: 404),
        Row(method: .get, path: "/api/notifications/AAAAAAAAAAAAAAAAAAAAA%00/timeline", status: 404),
        Row(method: .get, path: "/api/notifications/AAAAAAAAAAAAAAAAAAAAAA/opened", status: 405),
        Row(method: .post, path: "/api/notifications/AAAAAAAAAAAAAAAAAAAAAA/opened", status: 404),
        Row(method: .post, path: "/api/notifications/1/opened", status: 404),
        Row(method: .post, path: "/api/notifications/%2e%2e/opened", status: 404),
        // GET /api/inbox
        Row(method: .get, path: "/api/inbox", query: "limit=0", status: 400, field: "limit"),
        Row(method: .get, path: "/api/inbox", query: "limit=101", status: 400, field: "limit"),
        Row(method: .get, path: "/api/inbox", query: "after=0", status: 400, field: "after"),
        Row(method: .get, path: "/api/inbox", query: "unread=1", status: 400, field: "unread"),
        // POST /api/register
        Row(method: .post, path: register, query: "handle=%f", status: 400, field: "handle"),
        Row(method: .post, path: register, query: "handle=%ff", status: 400, field: "handle"),
        Row(method: .post, path: register, query: "handle=" + longHandle, status: 400, field: "handle"),
        Row(method: .post, path: register, query: String(repeating: "a=b&", count: 40), status: 400, field: "query"),
        Row(method: .post, path: register, body: "[]", status: 400, field: "body"),
        Row(method: .post, path: register, body: "{", status: 400, field: "body"),
        Row(method: .post, path: register, body: "{}", contentType: "text/plain", status: 415, field: "Content-Type"),
        Row(method: .post, path: register, body: "{}", status: 400, field: "platform"),
        Row(method: .post, path: register, body: #"{"platform":"palm"}"#, status: 400, field: "platform"),
        Row(method: .post, path: register, body: #"{"platform":1}"#, status: 400, field: "platform"),
        Row(method: .post, path: register, body: #"{"platform":"ios"}"#, status: 400, field: "instId"),
        Row(
            method: .post, path: register, body: #"{"platform":"ios","instId":"a"}"#, status: 400, field: "deviceToken"),
        Row(
            method: .post, path: register, body: #"{"platform":"windows","instId":"a"}"#, status: 400,
            field: "channelUri"),
        Row(
            method: .post, path: register, body: #"{"platform":"ios","instId":"a b","deviceToken":"00"}"#, status: 400,
            field: "instId"),
        Row(
            method: .post, path: register, body: #"{"platform":"ios","instId":"username:bob","deviceToken":"00"}"#,
            status: 403, field: "instId"),
        Row(
            method: .post, path: register, body: #"{"platform":"ios","instId":"a","deviceToken":"xyz"}"#, status: 400,
            field: "deviceToken"),
        // PUT /api/register/{id}
        Row(method: .put, path: one, status: 400, field: "body"),
        Row(method: .put, path: one, body: "null", status: 400, field: "body"),
        Row(method: .put, path: one, body: #""text""#, status: 400, field: "body"),
        Row(method: .put, path: one, body: "{\"Platform\":\"ap\u{1}\"}", status: 400, field: "body"),
        Row(method: .put, path: one, body: #"{"Platform":"apns","platform":"wns"}"#, status: 400, field: "Handle"),
        Row(method: .put, path: one, body: #"{"Platform":"apns","Platform":"wns"}"#, status: 400, field: "body"),
        Row(method: .put, path: one, body: String(repeating: "[", count: 5000), status: 400, field: "body"),
        Row(method: .put, path: one, body: "<xml/>", contentType: "text/xml", status: 415, field: "Content-Type"),
        Row(method: .put, path: one, body: #"{"Handle":"00"}"#, status: 400, field: "Platform"),
        Row(method: .put, path: one, body: #"{"Platform":"palm","Handle":"00"}"#, status: 400, field: "Platform"),
        Row(method: .put, path: one, body: #"{"Platform":{},"Handle":"00"}"#, status: 400, field: "Platform"),
        Row(method: .put, path: one, body: #"{"Platform":"apns"}"#, status: 400, field: "Handle"),
        Row(method: .put, path: one, body: #"{"Platform":"apns","Handle":""}"#, status: 400, field: "Handle"),
        Row(method: .put, path: one, body: #"{"Platform":"apns","Handle":"xyz"}"#, status: 400, field: "Handle"),
        Row(method: .put, path: one, body: #"{"Platform":"apns","Handle":7}"#, status: 400, field: "Handle"),
        Row(method: .put, path: one, body: #"{"Platform":"wns","Handle":"http://x/"}"#, status: 400, field: "Handle"),
        Row(method: .put, path: one, body: #"{"Platform":"wns","Handle":"file:///x"}"#, status: 400, field: "Handle"),
        Row(
            method: .put, path: one, body: #"{"Platform":"apns","Handle":"00","Tags":"a"}"#, status: 400, field: "Tags"),
        Row(
            method: .put, path: one, body: #"{"Platform":"apns","Handle":"00","Tags":[1]}"#, status: 400, field: "Tags"),
        Row(
            method: .put, path: one, body: #"{"Platform":"apns","Handle":"00","Tags":["a b"]}"#, status: 400,
            field: "Tags"),
        Row(
            method: .put, path: one, body: #"{"Platform":"apns","Handle":"00","Tags":["$InstallationId:{x}"]}"#,
            status: 400, field: "Tags"),
        Row(
            method: .put, path: one,
            body: #"{"Platform":"apns","Handle":"00","Tags":["# + (0..<60).map { "\"t\($0)\"" }.joined(separator: ",")
                + "]}", status: 400, field: "Tags"),
        Row(
            method: .put, path: one, body: #"{"Platform":"apns","Handle":"00","Tags":["from:bob"]}"#, status: 403,
            field: "Tags"),
        Row(
            method: .put, path: one, body: #"{"Platform":"browser","Handle":"https://push.example/x"}"#, status: 400,
            field: "Keys"),
        Row(
            method: .put, path: one,
            body: #"{"Platform":"browser","Handle":"https://push.example/x","Keys":{"p256dh":"x"}}"#, status: 400,
            field: "auth"),
        Row(
            method: .put, path: one,
            body: #"{"Platform":"browser","Handle":"https://push.example/x","Keys":{"p256dh":"x","auth":"y"}}"#,
            status: 400, field: "p256dh"),
        Row(
            method: .put, path: one,
            body: #"{"Platform":"browser","Handle":"https://x.example/","Keys":{"p256dh":"\#(p256dh)","auth":"y"}}"#,
            status: 400, field: "auth"),
        Row(
            method: .put, path: one,
            body: #"{"Platform":"browser","Handle":"x","Keys":{"p256dh":"x","auth":"y"}}"#, status: 400,
            field: "Handle"),
        Row(
            method: .put, path: one + String(repeating: "1", count: 256),
            body: #"{"Platform":"apns","Handle":"00"}"#, status: 410),
        // POST /api/notifications
        Row(method: .post, path: notifications, query: "pns=apns", body: #""x""#, status: 400, field: "to_tag"),
        Row(
            method: .post, path: notifications, query: "pns=apns&to_tag=a%20b", body: #""x""#, status: 400,
            field: "to_tag"),
        Row(method: .post, path: notifications, query: "pns=&to_tag=bob", body: #""x""#, status: 400, field: "pns"),
        Row(method: .post, path: notifications, query: "pns=mpns&to_tag=bob", body: #""x""#, status: 400, field: "pns"),
        Row(method: .post, path: notifications, query: "pns=apns&to_tag=bob", status: 400, field: "body"),
        Row(method: .post, path: notifications, query: "pns=apns&to_tag=bob", body: "{}", status: 400, field: "body"),
        Row(method: .post, path: notifications, query: "pns=apns&to_tag=bob", body: "x", status: 400, field: "body"),
        Row(
            method: .post, path: notifications, query: "pns=apns&to_tag=bob", body: #""x""#, contentType: "text/plain",
            status: 415, field: "Content-Type"),
        Row(
            method: .post, path: notifications, query: "pns=apns&to_tag=bob",
            body: "\"" + String(repeating: "x", count: 4100) + "\"", status: 413, field: "body"),
        Row(method: .post, path: notifications, query: "to_tag=nosuch", status: 400, field: "to_tag"),
        Row(method: .post, path: notifications, query: "to_tag=a%00b", status: 400, field: "to_tag"),
        Row(method: .post, path: notifications, body: "[1]", status: 400, field: "body"),
        Row(method: .post, path: notifications, body: #""\ud800""#, status: 400, field: "body"),
        // PUT /api/notifications/installations
        Row(method: .put, path: Path.installations, status: 400, field: "body"),
        Row(method: .put, path: Path.installations, body: "[]", status: 400, field: "body"),
        Row(
            method: .put, path: Path.installations, body: "{}", contentType: "text/plain", status: 415,
            field: "Content-Type"),
        installation("installationId", #""installationId":null"#),
        installation("installationId", #""installationId":7"#),
        installation("installationId", #""installationId":"a\u0000""#),
        installation("installationId", #""installationId":"\#(String(repeating: "a", count: 257))""#),
        installation("platform", #""platform":"""#), installation("platform", #""platform":"palm""#),
        installation("platform", #""platform":"browser""#), installation("platform", #""platform":["apns"]"#),
        installation("pushChannel", #""pushChannel":"""#), installation("pushChannel", #""pushChannel":"xyz""#),
        installation("pushChannel", #""pushChannel":{}"#), installation("tags", #""tags":"news""#),
        installation("tags", #""tags":[1]"#), installation("tags", #""tags":["a b"]"#),
        installation("tags", #""tags":["username:bob"]"#, status: 403),
        installation("tags", #""tags":["from:bob"]"#, status: 403),
        // POST /api/notifications/requests
        Row(method: .post, path: Path.requests, body: "{}", status: 400, field: "text"),
        Row(method: .post, path: Path.requests, body: #""text""#, status: 400, field: "body"),
        Row(method: .post, path: Path.requests, body: #"{"text":7}"#, status: 400, field: "text"),
        Row(method: .post, path: Path.requests, body: #"{"text":"a","action":7}"#, status: 400, field: "action"),
        Row(method: .post, path: Path.requests, body: #"{"silent":true}"#, status: 400, field: "action"),
        Row(method: .post, path: Path.requests, body: #"{"text":"a","silent":"yes"}"#, status: 400, field: "silent"),
        Row(method: .post, path: Path.requests, body: #"{"text":"a","tags":"news"}"#, status: 400, field: "tags"),
        Row(method: .post, path: Path.requests, body: #"{"text":"a","tags":["a b"]}"#, status: 400, field: "tags"),
        Row(method: .post, path: Path.requests, body: #"{"text":"a","tags":["news"]}"#, status: 403, field: "tags"),
        Row(
            method: .post, path: Path.requests, body: "{}", contentType: "text/plain", status: 415,
            field: "Content-Type"),
        // GET /api/notifications
        Row(method: .get, path: notifications, query: "limit=0", status: 400, field: "limit"),
        Row(method: .get, path: notifications, query: "limit=101", status: 400, field: "limit"),
        Row(method: .get, path: notifications, query: "limit=99999999999999999999", status: 400, field: "limit"),
        Row(method: .get, path: notifications, query: "after=x", status: 400, field: "after"),
        Row(method: .get, path: notifications, query: "after=-1", status: 400, field: "after"),
        Row(method: .get, path: notifications, query: "unread=maybe", status: 400, field: "unread"),
        // GET /api/notifications/{id}
        Row(method: .get, path: "/api/notifications/0", status: 404),
        Row(method: .get, path: "/api/notifications/-1", status: 404),
        Row(method: .get, path: "/api/notifications/2147483647", status: 404),
        Row(method: .get, path: "/api/notifications/2147483648", status: 404),
        Row(method: .get, path: "/api/notifications/1e3", status: 404),
        Row(method: .get, path: "/api/notifications/..%2F..%2Fetc", status: 404),
        Row(method: .get, path: "/api/notifications/" + String(repeating: "9", count: 4000), status: 404),
        // /health
        Row(method: .post, path: "/health", status: 405),
    ]

    @Test func `each malformed request gets its status and names the field at fault`() throws {
        let site = try TestSite()
        let id = try JSONValue(parsing: site.call(.post, "/api/register", as: "alice").body).string ?? ""
        for row in Self.rows {
            let response = site.call(
                row.method, row.path.replacingOccurrences(of: "{id}", with: id), query: row.query, as: "alice",
                body: row.body, contentType: row.contentType)
            let problem = Problem(response)
            #expect(response.status.code == row.status, "\(row.testDescription)")
            #expect(problem.field == row.field, "\(row.testDescription)")
            #expect(response.fields[.contentType] == Problem.contentType, "\(row.testDescription)")
            #expect((response.fields[.allow] != nil) == (row.status == 405), "\(row.testDescription)")
            #expect(!String(decoding: response.body, as: UTF8.self).contains(Self.longHandle), "\(row.testDescription)")
        }
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `health is for this host alone`() throws {
        let site = try TestSite()
        var request = Request(method: .get, path: "/health")
        #expect(site.backend.respond(to: request).status == .ok)
        for (address, status) in [("127.0.0.1", 200), ("::1", 200), ("192.0.2.1", 404), ("", 404)] {
            request.remoteAddress = address
            #expect(site.backend.respond(to: request).status.code == status)
        }
    }

    @Test func `a user's own name in a request changes nothing about who they are`() throws {
        let site = try TestSite()
        var request = Request(method: .get, path: "/api/register")
        request.fields[try #require(HTTPField.Name("Remote-User"))] = "alice"
        #expect(site.backend.respond(to: request).status == .unauthorized)
    }

    @Test func `no mutation of a body ends the process or gets past the checks`() throws {
        let site = try TestSite { $0.limits = .none }
        let id = try JSONValue(parsing: site.call(.post, "/api/register", as: "alice").body).string ?? ""
        let good = #"{"Platform":"apns","Handle":"\#(TestSite.token(1))","Tags":["news","a.b"],"Keys":{"auth":"x"}}"#
        var random = SeededRandom(seed: 7)
        for _ in 0..<1500 {
            let body = random.mutate(good)
            let response = site.call(.put, "/api/register/\(id)", as: "alice", body: body)
            #expect([200, 400, 403].contains(response.status.code), "\(response.status)")
        }
        for _ in 0..<1500 {
            let query = random.mutate("pns=apns&to_tag=bob&x=%41")
            let response = site.call(
                .post, "/api/notifications", query: query, as: "alice", body: random.mutate(#""hel\u006co\n""#))
            #expect([200, 400, 403, 413, 429].contains(response.status.code), "\(response.status)")
        }
    }
}

extension SeededRandom {
    /// A few bytes changed, inserted or cut.
    mutating func mutate(_ text: String) -> String {
        var bytes = Array(text.utf8)
        for _ in 0...Int.random(in: 0..<3, using: &self) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &self), at: index)
            case 2: bytes.remove(at: index)
            default: bytes = Array(bytes.prefix(index)) + Array(bytes.dropFirst(min(bytes.count, index + 4)))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
