// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Testing
import Text

@Suite struct DeviceHandleTests {
    @Test func `an Apple token is stored in upper case`() throws {
        #expect(try DeviceHandle.apns("00ffAa").channel == "00FFAA")
        #expect(try DeviceHandle.apns(String(repeating: "a", count: 512)).channel.utf8.count == 512)
    }

    @Test(arguments: [
        "<752efc88 c1f7d1b3 00000000 ffffffff>", "752efc88 c1f7d1b3 00000000 ffffffff",
        " <752EFC88C1F7D1B300000000FFFFFFFF> ", "752efc88c1f7d1b300000000ffffffff ",
    ])
    func `an Apple token is taken out of its description before iOS 13`(_ text: String) throws {
        #expect(try DeviceHandle.apns(text) == DeviceHandle.apns("752efc88c1f7d1b300000000ffffffff"))
    }

    static let tokens: [(String, HandleError)] = [
        ("", .empty), ("abc", .notHexadecimal), ("0x00", .notHexadecimal), ("00 1 ", .notHexadecimal),
        ("<0011", .notHexadecimal),
        ("<>", .notHexadecimal), (" ", .notHexadecimal), ("0011>", .notHexadecimal), ("00\n11", .notHexadecimal),
        ("<<0011>>", .notHexadecimal), (String(repeating: " ", count: 1025), .tooLong),
        ("٠٠", .notHexadecimal), (String(repeating: "a", count: 514), .tooLong),
        ("{length = 32, bytes = 0x752efc88 ca41f7cc ... e6effa58 ab393847 }", .tokenDescription),
        ("{LENGTH=32,BYTES=0X752EFC88CA41F7CC...E6EFFA58AB393847}", .tokenDescription),
        ("{LENGTH=", .tokenDescription), ("LENGTH=32", .notHexadecimal),
    ]

    @Test(arguments: tokens.indices)
    func `what is not an Apple token is refused`(_ row: Int) {
        #expect(throws: Self.tokens[row].1) { try DeviceHandle.apns(Self.tokens[row].0) }
    }

    @Test func `a Firebase token is visible ASCII`() throws {
        #expect(try DeviceHandle.fcm("abc:APA91-_").channel == "abc:APA91-_")
        #expect(try DeviceHandle.fcm(String(repeating: "a", count: 4096)).platform == .fcm)
        #expect(throws: HandleError.empty) { try DeviceHandle.fcm("") }
        #expect(throws: HandleError.tooLong) { try DeviceHandle.fcm(String(repeating: "a", count: 4097)) }
        for text in ["a b", "a\n", "é", "\u{7F}"] {
            #expect(throws: HandleError.notVisibleASCII) { try DeviceHandle.gcm(text) }
        }
    }

    static let uris: [(given: String, stored: String)] = [
        ("https://some.url", "https://some.url/"), ("HTTPS://Some.URL/Path?A=b", "https://some.url/Path?A=b"),
        ("https://h:443/x", "https://h/x"), ("https://h:8443", "https://h:8443/"), ("https://h?a=1", "https://h/?a=1"),
        ("https://db5.notify.windows.com/?token=AwY%2bA%3d", "https://db5.notify.windows.com/?token=AwY%2bA%3d"),
    ]

    @Test(arguments: uris.indices)
    func `a channel's URI has one stored form`(_ row: Int) throws {
        #expect(try DeviceHandle.wns(Self.uris[row].given).channel == Self.uris[row].stored)
        #expect(try DeviceHandle.mpns(Self.uris[row].stored).channel == Self.uris[row].stored)
    }

    static let badURIs: [(String, HandleError)] = [
        ("", .empty), ("http://h/", .notHTTPS), ("some.url", .notHTTPS), ("https:/h", .notHTTPS),
        ("https://", .badURI), ("https:///x", .badURI), ("https://u@h/", .badURI), ("https://u:p@h/", .badURI),
        ("https://h:x/", .badURI), ("https://h/#f", .badURI), ("https://h/ x", .badURI), ("https://h/é", .badURI),
        ("https://h/\r\nX: y", .badURI), ("https://h/\"", .badURI), ("https://[::1/", .badURI),
        ("https://h/" + String(repeating: "a", count: 2048), .tooLong),
    ]

    @Test(arguments: badURIs.indices)
    func `what is not an https URI is refused`(_ row: Int) {
        #expect(throws: Self.badURIs[row].1) { try DeviceHandle.wns(Self.badURIs[row].0) }
        #expect(throws: Self.badURIs[row].1) {
            try DeviceHandle.browser(endpoint: Self.badURIs[row].0, p256dh: Sample.p256dh, auth: Sample.auth)
        }
    }

    @Test func `a browser's keys must be a point and sixteen bytes`() throws {
        func make(_ p256dh: String, _ auth: String) throws -> DeviceHandle {
            try DeviceHandle.browser(endpoint: "https://push.example/e", p256dh: p256dh, auth: auth)
        }
        #expect(try make(Sample.p256dh, Sample.auth).channel == "https://push.example/e")
        let compressed = Base64.url.encode([0x02] + [UInt8](repeating: 7, count: 64))
        let short = Base64.url.encode([0x04] + [UInt8](repeating: 7, count: 63))
        for key in [compressed, short, "", Sample.p256dh + "==", "=" + Sample.p256dh, "****"] {
            #expect(throws: HandleError.badPublicKey) { try make(key, Sample.auth) }
        }
        for auth in ["", Base64.url.encode([UInt8](repeating: 9, count: 15)), Sample.auth + "="] {
            #expect(throws: HandleError.badAuthSecret) { try make(Sample.p256dh, auth) }
        }
    }

    /// `btoa()` makes the first, and libraries each of them.
    @Test func `a browser's keys are taken in either alphabet, padded or not, and kept in one form`() throws {
        let point = [0x04] + [UInt8](repeating: 0xFB, count: 64)
        let secret = [UInt8](repeating: 0xFF, count: 16)
        let wanted = (p256dh: Base64.url.encode(point), auth: Base64.url.encode(secret))
        let standard = (Base64.standard.encode(point), Base64.standard.encode(secret))
        #expect(standard.0.contains("+") && standard.1.contains("/") && standard.1.hasSuffix("=="))
        let unpadded = (standard.0.replacing("=", with: ""), standard.1.replacing("=", with: ""))
        for (p256dh, auth) in [standard, unpadded, (wanted.p256dh + "=", wanted.auth + "==")] {
            let handle = try DeviceHandle.browser(endpoint: "https://push.example/e", p256dh: p256dh, auth: auth)
            let kept = handle.parts
            #expect(kept.p256dh == wanted.p256dh && kept.auth == wanted.auth)
        }
    }

    @Test func `a handle prints its end only, and a short one nothing`() throws {
        let endpoint = "https://push.example/secret-part/x-123456"
        let handles = [
            try DeviceHandle.apns(Sample.token), try DeviceHandle.fcm("secret-part-of-a-firebase-token:123456"),
            try DeviceHandle.browser(endpoint: endpoint, p256dh: Sample.p256dh, auth: Sample.auth),
        ]
        for handle in handles {
            var dumped = ""
            dump(handle, to: &dumped)
            let registration = RegistrationDescription(handle: handle)
            let texts = [
                "\(handle)", String(reflecting: handle), dumped, "\(handle.value)", "\(registration)",
                String(reflecting: Optional(handle)),
            ]
            for text in texts {
                #expect(!text.contains(handle.channel.dropLast(6).suffix(6)))
                #expect(!text.contains(Sample.auth))
            }
            #expect("\(handle)".hasSuffix(handle.channel.suffix(6)))
        }
        #expect(try DeviceHandle.fcm("short").description == "fcm:…")
    }

    @Test func `every platform has its own element and format`() {
        let elements = Platform.allCases.flatMap { platform in
            [true, false].map { platform.descriptionElement(isTemplate: $0) }
        }
        #expect(Set(elements).count == 16)
        #expect(Platform.fcm.descriptionElement(isTemplate: true) == "FcmV1TemplateRegistrationDescription")
        for platform in Platform.allCases { #expect(Platform(formatHeader: platform.formatHeader) == platform) }
        #expect(Platform(formatHeader: "FcmV1") == .fcm)
        #expect(Platform(formatHeader: "template") == nil)
        #expect(HubNotification.Format(header: "Template") == .template)
    }

    @Test func `a name that apps use is one platform's, in either case`() {
        #expect(Set(Platform.appNames).count == Platform.appNames.count)
        for name in Platform.appNames { #expect(Platform(appName: name.uppercased()) == Platform(appName: name)) }
        #expect(Platform(appName: "GCM") == .fcm)
        #expect(Platform(appName: "fcmV1") == .fcm)
        #expect(Platform(appName: "adm") == nil)
        #expect(Platform(appName: "") == nil)
    }

    static let ids: [(String, Bool)] = [
        ("7260336227650468927-4200236381151834034-1", true), ("a_B-9", true),
        (String(repeating: "1", count: 128), true),
        ("", false), (String(repeating: "1", count: 129), false), ("a/b", false), ("..", false), ("é", false),
    ]

    @Test(arguments: ids.indices)
    func `a registration id needs no encoding in a path`(_ row: Int) {
        #expect((RegistrationID(Self.ids[row].0) != nil) == Self.ids[row].1)
    }
}
