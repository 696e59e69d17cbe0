// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Testing
import WNS

private let channel = "https://db5p.notify.windows.com/?token=AwYAAAD%2bx%2fq%3d"
private let toast = "<toast><visual><binding template=\"ToastGeneric\"><text>é</text></binding></visual></toast>"

private func request(
    _ body: String, _ headers: [(String, String)] = [], to uri: String = channel, by endpoint: ServiceURL? = nil
) throws -> Request {
    let notification = HubNotification(
        format: .native(.wns), body: Array(body.utf8), contentType: "application/xml",
        headers: headers.map { PushHeader($0.0, $0.1) })
    return try WNSDriver(endpoint: endpoint, now: { 1_800_000_000 }).request(for: notification, to: .wns(uri))
}

private func refusal(_ body: String, _ headers: [(String, String)] = [], to uri: String = channel) throws
    -> PushRefusal?
{
    do {
        _ = try request(body, headers, to: uri)
        return nil
    } catch let refusal as PushRefusal {
        return refusal
    }
}

private func header(_ request: Request, _ name: String) -> String? {
    HTTPField.Name(name).flatMap { request.fields[$0] }
}

@Suite struct `A notification for Windows` {
    @Test func `goes to its channel, byte for byte`() throws {
        let request = try request(toast, [("X-WNS-Type", "wns/toast")])
        #expect(request.method == .post && request.scheme == "https" && request.authority == "db5p.notify.windows.com")
        #expect(request.path == "/" && request.query == "token=AwYAAAD%2bx%2fq%3d")
        #expect(request.body == Array(toast.utf8))
        #expect(request.fields[.contentType] == "text/xml" && header(request, "X-WNS-Type") == "wns/toast")
        #expect(request.fields.count == 2)
    }

    @Test(arguments: ["toast", "tile", "badge"])
    func `has the type of its root where the sender names none`(root: String) throws {
        let request = try request("<?xml version=\"1.0\"?>\n<\(root) value=\"1\"/>")
        #expect(header(request, "X-WNS-Type") == "wns/" + root && request.fields[.contentType] == "text/xml")
    }

    @Test(arguments: [
        ("<?xml version=\"1.0\" encoding=\"utf-16\"?>\n", "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"),
        ("<?xml version='1.0' encoding = 'UTF-16' ?>", "<?xml version='1.0' encoding = 'utf-8' ?>"),
        ("<?xml version='1.0' encoding='utf-8'?>", "<?xml version='1.0' encoding='utf-8'?>"),
        ("<?xml version='1.0'?><!-- encoding='utf-16' -->", "<?xml version='1.0'?><!-- encoding='utf-16' -->"),
    ])
    func `says that it is UTF-8 where its declaration names another encoding`(given: String, sent: String) throws {
        #expect(try request(given + toast).body == Array((sent + toast).utf8))
        // Whatever it is, it is the app's.
        #expect(try request(given + toast, [("X-WNS-Type", "wns/raw")]).body == Array((given + toast).utf8))
    }

    @Test func `has a priority from 1 to 4`() throws {
        for value in ["1", "4"] {
            #expect(header(try request(toast, [("x-wns-priority", value)]), "X-WNS-PRIORITY") == value)
        }
        for value in ["0", "5", "high", ""] {
            let reason = try refusal(toast, [("X-WNS-PRIORITY", value)])?.reason
            #expect(reason == "X-WNS-PRIORITY must be 1, 2, 3 or 4")
        }
    }

    @Test func `may be raw, whatever is in it`() throws {
        for body in ["", "{\"id\":7}", "<toast", "\u{0}\u{1}"] {
            let request = try request(body, [("x-wns-type", "WNS/Raw")])
            #expect(header(request, "X-WNS-Type") == "wns/raw")
            #expect(request.fields[.contentType] == "application/octet-stream" && request.body == Array(body.utf8))
        }
    }

    @Test(arguments: [
        ("wns/toast", "<tile/>", "the body's root does not agree with X-WNS-Type"),
        ("wns/badge", "<toast/>", "the body's root does not agree with X-WNS-Type"),
        ("wns/toast", "<toast>", "the body is not well-formed XML without a document type"),
        ("wns/toast", "", "the body is not well-formed XML without a document type"),
        ("wns/toast", "<!DOCTYPE toast><toast/>", "the body is not well-formed XML without a document type"),
        ("wns/toast", "<Toast/>", "the body's root must be toast, tile or badge"),
        ("wns/toast", "<toast xmlns='urn:x'/>", "the body's root must be toast, tile or badge"),
        ("wns/tile", "<raw/>", "the body's root must be toast, tile or badge"),
        ("toast", "<toast/>", "X-WNS-Type must be wns/toast, wns/tile, wns/badge or wns/raw"),
    ])
    func `is refused where the device would drop it`(type: String, body: String, reason: String) throws {
        let expected = PushRefusal(.invalidNotificationFormat, reason: reason)
        #expect(try refusal(body, [("X-WNS-Type", type)]) == expected)
    }

    @Test func `without a type is XML of a root that says it`() throws {
        #expect(try refusal("hello")?.reason == "X-WNS-Type is missing, and the body is not XML")
        #expect(try refusal("<raw/>")?.reason == "the body's root must be toast, tile or badge")
    }

    @Test func `has at most 5000 bytes`() throws {
        let raw = [("X-WNS-Type", "wns/raw")]
        #expect(try request(String(repeating: "é", count: 2500), raw).body.count == 5000)
        #expect(try refusal(String(repeating: "é", count: 2500) + "x", raw) == PushRefusal(.invalidNotificationSize))
    }

    @Test func `keeps the headers that WNS knows, and no others`() throws {
        let headers = [
            ("X-WNS-Type", "wns/tile"), ("x-wns-cache-policy", "no-cache"), ("X-WNS-TTL", "60"), ("X-WNS-Tag", "abc9"),
            ("X-WNS-Group", "1234567890123456"), ("X-WNS-RequestForStatus", "true"), ("Authorization", "x"),
            ("TTL", "5"),
            ("X-WNS-Msg-ID", "x"), ("MS-CV", "x"), ("Content-Type", "x"),
        ]
        let request = try request("<tile/>", headers)
        #expect(request.fields.count == 7 && request.fields[.authorization] == nil)
        #expect(header(request, "X-WNS-Cache-Policy") == "no-cache" && header(request, "X-WNS-TTL") == "60")
        #expect(header(request, "X-WNS-Tag") == "abc9" && header(request, "X-WNS-Group") == "1234567890123456")
        #expect(header(request, "X-WNS-RequestForStatus") == "true" && request.fields[.contentType] == "text/xml")
    }

    @Test(arguments: [
        ("X-WNS-Cache-Policy", "maybe", "tile", "X-WNS-Cache-Policy must be cache or no-cache"),
        ("X-WNS-Cache-Policy", "cache", "toast", "X-WNS-Cache-Policy is not for toasts"),
        ("X-WNS-TTL", "0", "tile", "X-WNS-TTL must be a number of seconds"),
        ("X-WNS-TTL", "+5", "tile", "X-WNS-TTL must be a number of seconds"),
        ("X-WNS-TTL", "99999999999", "tile", "X-WNS-TTL must be a number of seconds"),
        ("X-WNS-Tag", "a b", "toast", "X-WNS-Tag must be 1 to 16 letters and digits"),
        ("X-WNS-Tag", "", "toast", "X-WNS-Tag must be 1 to 16 letters and digits"),
        ("X-WNS-Group", "12345678901234567", "toast", "X-WNS-Group must be 1 to 16 letters and digits"),
        ("X-WNS-RequestForStatus", "yes", "toast", "X-WNS-RequestForStatus must be true or false"),
        ("X-WNS-SuppressPopup", "true", "toast", "X-WNS-SuppressPopup is for telephones alone; a desktop refuses it"),
    ])
    func `is refused for a header that WNS refuses`(name: String, value: String, root: String, reason: String) throws {
        let expected = PushRefusal(.invalidNotificationFormat, reason: reason)
        #expect(try refusal("<\(root)/>", [(name, value)]) == expected)
    }

    @Test(arguments: [
        "https://notify.windows.com/?token=x", "https://evilnotify.windows.com/",
        "https://a.notify.windows.com.evil.example/",
        "https://a.notify.windows.com:8443/", "https://127.0.0.1/", "https://localhost/",
        "https://a.notify.windows.com./", "https://evil.example/.notify.windows.com",
    ])
    func `goes to no other host than Microsoft's`(uri: String) throws {
        #expect(try refusal("<toast/>", to: uri) == PushRefusal(.wrongChannel))
    }

    @Test func `goes by a relay that the operator has named, and for Microsoft's channels alone`() throws {
        let relay = ServiceURL("https://localhost:9443")
        let request = try request("<toast/>", by: relay)
        #expect(request.authority == "localhost:9443" && request.target == "/?token=AwYAAAD%2bx%2fq%3d")
        let notification = HubNotification.wnsToast(xml: Array("<toast/>".utf8))
        #expect(throws: PushRefusal(.wrongChannel)) {
            try WNSDriver(endpoint: relay, now: { 0 }).request(for: notification, to: .wns("https://localhost:9443/c"))
        }
    }

    @Test func `is for devices of Windows alone`() throws {
        let notification = HubNotification.wnsToast(xml: Array("<toast/>".utf8))
        let driver = WNSDriver(now: { 0 })
        #expect(driver.platform == .wns)
        #expect(throws: PushRefusal(.wrongChannel)) {
            try driver.request(for: notification, to: .mpns("https://a.notify.windows.com/"))
        }
    }
}
