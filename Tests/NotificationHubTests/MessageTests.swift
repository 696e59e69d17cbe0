// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NotificationHub
import Testing
import Text

@Suite struct MessageTests {
    static let json = [UInt8](#"{"aps":{"alert":"é"}}"#.utf8)

    static let notifications: [(notification: HubNotification, format: String, type: String, headers: [PushHeader])] = [
        (
            .apns(json: json, headers: [PushHeader("apns-push-type", "background"), PushHeader("apns-priority", "5")]),
            "apple", "application/json;charset=utf-8",
            [PushHeader("apns-push-type", "background"), PushHeader("apns-priority", "5")]
        ),
        (.fcm(json: json), "fcmv1", "application/json;charset=utf-8", []),
        (.wnsToast(xml: json), "windows", "application/xml", [PushHeader("X-WNS-Type", "wns/toast")]),
        (.wnsRaw(json), "windows", "application/octet-stream", [PushHeader("X-WNS-Type", "wns/raw")]),
        (.browser(json: json), "browser", "application/json;charset=utf-8", []),
        (.template(json: json), "template", "application/json;charset=utf-8", []),
    ]

    @Test(arguments: notifications.indices)
    func `a message goes out with its format, its tags and its own headers`(_ row: Int) throws {
        let (notification, format, type, headers) = Self.notifications[row]
        let location = "https://ns.example/MyHub/messages/NH-20260101-1-01?api-version=2020-06"
        let hub = ScriptedHub([ClientTests.answer(201, [], [.location: location])])
        let receipt = try ClientTests.client(hub).send(notification, to: TagExpression(parsing: "username:größe&&!b"))
        #expect(receipt == SendReceipt(notificationID: "NH-20260101-1-01", trackingID: "tracking-1"))
        let request = try #require(hub.requests.first)
        #expect(request.method == .post)
        #expect(request.target == "/MyHub/messages?api-version=2020-06")
        #expect(request.body == Self.json)
        #expect(request.fields[.format] == format)
        #expect(request.fields[.tags] == "username:größe && (!b)")
        #expect(request.fields[.contentType] == type)
        for header in headers {
            #expect(request.fields[try #require(HTTPField.Name(header.name))] == header.value)
        }
    }

    @Test func `without an expression the field is absent, and without a location the message has no name`() throws {
        for status in [200, 201] {
            let hub = ScriptedHub([ClientTests.answer(status)])
            let receipt = try ClientTests.client(hub).send(.fcm(json: Self.json), to: nil)
            #expect(receipt.notificationID == nil)
            #expect(hub.requests.first?.fields[.tags] == nil)
        }
    }

    @Test func `a send is never made twice`() throws {
        for answers in [[nil], [ClientTests.answer(503)], [ClientTests.answer(500)], [ClientTests.answer(429)]] {
            let hub = ScriptedHub(answers + [ClientTests.answer(201)])
            #expect(throws: HubError.self) { try ClientTests.client(hub).send(.fcm(json: Self.json), to: nil) }
            #expect(hub.requests.count == 1)
        }
    }

    static let limits: [(format: HubNotification.Format, bytes: Int)] = [
        (.native(.apns), 4096), (.native(.fcm), 4096), (.native(.wns), 5000), (.native(.browser), 3993),
        (.template, 65_536),
    ]

    @Test(arguments: limits.indices)
    func `a message above its service's limit does not leave the house`(_ row: Int) throws {
        let (format, bytes) = Self.limits[row]
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
        let hub = ScriptedHub([ClientTests.answer(201)])
        let client = try ClientTests.client(hub)
        _ = try client.send(HubNotification(format: format, body: body, contentType: "text/plain"), to: nil)
        #expect(throws: HubError.payloadTooLarge) {
            try client.send(HubNotification(format: format, body: body + [0], contentType: "text/plain"), to: nil)
        }
        #expect(hub.requests.count == 1)
    }

    @Test func `an expression or a header that the hub would refuse does not leave the house`() throws {
        let hub = ScriptedHub([])
        let client = try ClientTests.client(hub)
        let many = try (1...7).map { TagExpression.tag(try Tag("t\($0)")) }
        let expression = many.dropFirst().reduce(many[0]) { .and($0, $1) }
        #expect(throws: HubError.refused(status: 400, code: "invalidExpression")) {
            try client.send(.fcm(json: Self.json), to: expression)
        }
        for header in [PushHeader("a b", "x"), PushHeader("", "x"), PushHeader("a", "x\r\nAuthorization: y")] {
            #expect(throws: HubError.refused(status: 400, code: "invalidHeader")) {
                try client.send(.apns(json: Self.json, headers: [header]), to: nil)
            }
        }
        #expect(hub.requests.isEmpty)
    }

    @Test func `a notification's headers cannot take the place of the hub's`() throws {
        let hub = ScriptedHub([ClientTests.answer(201)])
        let headers = ["Authorization", "ServiceBusNotification-Format", "TrackingId", "servicebusnotification-tags"]
            .map { PushHeader($0, "forged") }
        _ = try ClientTests.client(hub).send(.apns(json: Self.json, headers: headers), to: nil)
        #expect(hub.requests.first?.fields.contains { $0.value == "forged" } == false)
    }

    @Test func `a notification prints its size, not its text`() {
        let notification = HubNotification.apns(json: [UInt8]("4711".utf8))
        var dumped = ""
        dump(notification, to: &dumped)
        #expect("\(notification)" == "apple notification of 4 bytes")
        for text in [dumped, String(reflecting: notification)] { #expect(!text.contains("52")) }
    }

    static let details = NotificationDetails(
        id: "NH-1", location: "sb://ns.example/hub/messages/NH-1?api-version=2020-06", state: "Completed",
        enqueueTime: "2015-11-02T21:19:43Z", startTime: "2015-11-02T21:19:43.9926996Z",
        endTime: "2015-11-02T21:19:44Z", body: Secret("<toast>&"), tags: "a && b", targetPlatforms: "windows,fcmv1",
        outcomes: [
            PlatformOutcomes(.wns, [.init("Success", 3), .init("WrongToken", 1)]),
            PlatformOutcomes(.fcm, [.init("Success", 0)]),
        ], errorDetailsURI: "https://blob.example/c?a=1&b=2")

    static let document =
        "<NotificationDetails xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\" "
        + "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\"><NotificationId>NH-1</NotificationId>"
        + "<Location>sb://ns.example/hub/messages/NH-1?api-version=2020-06</Location><State>Completed</State>"
        + "<EnqueueTime>2015-11-02T21:19:43Z</EnqueueTime><StartTime>2015-11-02T21:19:43.9926996Z</StartTime>"
        + "<EndTime>2015-11-02T21:19:44Z</EndTime><NotificationBody>&lt;toast&gt;&amp;</NotificationBody>"
        + "<Tags>a &amp;&amp; b</Tags><TargetPlatforms>windows,fcmv1</TargetPlatforms><WnsOutcomeCounts><Outcome>"
        + "<Name>Success</Name><Count>3</Count></Outcome><Outcome><Name>WrongToken</Name><Count>1</Count></Outcome>"
        + "</WnsOutcomeCounts><PnsErrorDetailsUri>https://blob.example/c?a=1&amp;b=2</PnsErrorDetailsUri>"
        + "<FcmV1OutcomeCounts><Outcome><Name>Success</Name><Count>0</Count></Outcome></FcmV1OutcomeCounts>"
        + "</NotificationDetails>"

    @Test func `the details of a message are read and written, byte for byte`() throws {
        #expect(Sample.text(Self.details.encode()) == Self.document)
        #expect(try NotificationDetails(decoding: [UInt8](Self.document.utf8)) == Self.details)
        #expect(!"\(Self.details)".contains("toast"))
    }

    @Test func `details that are not whole are refused`() {
        for (part, error): (String, AtomError) in [
            ("<State>Completed</State>", .unexpectedElement),
            ("<NotificationId>NH-1</NotificationId>", .unexpectedElement),
            ("<Count>3</Count>", .badNumber), ("<Name>WrongToken</Name>", .badNumber),
        ] {
            #expect(throws: error) {
                try NotificationDetails(decoding: [UInt8](Self.document.replacing(part, with: "").utf8))
            }
        }
        for count in ["-1", "x", "99999999999999999999", ""] {
            let document = Self.document.replacing("<Count>3<", with: "<Count>\(count)<")
            #expect(throws: AtomError.badNumber) { try NotificationDetails(decoding: [UInt8](document.utf8)) }
        }
    }

    @Test func `details are asked for by the message's name`() throws {
        let hub = ScriptedHub([ClientTests.answer(200, Self.details.encode())])
        #expect(try ClientTests.client(hub).details("NH/1 x") == Self.details)
        #expect(hub.requests.first?.target == "/MyHub/messages/NH%2F1%20x?api-version=2020-06")
    }

    @Test func `an error's document is read and written, and its code alone may be logged`() throws {
        let document = ErrorDocument(
            code: "404", detail: "Tag <x> & 'y'..TrackingId:1_G3,TimeStamp:11/7/2018 12:18:37 AM")
        let text =
            "<Error><Code>404</Code><Detail>Tag &lt;x&gt; &amp; 'y'..TrackingId:1_G3,TimeStamp:11/7/2018 12:18:37 AM"
            + "</Detail></Error>"
        #expect(Sample.text(document.encode()) == text)
        #expect(try ErrorDocument(decoding: [UInt8](text.utf8)) == document)
        #expect(throws: AtomError.unexpectedElement) { try ErrorDocument(decoding: [UInt8]("<Error/>".utf8)) }
    }
}
