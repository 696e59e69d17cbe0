// SPDX-License-Identifier: Apache-2.0
import FileStore
import HTTP
import HTTPTypes
import HubServer
import JSON
import NotificationHub
import Support
import Testing
import Text

/// Installations as the SDKs of apps and backends use them, and the registrations behind them.
@Suite struct `An installation` {
    let bench = HubBench(isServed: true)

    private static let path = "/myhub/installations/one"
    private static let token = String(repeating: "AB", count: 32)
    private static let never = "9999-12-31T23:59:59.9999999Z"

    @discardableResult
    private func put(_ body: String, id: String = "one", key: String = "listen") -> Response {
        bench.ask(.put, "/myhub/installations/\(id)", key: key, body: body)
    }

    @discardableResult
    private func patch(_ changes: String, type: String = "application/json-patch+json; charset=utf-8") -> Response {
        bench.ask(.patch, Self.path, key: "listen", fields: ["Content-Type": type], body: "[\(changes)]")
    }

    private func text(_ id: String = "one") -> String {
        bench.ask(.get, "/myhub/installations/\(id)", key: "listen").text
    }

    private func feed(_ path: String = "/myhub/registrations") throws -> [RegistrationDescription] {
        try AtomFeed(decoding: bench.ask(.get, path).body).entries.map(\.registration)
    }

    private static func apple(_ more: String = "") -> String {
        #"{"installationId":"one","platform":"apns","pushChannel":"\#(token.lowercased())"\#(more)}"#
    }

    @Test func `is written, read and removed with the recorded statuses, types and members`() throws {
        let full = Self.apple(
            #","userId":"u-1","tags":["tag1"],"pushVariables":{"var1":"value1"},"pushChannelExpired":null,"#
                + #""expirationTime":null,"templates":{"Template Name":{"body":"{\"aps\":{\"alert\":\"alert!\"}}","#
                + #""headers":{"apns-priority":"5"},"expiry":"2018-11-07T16:18:32.6641371-08:00","tags":["x"]}}"#)
        let written = put(full)
        #expect(written.status == .ok && written.body.isEmpty)
        #expect(written.fields[.contentType] == "application/xml; charset=utf-8")
        let read = bench.ask(.get, Self.path, key: "listen")
        #expect(read.status == .ok && read.fields[.contentType] == "application/xml; charset=utf-8")
        #expect(
            read.text
                == #"{"installationId":"one","pushChannel":"\#(Self.token)","pushChannelExpired":false,"platform":"apns","#
                + #""expirationTime":"\#(Self.never)","tags":["tag1"],"pushVariables":{"var1":"value1"},"#
                + #""templates":{"Template Name":{"body":"{\"aps\":{\"alert\":\"alert!\"}}","#
                + #""headers":{"apns-priority":"5"},"expiry":"2018-11-07T16:18:32.6641371-08:00","#
                + #""tags":["x","Template Name"]}},"userId":"u-1"}"#)
        // What a client has read it may write.
        #expect(put(read.text).status == .ok && text() == read.text)
        for _ in 0..<2 {
            let removed = bench.ask(.delete, Self.path, key: "listen")
            #expect(removed.status == .noContent && removed.body.isEmpty)
            #expect(removed.fields[.contentType] == "application/xml; charset=utf-8")
        }
        let absent = bench.ask(.get, Self.path, key: "listen")
        #expect(absent.status == .notFound)
        #expect(try ErrorDocument(decoding: absent.body).detail.hasPrefix("Installation not found.TrackingId:"))
        #expect(try feed() == [])
    }

    @Test func `has registrations that are listed, found by tag and handle, and read one by one`() throws {
        put(
            Self.apple(
                #","userId":"u1","tags":["a"],"templates":{"T 1":{"body":"{}","tags":["b"]},"t2":{"body":"{}"}}"#))
        let all = try feed()
        #expect(all.map { $0.template?.name } == [nil, "T 1", "t2"])
        let system = "$InstallationId:{one},$UserId:{u1},a"
        #expect(all.map(\.tagList) == [system, "\(system),b,T 1", "\(system),t2"])
        #expect(all.allSatisfy { $0.etag == "1" && $0.expirationTime == Self.never })
        for (tag, count) in [
            ("a", 3), ("b", 1), ("T2", 1), ("$InstallationId:{ONE}", 3), ("$userid:{u1}", 3), ("c", 0),
        ] {
            #expect(try feed("/myhub/tags/\(PercentEncoding.encode(tag))/registrations").count == count, "\(tag)")
        }
        let filter = "api-version=2020-06&$filter=DeviceToken+eq+'\(Self.token.lowercased())'"
        let found = bench.ask(.get, "/myhub/registrations", query: filter, key: "listen")
        #expect(try found.ids() == all.compactMap(\.id?.description))
        for one in all {
            let id = try #require(one.id)
            let read = bench.ask(.get, "/myhub/registrations/\(id)", key: "listen")
            #expect(try AtomEntry(decoding: read.body).registration == one)
            #expect(bench.put(id.description, HubBench.apple("AA")).status == .badRequest)
        }
        #expect(
            bench.ask(.get, "/myhub/registrations/\(try #require(all[0].id).description.dropLast())0").status
                == .notFound)
    }

    @Test func `loses its registrations one by one, and is gone with the last`() throws {
        put(Self.apple(#","templates":{"t":{"body":"{}"}}"#))
        func delete(_ id: RegistrationID?, _ condition: String = "*") -> Int {
            bench.ask(
                .delete, "/myhub/registrations/\(id?.description ?? "")", key: "listen", fields: ["If-Match": condition]
            ).status.code
        }
        let (native, template) = try (feed()[0].id, feed()[1].id)
        #expect(delete(template, "\"7\"") == 412)
        #expect([delete(template, "W/\"1\""), delete(template)] == [200, 404])
        #expect(try feed().map(\.id) == [native] && text().contains(#""t":{"body""#))
        // A write brings it back, under a new id.
        put(Self.apple(#","templates":{"t":{"body":"{}"}}"#))
        #expect(try feed().count == 2 && feed()[0].id == native && feed()[1].id != template)
        #expect(try feed().map { delete($0.id) } == [200, 200])
        #expect(bench.ask(.get, Self.path).status == .notFound)
    }

    @Test func `keeps the ids of its registrations, and counts its writes`() throws {
        put(Self.apple(#","templates":{"t":{"body":"{}"}}"#))
        let before = try feed()
        put(Self.apple(#","templates":{"a":{"body":"{}"},"t":{"body":"[]"}},"tags":["x"]"#), id: "ONE")
        let after = try feed()
        #expect(after.first?.id == before.first?.id && after.last?.id == before.last?.id && after.count == 3)
        #expect(after.allSatisfy { $0.etag == "2" })
        #expect(try feed("/myhub/tags/x/registrations").count == 3)
    }

    @Test func `is reached by its id, its user and its tags, and each template by its own`() throws {
        put(Self.apple(#","userId":"u1","tags":["a"],"templates":{"t":{"body":"{}","tags":["b"]}}"#))
        func results(_ format: String, _ tags: String?) throws -> [String] {
            let test = bench.send(format, tags: tags, query: "api-version=2020-06&test", key: "send")
            #expect(test.status == .created)
            return test.text.matches(of: /<RegistrationId>([^<]*)</).map { String($0.1) }
        }
        let (native, template) = try (feed()[0].id?.description, feed()[1].id?.description)
        for tags in ["$InstallationId:{one}", "$UserId:{U1} && a", "a || zzz", nil] {
            #expect(try results("apple", tags) == [native])
            #expect(try results("template", tags) == [template])
        }
        #expect(try results("template", "a && b && t") == [template])
        #expect(try results("apple", "b") == [] && results("apple", "$UserId:{u2}") == [])
    }

    @Test(
        arguments: [
            (#"{"op":"replace","path":"/pushChannel","value":"cd"}"#, #""pushChannel":"CD""#),
            (#"{"op":"add","path":"/userId","value":"u2"}"#, #""userId":"u2""#),
            (#"{"op":"remove","path":"/userId","value":null}"#, nil),
            (#"{"op":"add","path":"/tags","value":"b"}"#, #""tags":["a","b"]"#),
            (#"{"op":"Add","path":"/tags","value":"[\"b\",\"c\"]"}"#, #""tags":["a","b","c"]"#),
            (#"{"op":"replace","path":"/tags","value":"[\"b\",\"c\"]"}"#, #""tags":["b","c"]"#),
            (#"{"op":"replace","path":"/tags","value":["b"]}"#, #""tags":["b"]"#),
            (#"{"op":"remove","path":"/tags/A"}"#, nil), (#"{"op":"remove","path":"/tags"}"#, nil),
            (#"{"op":"remove","path":"/tags/zzz"}"#, #""tags":["a"]"#),
            (
                #"{"op":"replace","path":"/templates","value":"{\"n\":{\"body\":\"[]\"}}"}"#,
                #""templates":{"n":{"body":"[]","tags":["n"]}}"#
            ),
            (
                #"{"op":"add","path":"/templates/n~1m","value":"{\"body\":\"[]\"}"}"#,
                #""n/m":{"body":"[]","tags":["n/m"]}"#
            ),
            (#"{"op":"remove","path":"/templates/t"}"#, nil), (#"{"op":"remove","path":"/templates"}"#, nil),
            (#"{"op":"replace","path":"/templates/t/body","value":"{\"x\":1}"}"#, #""body":"{\"x\":1}""#),
            (#"{"op":"add","path":"/templates/t/headers","value":"{\"apns-a\":\"1\"}"}"#, #""headers":{"apns-a":"1"}"#),
            (#"{"op":"add","path":"/templates/t/headers/apns-b","value":"2"}"#, #""headers":{"apns-b":"2"}"#),
            (#"{"op":"add","path":"/templates/t/expiry","value":"2030-01-01"}"#, #""expiry":"2030-01-01""#),
            (#"{"op":"add","path":"/templates/t/tags","value":"q"}"#, #""tags":["p","q","t"]"#),
            (#"{"op":"remove","path":"/templates/t/tags/p"}"#, #""tags":["t"]"#),
            (#"{"op":"add","path":"/pushVariables/v","value":"1"}"#, #""pushVariables":{"v":"1"}"#),
            (
                #"{"op":"replace","path":"/expirationTime","value":"2030-01-02T13:04+0000"}"#,
                #""expirationTime":"2030-01-02T13:04:00Z""#
            ),
        ] as [(String, String?)])
    func `is changed at each path`(change: String, result: String?) throws {
        put(Self.apple(#","userId":"u","tags":["a"],"templates":{"t":{"body":"{}","tags":["p"]}}"#))
        let before = text()
        let changed = patch(change)
        #expect(changed.status == .ok && changed.body.isEmpty)
        #expect(changed.fields[.contentType] == "application/xml; charset=utf-8")
        if let result {
            #expect(text().contains(result), "\(text())")
        } else {
            #expect(text().utf8.count < before.utf8.count)
        }
        #expect(try feed().allSatisfy { $0.etag == "2" })
    }

    @Test func `has tiles with channels, tags and templates of their own`() throws {
        func channel(_ name: String) -> String { "https://a.notify.windows.com/\(name)" }
        let template = #"{"body":"<toast/>","headers":{"X-WNS-Type":"wns/toast"}}"#
        put(
            #"{"platform":"wns","pushChannel":"\#(channel("main"))","tags":["m"],"secondaryTiles":{"home":{"#
                + #""pushChannel":"\#(channel("home"))","tags":["h"],"templates":{"t":\#(template)}}}}"#)
        #expect(try feed().map(\.secondaryTileName) == [nil, "home", "home"])
        #expect(try feed().map(\.handle.channel) == [channel("main"), channel("home"), channel("home")])
        let filter = "api-version=2020-06&$filter=ChannelUri+eq+'\(channel("home"))'"
        #expect(try bench.ask(.get, "/myhub/registrations", query: filter).ids().count == 2)
        #expect(try feed("/myhub/tags/h/registrations").count == 2)
        let changes = [
            #"{"op":"replace","path":"/secondaryTiles/home/pushChannel","value":"\#(channel("new"))"}"#,
            #"{"op":"add","path":"/secondaryTiles/home/tags","value":"i"}"#,
            #"{"op":"remove","path":"/secondaryTiles/home/templates/t"}"#,
            #"{"op":"add","path":"/secondaryTiles/two","value":"{\"pushChannel\":\"\#(channel("two"))\"}"}"#,
        ]
        #expect(patch(changes.joined(separator: ","), type: "application/json").status == .ok)
        #expect(
            text().contains(
                #""secondaryTiles":{"home":{"pushChannel":"\#(channel("new"))","pushChannelExpired":false,"tags":["h","i"]},"#
                    + #""two":{"pushChannel":"\#(channel("two"))""#))
        #expect(try feed().map(\.handle.channel) == [channel("main"), channel("new"), channel("two")])
        #expect(try bench.ask(.get, "/myhub/registrations", query: filter).ids().isEmpty)
        #expect(patch(#"{"op":"remove","path":"/secondaryTiles"}"#).status == .ok)
        #expect(try feed().count == 1)
    }

    @Test func `of a browser has its channel as an object or as its text`() throws {
        let object =
            #"{"endpoint":"https://push.example/1","p256dh":"\#(Self.publicKey)","auth":"AAAAAAAAAAAAAAAAAAAAAA"}"#
        let asText = object.replacing("\"", with: "\\\"")
        for channel in [object, "\"\(asText)\""] {
            #expect(put(#"{"platform":"browser","pushChannel":\#(channel)}"#).status == .ok)
            #expect(text().contains(#""pushChannel":\#(channel)"#))
            #expect(try feed().map(\.handle.channel) == ["https://push.example/1"])
        }
    }

    private static let publicKey =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    @Test(arguments: ["gcm", "fcmV1", "FCMV1", "adm"])
    func `keeps the platform's name as it was spelled`(name: String) {
        #expect(put(#"{"platform":"\#(name)","pushChannel":"abc"}"#).status == .ok)
        #expect(text().contains(#""platform":"\#(name)""#))
    }

    @Test(arguments: [
        ("", "must be a JSON object"), ("[]", "must be a JSON object"), ("{}", "platform must be"),
        (#"{"platform":"fcm","pushChannel":"a"}"#, "platform must be"),
        (#"{"platform":"apns"}"#, "pushChannel is missing"),
        (#"{"platform":"apns","pushChannel":"xyz"}"#, "pushChannel is wrong"),
        (#"{"platform":"browser","pushChannel":"{}"}"#, "pushChannel is wrong"),
        (#"{"platform":"apns","pushChannel":"AB","installationId":"two"}"#, "installationId is not"),
        (#"{"platform":"apns","pushChannel":"AB","userId":"a b"}"#, "userId has"),
        (#"{"platform":"apns","pushChannel":"AB","userId":7}"#, "userId must be a text"),
        (#"{"platform":"apns","pushChannel":"AB","tags":["a b"]}"#, "An invalid tag"),
        (#"{"platform":"apns","pushChannel":"AB","tags":["$UserId:{a}"]}"#, "An invalid tag"),
        (#"{"platform":"apns","pushChannel":"AB","tags":"a"}"#, "tags must be an array"),
        (#"{"platform":"apns","pushChannel":"AB","expirationTime":"soon"}"#, "expirationTime must be"),
        (#"{"platform":"apns","pushChannel":"AB","pushVariables":{"a":1}}"#, "pushVariables must be texts"),
        (#"{"platform":"apns","pushChannel":"AB","templates":{"t":{}}}"#, "a template needs a body"),
        (#"{"platform":"apns","pushChannel":"AB","templates":{"t":{"body":"nope"}}}"#, "BodyTemplate, byte 1"),
        (
            #"{"platform":"gcm","pushChannel":"AB","templates":{"t":{"body":"{}","headers":{"a":"b"}}}}"#,
            "headers are of"
        ),
        (#"{"platform":"apns","pushChannel":"AB","secondaryTiles":{"t":{"pushChannel":"AB"}}}"#, "secondaryTiles are"),
    ])
    func `that is wrong is refused with a sentence, and nothing is written`(body: String, sentence: String) throws {
        put(Self.apple())
        let before = text()
        let refused = put(body)
        #expect(refused.status == .badRequest)
        #expect(try ErrorDocument(decoding: refused.body).detail.contains(sentence), "\(refused.text)")
        #expect(text() == before)
    }

    @Test(arguments: [
        "x", #"{"op":"move","path":"/tags","value":"a"}"#, #"{"op":"add","path":"tags","value":"a"}"#,
        #"{"op":"add","path":"/other","value":"a"}"#, #"{"op":"add","path":"/","value":"a"}"#,
        #"{"op":"add","path":"/tags/a","value":"a"}"#, #"{"op":"add","path":"/tags","value":"a b"}"#,
        #"{"op":"add","path":"/tags","value":null}"#, #"{"op":"remove","path":"/pushChannel"}"#,
        #"{"op":"replace","path":"/pushChannel","value":"xyz"}"#, #"{"op":"add","path":"/userId/x","value":"a"}"#,
        #"{"op":"add","path":"/templates","value":"a"}"#, #"{"op":"add","path":"/templates/t","value":"{}"}"#,
        #"{"op":"remove","path":"/templates/t/body"}"#, #"{"op":"replace","path":"/templates/t/body","value":"$("}"#,
        #"{"op":"add","path":"/templates/new/expiry","value":"2030-01-01"}"#,
        #"{"op":"replace","path":"/platform","value":"gcm"}"#,
    ])
    func `is not changed at all by a patch of which one change is wrong`(change: String) throws {
        put(Self.apple(#","tags":["a"],"templates":{"t":{"body":"{}"}}"#))
        let before = text()
        let refused = patch(#"{"op":"add","path":"/tags","value":"right"},"# + change)
        #expect(refused.status == .badRequest)
        #expect(try ErrorDocument(decoding: refused.body).code == "400")
        #expect(try text() == before && feed().allSatisfy { $0.etag == "1" })
    }

    @Test func `that is not there cannot be changed, and each call needs Listen`() {
        #expect(patch(#"{"op":"add","path":"/tags","value":"a"}"#).status == .notFound)
        for method in [HTTPRequest.Method.put, .get, .patch, .delete] {
            #expect(bench.ask(method, Self.path, key: "send", body: "[]").status == .unauthorized)
        }
        #expect(put(Self.apple(), id: "a%20b").status == .badRequest)
    }

    @Test func `counts as a write of its policy, and takes no reserved tag on a shared hub`() {
        var options = HubServer.Options()
        options.registrationsPerMinute = 2
        options.isShared = true
        let bench = HubBench(isServed: true, options: options)
        func put(_ tags: String) -> Int {
            bench.ask(.put, Self.path, key: "listen", body: Self.apple(#","tags":[\#(tags)]"#)).status.code
        }
        #expect([put(#""username:alice""#), put(#""news""#), put(#""news""#)] == [400, 200, 429])
        let change = #"[{"op":"add","path":"/templates","value":"{\"t\":{\"body\":\"{}\",\"tags\":[\"role:x\"]}}"}]"#
        #expect(bench.ask(.patch, Self.path, body: change).status == .badRequest)
    }
}
