// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Testing
import Text

/// The defects of Microsoft's sample, one test each. The number is the defect's place in
/// `docs/migrate/from-azure-tutorials.md`.
struct SampleDefectTests {
    @Test func `1 missing and wrong credentials are 401 with a challenge`() throws {
        let site = try TestSite()
        let wrong = Data("alice:wrong".utf8).base64EncodedString()
        for value in [nil, "Basic \(wrong)", "Bearer x"] as [String?] {
            let fields: HTTPFields = value.map { [.authorization: $0] } ?? [:]
            let response = site.call(.get, "/api/notifications", fields: fields)
            #expect(response.status == .unauthorized)
            #expect(response.fields[.wwwAuthenticate] == #"Basic realm="AppBackend", charset="UTF-8""#)
        }
    }

    @Test func `2 a password may hold colons and letters of any alphabet, and junk is 401`() throws {
        let site = try TestSite(users: [])
        _ = try site.store.putUser(.init(name: "zoë", passwordHash: PasswordHash.make("a:b:ü")))
        let right = Data("zoë:a:b:ü".utf8).base64EncodedString()
        #expect(site.call(.get, "/api/register", fields: [.authorization: "Basic \(right)"]).status == .ok)
        for junk in ["Basic %%%", "Basic YWJj", "Basic", "Basic /////w=="] {
            #expect(site.call(.get, "/api/register", fields: [.authorization: junk]).status == .unauthorized)
        }
    }

    @Test func `3 the user's own name is no password`() throws {
        let site = try TestSite()
        let same = Data("alice:alice".utf8).base64EncodedString()
        #expect(site.call(.get, "/api/register", fields: [.authorization: "Basic \(same)"]).status == .unauthorized)
        // Except where the tutorial's own handler was asked for.
        let test = try TestSite(isTestHandler: true)
        #expect(test.call(.get, "/api/register", fields: [.authorization: "Basic \(same)"]).status == .ok)
    }

    @Test func `4 another user's registration is neither changed nor deleted`() throws {
        let site = try TestSite()
        let id = try site.register("alice", handle: TestSite.token(1))
        let body = #"{"Platform":"apns","Handle":"\#(TestSite.token(2))"}"#
        // The caller gets one of their own instead.
        #expect(site.call(.put, "/api/register/\(id)", as: "bob", body: body).status == .ok)
        #expect(site.call(.delete, "/api/register/\(id)", as: "bob").status == .ok)
        #expect(site.call(.delete, "/api/register/\(id)", as: "bob").status == .forbidden)
        let registration = try site.hubClient.registration(try #require(RegistrationID(id)))
        #expect(registration?.handle.channel == TestSite.token(1))
    }

    @Test(arguments: ["username:bob", "USERNAME:bob", "uſername:bob", "username:alice", "from:bob", "From:bob"])
    func `5 a client cannot claim the tag of another user`(tag: String) throws {
        let site = try TestSite()
        do {
            _ = try site.register("alice", tags: [tag])
            Issue.record("the tag was accepted")
        } catch let problem as Problem {
            #expect(problem.status == .forbidden)
            #expect(problem.field == "Tags")
        }
        #expect(try site.hubClient.registrations(channel: TestSite.token(1)).isEmpty)
    }

    @Test func `6 no user overhears a sender without a grant, and policy says whom a user may send to`() throws {
        let site = try TestSite(users: ["alice"], policy: TagPolicy(defaultTags: ["*"], defaultSendTo: ["team*"]))
        #expect(throws: Problem.self) { try site.register("alice", tags: ["from:alice"]) }
        let response = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=bob", as: "alice", body: #""hello""#)
        #expect(response.status == .forbidden)
        #expect(Problem(response).field == "to_tag")
        // The recipient is a user's name and nothing else: no expression slips in.
        let query = "pns=apns&to_tag=" + PercentEncoding.encode("x || news")
        #expect(site.call(.post, "/api/notifications", query: query, as: "alice", body: #""x""#).status == .badRequest)
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `7 no message and no name breaks a payload`() throws {
        let site = try TestSite()
        let message = "\"},\"aps\":{\"alert\":\"forged</text><x/>&\u{1}\n"
        var json = JSONWriter()
        json.string(message)
        let body = String(decoding: json.bytes, as: UTF8.self)
        for platform in ["apns", "fcm", "wns", "browser"] {
            let query = "pns=\(platform)&to_tag=alice"
            #expect(site.call(.post, "/api/notifications", query: query, as: "bob", body: body).status == .ok)
        }
        let sent = site.hub.messages
        #expect(sent.map(\.format) == ["apple", "fcmv1", "windows", "browser"])
        let text = "From bob: " + message
        let apns = try JSONValue(parsing: Array(sent[0].body.utf8))
        #expect(apns == .object([.init("aps", .object([.init("alert", .string(text))]))]))
        let fcm = try JSONValue(parsing: Array(sent[1].body.utf8))
        #expect(fcm["message"]?["data"]?["message"]?.string == text)
        #expect(sent[2].body.contains("forged&lt;/text&gt;&lt;x/&gt;&amp;\u{FFFD}"))
        #expect(try JSONValue(parsing: Array(sent[3].body.utf8))["body"]?.string == message)
    }

    @Test func `8 one request sends once and its outcome is answered`() throws {
        let site = try TestSite()
        let response = site.call(
            .post, "/api/notifications", query: "pns=wns&to_tag=alice", as: "bob", body: #""hello""#)
        let outcome = try SendOutcome(response)
        #expect(site.hub.messages.count == 1)
        #expect(outcome.outcomes.map(\.platform) == ["wns"])
        #expect(outcome.outcomes.first?.notificationID != nil)
    }

    @Test func `9 an unknown platform is 400 and both names of Google's service work`() throws {
        let site = try TestSite()
        let response = site.call(
            .post, "/api/notifications", query: "pns=palm&to_tag=alice", as: "bob", body: #""hello""#)
        #expect(Problem(response).code == .unknownPlatform && Problem(response).field == "pns")
        #expect(Problem(response).detail.contains("apns, fcm, wns, browser"))
        for name in ["gcm", "fcm", "FCM"] {
            let query = "pns=\(name)&to_tag=alice"
            #expect(site.call(.post, "/api/notifications", query: query, as: "bob", body: #""hello""#).status == .ok)
        }
        #expect(Set(site.hub.messages.map(\.format)) == ["fcmv1"])
        let id = try JSONValue(parsing: site.call(.post, "/api/register", as: "alice").body).string ?? ""
        let put = site.call(
            .put, "/api/register/\(id)", as: "alice", body: #"{"Platform":"gcm","Handle":"token:abc","Tags":null}"#)
        #expect(put.status == .ok)
    }

    @Test func `10 where the hub takes no id at all the answer is 410`() throws {
        let gone = ClosureResponder { request in
            request.method == .put ? Response(status: .gone) : Self.madeID
        }
        let site = try TestSite(hub: gone)
        let problem = #expect(throws: Problem.self) { _ = try site.register("alice") }
        #expect(problem?.code == .registrationGone)
        let body = #"{"Platform":"apns","Handle":"\#(TestSite.token(1))"}"#
        #expect(site.call(.put, "/api/register/1-2-3", as: "alice", body: body).status == .gone)
        #expect(site.call(.put, "/api/register/9-9-9", as: "alice", body: body).status == .gone)
    }

    private static let madeID = Response(
        status: .created, fields: [.location: "https://localhost/hub/registrationids/1-2-3?api-version=2020-06"])

    @Test func `11 secure ids are random, owned and made by POST alone`() async throws {
        let site = try TestSite()
        var ids: [Int32] = []
        for _ in 0..<8 {
            ids.append(try #require(try await site.device(of: "bob").notifications.sendSecure("x", to: "alice").id))
        }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0 > 0 && $0 < .max })
        #expect(zip(ids, ids.dropFirst()).allSatisfy { abs($0 - $1) != 1 })
        let own = site.call(.get, "/api/notifications/\(ids[0])", as: "alice")
        let strangers = site.call(.get, "/api/notifications/\(ids[0])", as: "bob")
        let neverWas = site.call(.get, "/api/notifications/1", as: "bob")
        #expect(own.status == .ok)
        #expect(strangers.status == .notFound)
        #expect(strangers.body == neverWas.body)
        #expect(try await site.device(of: "alice").notifications.secureMessages().count == ids.count)
    }

    @Test func `12 every double of a handle goes, also beyond the first hundred`() throws {
        let site = try TestSite()
        for number in 1...130 {
            let id = try #require(RegistrationID("\(number)-\(number)-1"))
            _ = try site.hubClient.createOrUpdate(
                RegistrationDescription(id: id, tags: [], handle: try .apns(TestSite.token(9))))
        }
        let response = site.call(.post, "/api/register", query: "handle=\(TestSite.token(9))", as: "alice")
        #expect(response.status == .ok)
        #expect(try site.hubClient.registrations(channel: TestSite.token(9)).count == 1)
    }

    @Test func `13 the hub's key is in no source, no error and no log`() throws {
        let connection = try ConnectionString(
            "Endpoint=sb://localhost/;SharedAccessKeyName=test;SharedAccessKey=very-secret-key")
        var dumped = ""
        dump(connection, to: &dumped)
        for text in ["\(connection)", String(reflecting: connection), dumped] {
            #expect(!text.contains("very-secret-key"))
        }
        let refusing = ClosureResponder { _ in
            Response(status: .unauthorized, body: Array("<Error><Detail>very-secret-key</Detail></Error>".utf8))
        }
        let site = try TestSite(hub: refusing)
        let response = site.call(.post, "/api/register", as: "alice")
        #expect(response.status == .badGateway)
        #expect(!String(decoding: response.body, as: UTF8.self).contains("secret"))
    }
}
