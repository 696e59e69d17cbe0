// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Testing
import Text

@testable import WebPush

private let noon: Int64 = 1_800_000_000

private func driver(_ hosts: PushHosts? = nil, key: VAPIDKey = VAPIDKey(), ttl: Int = 86_400) throws -> WebPushDriver {
    WebPushDriver(
        key: key, subject: try VAPIDSubject("mailto:push@example.com"), hosts: try hosts ?? PushHosts(),
        timeToLive: ttl, now: { noon })
}

private func notification(_ text: String = "{}", _ headers: [PushHeader] = []) -> HubNotification {
    var notification = HubNotification.browser(json: Array(text.utf8))
    notification.headers = headers
    return notification
}

@Suite struct `A push request` {
    @Test func `is what RFC 8030 asks for, and its browser reads the text`() throws {
        let key = VAPIDKey()
        let browser = Browser()
        let driver = try driver(key: key)
        let request = try driver.request(for: notification("{\"title\":\"é\"}"), to: browser.handle())
        #expect(request.method == .post && request.scheme == "https" && request.authority == "fcm.googleapis.com")
        #expect(request.path == "/fcm/send/abc" && request.query.isEmpty)
        #expect(request.fields[.ttl] == "86400" && request.fields[.urgency] == "high" && request.fields[.topic] == nil)
        #expect(request.fields[.contentEncoding] == "aes128gcm")
        #expect(request.fields[.contentType] == "application/octet-stream")
        #expect(request.fields[.cachePolicy] == nil)
        #expect(request.fields[.authorization]?.hasSuffix(",k=" + key.publicKey) == true)
        #expect(request.fields.count == 5)
        #expect(try browser.decrypt(request.body) == Array("{\"title\":\"é\"}".utf8))
        #expect(driver.platform == .browser && driver.publicKey == key.publicKey)
    }

    @Test func `leaves path and query as they are`() throws {
        let handle = try Browser().handle("https://WNS2-par02p.notify.windows.com/w/?token=BQY%2f%3d&x=a?b")
        let request = try driver().request(for: notification(), to: handle)
        #expect(request.authority == "wns2-par02p.notify.windows.com")
        #expect(request.path == "/w/" && request.query == "token=BQY%2f%3d&x=a?b")
    }

    @Test func `is made out to the host and port that it goes to`() throws {
        let hosts = try PushHosts([], privateHosts: ["localhost:9446"])
        let request = try driver(hosts).request(for: notification(), to: Browser().handle("https://localhost:9446/p"))
        #expect(request.authority == "localhost:9446")
        let claims = try #require(request.fields[.authorization]?.split(separator: ".")[1])
        let json = try #require(Base64.url.decode(claims))
        #expect(String(decoding: json, as: UTF8.self).contains(#""aud":"https://localhost:9446""#))
    }

    @Test(
        arguments: [
            ([], "86400", "high", nil),
            (
                [PushHeader("ttl", "60"), PushHeader("URGENCY", "low"), PushHeader("topic", "a-Z_9")], "60", "low",
                "a-Z_9-_-"
            ),
            ([PushHeader("TTL", "0"), PushHeader("Urgency", "Very-Low")], "0", "very-low", nil),
            ([PushHeader("TTL", "99999999999999999999")], "2147483647", "high", nil),
            (
                [PushHeader("TTL", "-1"), PushHeader("Urgency", "now"), PushHeader("Topic", "a b")], "86400", "high",
                nil
            ),
            ([PushHeader("TTL", "+5"), PushHeader("Topic", "")], "86400", "high", nil),
            ([PushHeader("TTL", ""), PushHeader("Topic", "123456789012345678901234567890123")], "86400", "high", nil),
            (
                [PushHeader("Topic", "12345678901234567890123456789012")], "86400", "high",
                "12345678901234567890123456789012"
            ),
            ([PushHeader("Authorization", "x"), PushHeader("X-WNS-Type", "wns/raw")], "86400", "high", nil),
        ] as [([PushHeader], String, String, String?)])
    func `takes time, urgency and topic from the notification where they are valid`(
        headers: [PushHeader], ttl: String, urgency: String, topic: String?
    ) throws {
        let request = try driver().request(for: notification("{}", headers), to: Browser().handle())
        #expect(request.fields[.ttl] == ttl && request.fields[.urgency] == urgency)
        #expect(request.fields[.topic] == topic)
        #expect(request.fields.count == (topic == nil ? 5 : 6))
    }

    /// Apple decodes it as Base 64, in which every fourth length is impossible.
    @Test func `has a topic of a length that can be decoded, a stable one, and another for another id`() throws {
        let ids =
            (1...32).map { String(repeating: "a", count: $0) } + ["alarm", "new_event", "collie-update", "a", "alarm"]
        let vendors = ["https://fcm.googleapis.com/x", "https://web.push.apple.com/x"]
        let topics = try vendors.map { endpoint in
            try ids.map { id in
                let pushed = notification("{}", [PushHeader("Topic", id)])
                return try driver().request(for: pushed, to: Browser().handle(endpoint)).fields[.topic]
            }
        }
        #expect(topics[0] == topics[1])
        let sent = topics[0].compactMap(\.self)
        #expect(sent.count == ids.count && sent.allSatisfy { $0.utf8.count % 4 != 1 && $0.utf8.count <= 32 })
        #expect(Set(sent).count == Set(ids).count)
        #expect(Set(zip(ids, sent).filter { $0.0 == "alarm" }.map(\.1)).count == 1)
    }

    @Test(arguments: [("86400", "cache"), ("1", "cache"), ("0", "no-cache")])
    func `tells Microsoft's service the cache policy that goes with the time`(ttl: String, policy: String) throws {
        let handle = try Browser().handle("https://wns2-par02p.notify.windows.com/w/?token=x")
        let request = try driver().request(for: notification("{}", [PushHeader("TTL", ttl)]), to: handle)
        #expect(request.fields[.cachePolicy] == policy)
    }

    @Test func `has the driver's own time to live where the notification has none`() throws {
        for (ttl, field) in [(3600, "3600"), (0, "0"), (-1, "0")] {
            let request = try driver(ttl: ttl).request(for: notification(), to: Browser().handle())
            #expect(request.fields[.ttl] == field)
        }
    }
}

@Suite struct `What is not pushed` {
    static let endpoints = [
        "https://example.com/x", "https://localhost/x", "https://127.0.0.1/x", "https://[::1]/x",
        "https://2130706433/x", "https://0x7f.1/x", "https://127.1/x", "https://169.254.169.254/latest/meta-data",
        "https://fcm.googleapis.com:8443/x", "https://fcm.googleapis.com./x",
        "https://fcm.googleapis.com.example.com/x",
        "https://notify.windows.com/x", "https://evilnotify.windows.com/x", "https://example.com/fcm.googleapis.com",
        "https://example.com/?https://fcm.googleapis.com", "https://_.example.com/.notify.windows.com",
    ]

    @Test(arguments: endpoints)
    func `goes to a host that is not on the list`(endpoint: String) throws {
        let handle = try Browser().handle(endpoint)
        #expect {
            try driver().request(for: notification(), to: handle)
        } throws: { error in
            let refusal = error as? PushRefusal
            return refusal?.outcome == .wrongChannel && refusal?.reason?.contains("webPush.hosts") == true
                && refusal?.isForGood == false
        }
    }

    /// What some browsers hand out in place of a subscription that they have lost.
    @Test func `is at a host that cannot be, and its device is removed, also where every host may be sent to`() throws {
        let handle = try Browser().handle("https://permanently-removed.invalid/fcm/send/x")
        for hosts in [PushHosts.vendors, try PushHosts(["*"])] {
            #expect {
                try driver(hosts).request(for: notification(), to: handle)
            } throws: { error in
                guard let refusal = error as? PushRefusal else { return false }
                return PushResult(refusal).action == .removeRegistration(goneSince: nil)
                    && refusal.outcome == .wrongChannel
            }
        }
    }

    @Test(arguments: [
        "http://fcm.googleapis.com/x", "https://user@fcm.googleapis.com/x", "https://a:b@fcm.googleapis.com/x",
        "https://fcm.googleapis.com\\@example.com/x", "https://fcm.googleapis.com#@example.com/x", "ftp://a/x", "//a/x",
        "https:///x", "https://fcm.googleapis.com:0/x", "https://fcm.googleapis.com:65979/x", "",
    ])
    func `is not even the handle of a browser`(endpoint: String) {
        #expect(throws: HandleError.self) { try Browser().handle(endpoint) }
    }

    @Test func `is of another platform`() throws {
        let handle = try DeviceHandle.wns("https://a.notify.windows.com/?token=x")
        #expect(throws: PushRefusal(.wrongChannel)) { try driver().request(for: notification(), to: handle) }
    }

    @Test func `is larger than 3993 bytes`() throws {
        let handle = try Browser().handle()
        let largest = notification(String(repeating: "x", count: 3993))
        #expect(try driver().request(for: largest, to: handle).body.count == 4096)
        let larger = notification(String(repeating: "x", count: 3994))
        #expect(throws: PushRefusal(.invalidNotificationSize)) { try driver().request(for: larger, to: handle) }
    }

    @Test func `would be for keys that are none`() throws {
        let handle = try DeviceHandle.browser(
            endpoint: "https://fcm.googleapis.com/x", p256dh: Base64.url.encode([4] + Array(repeating: 7, count: 64)),
            auth: Base64.url.encode(Array(repeating: 7, count: 16)))
        #expect(throws: PushRefusal(.badChannel)) { try driver().request(for: notification(), to: handle) }
    }
}

@Suite struct `What a push service's answer means` {
    static let verdicts: [(Int, PushOutcome, PushResult.Action)] = [
        (200, .success, .settle), (201, .success, .settle), (202, .success, .settle),
        (204, .pnsInterfaceError, .settle), (301, .pnsInterfaceError, .settle), (302, .pnsInterfaceError, .settle),
        (307, .pnsInterfaceError, .settle), (308, .pnsInterfaceError, .settle), (400, .pnsInterfaceError, .settle),
        (401, .invalidCredentials, .settle), (403, .invalidCredentials, .settle),
        (404, .badChannel, .removeRegistration(goneSince: nil)), (405, .pnsInterfaceError, .settle),
        (406, .throttled, .retryDevice(afterSeconds: nil)), (409, .pnsInterfaceError, .settle),
        (410, .expiredChannel, .removeRegistration(goneSince: nil)), (413, .invalidNotificationSize, .settle),
        (418, .pnsInterfaceError, .settle), (429, .throttled, .retryDevice(afterSeconds: nil)),
        (500, .pnsServerError, .retry(afterSeconds: nil)), (501, .pnsInterfaceError, .settle),
        (502, .pnsServerError, .settle), (503, .pnsUnavailable, .retry(afterSeconds: nil)),
        (504, .pnsServerError, .settle), (505, .pnsInterfaceError, .settle),
        (507, .pnsUnavailable, .retry(afterSeconds: nil)),
        (999, .pnsInterfaceError, .settle),
    ]

    @Test(arguments: verdicts)
    func `is in the status`(code: Int, outcome: PushOutcome, action: PushResult.Action) throws {
        let response = Response(status: HTTPResponse.Status(code: code))
        #expect(try driver().result(of: response) == PushResult(outcome, action))
    }

    @Test func `never removes anybody but for 404 and 410`() throws {
        let driver = try driver()
        let removing = (200...999).filter {
            driver.result(of: Response(status: HTTPResponse.Status(code: $0))).action
                == .removeRegistration(goneSince: nil)
        }
        #expect(removing == [404, 410])
    }

    /// 2027-01-15T08:02:00Z is two minutes after `noon`.
    @Test(arguments: [
        ("17", 17), ("Fri, 15 Jan 2027 08:02:00 GMT", 120), ("99999999999", 86_400),
        ("Thu, 14 Jan 2027 08:02:00 GMT", 0),
        ("later", nil),
    ])
    func `says when to try again`(field: String, seconds: Int?) throws {
        let actions: [(Int, PushResult.Action)] = [
            (406, .retryDevice(afterSeconds: seconds)), (429, .retryDevice(afterSeconds: seconds)),
            (500, .retry(afterSeconds: seconds)), (503, .retry(afterSeconds: seconds)),
        ]
        for (code, action) in actions {
            let response = Response(status: HTTPResponse.Status(code: code), fields: [.retryAfter: field])
            #expect(try driver().result(of: response).action == action)
        }
    }

    @Test func `takes no notice of a time where there is nothing to repeat`() throws {
        for code in [201, 400, 401, 410] {
            let plain = Response(status: HTTPResponse.Status(code: code))
            let timed = Response(status: HTTPResponse.Status(code: code), fields: [.retryAfter: "1"])
            #expect(try driver().result(of: timed) == driver().result(of: plain))
        }
    }
}
