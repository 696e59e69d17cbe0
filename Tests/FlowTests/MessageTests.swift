// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// A message object: what each platform gets of it, and what is refused.
struct MessageTests {
    static let full = PushMessage(
        to: "alice", title: "Lunch \"now\"", body: "At <noon> & later", data: ["room": "4", "a": "é"],
        link: "https://chat.example/rooms/4?x=1&y=2", image: "https://chat.example/4.png", sound: "ding.caf", badge: 3,
        category: "INVITE", thread: "room4", priority: .normal, timeToLive: 3_600, collapseID: "room4")

    static let bodies = [
        "apple": #"{"aps":{"alert":{"title":"Lunch \"now\"","body":"At <noon> & later"},"sound":"ding.caf","badge":3,"#
            + #""category":"INVITE","thread-id":"room4","mutable-content":1},"image":"https://chat.example/4.png","#
            + #""sender":"bob","link":"https://chat.example/rooms/4?x=1&y=2","a":"é","room":"4"}"#,
        "fcmv1": #"{"message":{"notification":{"title":"Lunch \"now\"","body":"At <noon> & later","#
            + #""image":"https://chat.example/4.png"},"data":{"sender":"bob","#
            + #""link":"https://chat.example/rooms/4?x=1&y=2","a":"é","room":"4"},"android":{"priority":"normal","#
            + #""ttl":"3600s","collapse_key":"room4","notification":{"sound":"ding.caf","click_action":"INVITE","#
            + #""notification_count":3}}}}"#,
        "windows":
            #"<toast launch="https://chat.example/rooms/4?x=1&amp;y=2"><visual><binding template="ToastGeneric">"#
            + #"<text>Lunch "now"</text><text>At &lt;noon&gt; &amp; later</text>"#
            + #"<image src="https://chat.example/4.png"></image></binding></visual></toast>"#,
        "browser": #"{"title":"Lunch \"now\"","body":"At <noon> & later","sender":"bob","#
            + #""link":"https://chat.example/rooms/4?x=1&y=2","image":"https://chat.example/4.png","badge":3,"#
            + #""data":{"a":"é","room":"4"}}"#,
    ]

    @Test func `each platform gets in its own form what it can express, and the answer names the rest`() throws {
        let site = try TestSite()
        let outcome = try SendOutcome(site.send(Self.full))
        let messages = site.hub.messages
        #expect(messages.map(\.format).sorted() == Self.bodies.keys.sorted())
        for message in messages { #expect(Self.shown(message.body) == Self.bodies[message.format]) }
        let ignored = Dictionary(uniqueKeysWithValues: outcome.outcomes.map { ($0.platform, $0.ignored) })
        #expect(
            ignored == [
                "apns": [], "fcm": ["Thread"], "wns": ["Data", "Sound", "Badge", "Category", "Priority"],
                "browser": ["Sound", "Category", "Thread"],
            ])
    }

    @Test func `headers tell each service how long, how urgent, and what is replaced`() throws {
        let site = try TestSite()
        _ = site.send(Self.full)
        let expires = String(site.clock.seconds + 3_600)
        let expected = [
            "apple": [
                "apns-push-type": "alert", "apns-priority": "5", "apns-expiration": expires,
                "apns-collapse-id": "room4",
            ],
            "windows": [
                "X-WNS-Type": "wns/toast", "X-WNS-TTL": "3600", "X-WNS-Tag": "room4", "X-WNS-Group": "room4",
            ],
            "browser": ["Urgency": "normal", "TTL": "3600", "Topic": "room4"], "fcmv1": [:],
        ]
        for message in site.hub.messages {
            for (name, value) in try #require(expected[message.format]) {
                #expect(message.fields[try #require(HTTPField.Name(name))] == value, "\(message.format) \(name)")
            }
        }
    }

    @Test func `what nothing is said of is left to the platform`() throws {
        let site = try TestSite()
        let outcome = try SendOutcome(site.send(PushMessage(to: "alice", body: "Hi")))
        #expect(outcome.isAccepted && outcome.outcomes.allSatisfy { $0.ignored.isEmpty })
        let bodies = Dictionary(uniqueKeysWithValues: site.hub.messages.map { ($0.format, Self.shown($0.body)) })
        #expect(bodies["apple"] == #"{"aps":{"alert":{"title":"From bob","body":"Hi"}},"sender":"bob"}"#)
        #expect(
            bodies["fcmv1"]
                == #"{"message":{"notification":{"title":"From bob","body":"Hi"},"data":{"sender":"bob"},"android":{"priority":"high"}}}"#
        )
        #expect(bodies["browser"] == #"{"title":"From bob","body":"Hi","sender":"bob"}"#)
        let fields = try #require(site.hub.messages.first { $0.format == "apple" }).fields
        #expect(try fields[#require(HTTPField.Name("apns-expiration"))] == nil)
        #expect(try fields[#require(HTTPField.Name("apns-priority"))] == "10")
    }

    @Test func `a silent message wakes apps, shows nothing, and is not sent to browsers`() throws {
        let site = try TestSite()
        let message = PushMessage(
            to: "alice", data: ["sync": "1"], priority: .high, timeToLive: 0, isSilent: true)
        let outcome = try SendOutcome(site.send(message))
        let bodies = Dictionary(uniqueKeysWithValues: site.hub.messages.map { ($0.format, Self.shown($0.body)) })
        #expect(
            bodies == [
                "apple": #"{"aps":{"content-available":1},"sender":"bob","sync":"1"}"#,
                "fcmv1": #"{"message":{"data":{"sender":"bob","sync":"1"},"android":{"priority":"high","ttl":"0s"}}}"#,
                "windows": #"{"sender":"bob","sync":"1"}"#,
            ])
        let apple = try #require(site.hub.messages.first { $0.format == "apple" })
        #expect(try apple.fields[#require(HTTPField.Name("apns-push-type"))] == "background")
        #expect(try apple.fields[#require(HTTPField.Name("apns-priority"))] == "5")
        #expect(try apple.fields[#require(HTTPField.Name("apns-expiration"))] == "0")
        let browser = try #require(outcome.outcomes.first { $0.platform == "browser" })
        #expect(browser.state == "Skipped" && browser.ignored == ["Silent"])
        #expect(outcome.outcomes.first { $0.platform == "apns" }?.ignored == ["Priority"])
        #expect(outcome.outcomes.first { $0.platform == "wns" }?.ignored == ["Priority", "TimeToLive"])
    }

    @Test(arguments: [false, true])
    func `a recipient with devices on an undelivered platform alone is Skipped there`(isSecure: Bool) throws {
        let site = try TestSite(platforms: [.apns, .fcm, .wns], road: .direct) {
            $0.publicConfiguration = PublicConfiguration(deliveringPlatforms: [.wns])
        }
        func states(_ to: PushMessage.Recipients, _ platforms: [String] = []) throws -> [String] {
            let message = PushMessage(to: to, body: "Hi", isSecure: isSecure, platforms: platforms)
            let outcome = try SendOutcome(site.send(message))
            if let id = outcome.messageID {
                let timeline = site.call(.get, Path.notifications + "/\(id)/timeline", as: "bob")
                let shown = try JSONValue(parsing: timeline.body)["Outcomes"]?.array ?? []
                #expect(shown.map { $0["Platform"]?.string } == outcome.outcomes.map(\.platform))
            }
            return outcome.outcomes.map { "\($0.platform) \($0.state)" }
        }
        #expect(try states("alice") == ["wns NoTargetFound"])
        _ = try site.register("alice")
        #expect(try states("alice") == ["wns NoTargetFound", "apns Skipped"])
        #expect(try states("alice", ["wns"]) == ["wns NoTargetFound"])
        let windows = DeviceRegistration(platform: "wns", handle: "https://db5p.notify.windows.com/?token=a")
        let id = try #require(try JSONValue(parsing: site.call(.post, Path.register, as: "alice").body).string)
        let body = String(decoding: windows.json, as: UTF8.self)
        #expect(site.call(.put, Path.register + "/\(id)", as: "alice", body: body).status == .ok)
        #expect(try states("alice") == ["wns Enqueued"])
    }

    @Test func `a secure message keeps its text, and neither text nor sender leaves`() throws {
        let site = try TestSite()
        let message = PushMessage(to: "alice", title: "Door", body: "47 11", isSecure: true, platforms: ["fcm"])
        let id = try #require(try SendOutcome(site.send(message)).id)
        let read = try SecureMessage(site.call(.get, "/api/notifications/\(id)", as: "alice"))
        #expect(read.payload == "Door\n47 11" && read.sender == "bob")
        #expect(site.hub.messages.map(\.format) == ["fcmv1"])
        #expect(!site.hub.messages.contains { $0.body.contains("47 11") || $0.body.contains(/\bbob\b/) })
    }

    @Test func `a link of the app's own is not for browsers, and a badge of none not for Android`() throws {
        let site = try TestSite()
        let message = PushMessage(
            to: "alice", body: "Hi", link: "chat://rooms/4", badge: 0, platforms: ["fcm", "browser"])
        let outcome = try SendOutcome(site.send(message))
        #expect(outcome.outcomes.map(\.ignored) == [["Badge"], ["Link"]])
        let bodies = Dictionary(uniqueKeysWithValues: site.hub.messages.map { ($0.format, Self.shown($0.body)) })
        #expect(bodies["browser"] == #"{"title":"From bob","body":"Hi","sender":"bob","badge":0}"#)
        #expect(bodies["fcmv1"]?.contains("notification_count") == false)
    }

    @Test func `named platforms alone are sent to, in any of their names`() throws {
        let site = try TestSite()
        let message = PushMessage(to: "alice", body: "Hi", platforms: ["GCM", "fcm", "wns"])
        let outcome = try SendOutcome(site.send(message))
        #expect(outcome.outcomes.map(\.platform) == ["fcm", "wns"])
    }

    @Test func `devices of the older call get title and text as one`() throws {
        let site = try TestSite()
        try #require(
            site.call(
                .post, "/api/register", as: "alice",
                body: #"{"platform":"ios","instId":"i1","deviceToken":"\#(TestSite.token(1))"}"#
            ).status == .ok)
        _ = site.send(PushMessage(to: "alice", title: "Lunch", body: "Now", platforms: ["apns"]))
        let template = try #require(site.hub.messages.first { $0.format == "template" })
        #expect(template.body.contains(#"From bob: Lunch\nNow"#))
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        let body: String
        let field: String
        init(_ members: String, _ field: String) { (body, self.field) = (#"{"To":"alice",\#(members)}"#, field) }
        var testDescription: String { "\(field): \(body.prefix(60))" }
    }

    static let refusals = [
        Refusal(#""Titel":"a""#, "Titel"), Refusal(#""Title":7"#, "Title"), Refusal(#""Title":"""#, "Body"),
        Refusal(#""Body":"a","Data":["a"]"#, "Data"), Refusal(#""Body":"a","Data":{"n":1}"#, "Data.n"),
        Refusal(#""Body":"a","Data":{"aps":"{}"}"#, "Data.aps"),
        Refusal(#""Body":"a","Data":{"SecureId":"7"}"#, "Data.SecureId"),
        Refusal(#""Body":"a","Data":{"google.x":"7"}"#, "Data.google.x"),
        Refusal(#""Body":"a","Data":{"message":"x"}"#, "Data.message"),
        Refusal(#""Body":"a","Data":{"link":"x"}"#, "Data.link"),
        Refusal(#""Body":"a","Data":{"Image":"x"}"#, "Data.Image"),
        Refusal(#""Body":"a","Data":{"from":"x"}"#, "Data.from"),
        Refusal(#""Body":"a","Data":{"sender":"eve"}"#, "Data.sender"),
        Refusal(#""Body":"a","Data":{"InboxId":"7"}"#, "Data.InboxId"),
        Refusal(#""Body":"a","Data":{"messageID":"7"}"#, "Data.messageID"),
        Refusal(#""Body":"a","Link":"javascript:alert(1)""#, "Link"),
        Refusal(#""Body":"a","Link":"JavaScript://%0aalert(1)""#, "Link"),
        Refusal(#""Body":"a","Link":"//host/x""#, "Link"), Refusal(#""Body":"a","Link":"https://a b""#, "Link"),
        Refusal(#""Body":"a","Image":"http://host/x.png""#, "Image"),
        Refusal(#""Body":"a","Sound":"a\u0000b""#, "Sound"), Refusal(#""Body":"a","Badge":-1"#, "Badge"),
        Refusal(#""Body":"a","Badge":1.5"#, "Badge"), Refusal(#""Body":"a","Badge":99999999999999999999"#, "Badge"),
        Refusal(#""Body":"a","Priority":"urgent""#, "Priority"), Refusal(#""Body":"a","TimeToLive":-1"#, "TimeToLive"),
        Refusal(#""Body":"a","TimeToLive":2419201"#, "TimeToLive"),
        Refusal(#""Body":"a","CollapseId":"a b""#, "CollapseId"),
        Refusal(#""Body":"a","Secure":"yes""#, "Secure"), Refusal(#""Body":"a","Secure":true,"Badge":1"#, "Badge"),
        Refusal(#""Silent":true,"Title":"a""#, "Title"), Refusal(#""Secure":true"#, "Body"),
        Refusal(#""Secure":true,"Silent":true"#, "Silent"), Refusal(#""Body":"a","Platforms":["palm"]"#, "Platforms"),
        Refusal(#""Body":"a","Platforms":"apns""#, "Platforms"),
    ]

    @Test(arguments: refusals) func `a wrong member is refused by name, and nothing is sent`(row: Refusal) throws {
        let site = try TestSite()
        let problem = Problem(site.call(.post, "/api/notifications", as: "bob", body: row.body))
        #expect(problem.status == .badRequest && problem.field == row.field, "\(problem)")
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `a message needs a recipient, who may be sent to`() throws {
        let site = try TestSite()
        let without = Problem(site.call(.post, "/api/notifications", as: "bob", body: #"{"Body":"a"}"#))
        #expect(without.status == .badRequest && without.field == "To")
        let wrong = Problem(site.call(.post, "/api/notifications", as: "bob", body: #"{"To":"a:b","Body":"a"}"#))
        #expect(wrong.status == .badRequest && wrong.field == "To")
        let twice = Problem(
            site.call(.post, "/api/notifications", query: "to_tag=bob", as: "bob", body: #"{"To":"alice","Body":"a"}"#))
        #expect(twice.status == .badRequest && twice.field == "to_tag")
    }

    /// Without the message's id, which is another one each time.
    private static func shown(_ body: String) -> String {
        body.replacing(/,"messageId":"[A-Za-z0-9_-]{22}"/, with: "")
    }
}
