// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// What travels to the devices, byte for byte: what the tutorials' clients were written against.
struct PayloadTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let platform: String
        let format: String
        /// `{id}` and `{token}` stand for the secure notification's names.
        let body: String
        let contentType: String
        var windowsType: String?
        var appleType: String?
        var applePriority: String?

        var testDescription: String { "\(platform) \(body.prefix(30))" }

        func check(_ message: HubLog.Message, id: Int32 = 0, token: String = "") throws {
            let expected = body.replacing("{id}", with: String(id)).replacing("{token}", with: token)
            #expect(message.body == expected)
            #expect(message.format == format)
            #expect(message.fields[.contentType] == contentType)
            let headers = [
                "X-WNS-Type": windowsType, "apns-push-type": appleType, "apns-priority": applePriority,
            ]
            for (header, value) in headers {
                #expect(message.fields[try #require(HTTPField.Name(header))] == value)
            }
        }
    }

    static let json = "application/json;charset=utf-8"
    static let message = "Say \"hi\" & <b>\u{E9}"
    static let escaped = #"From bob: Say \"hi\" & <b>é"#

    static let plain = [
        Row(platform: "apns", format: "apple", body: #"{"aps":{"alert":"\#(escaped)"}}"#, contentType: json),
        Row(
            platform: "fcm", format: "fcmv1",
            body: #"{"message":{"data":{"message":"\#(escaped)"},"android":{"priority":"high"}}}"#, contentType: json),
        Row(
            platform: "wns", format: "windows",
            body: #"<toast><visual><binding template="ToastGeneric"><text>"#
                + "From bob: Say \"hi\" &amp; &lt;b&gt;é</text></binding></visual></toast>",
            contentType: "application/xml", windowsType: "wns/toast"),
        Row(
            platform: "browser", format: "browser", body: #"{"title":"From bob","body":"Say \"hi\" & <b>é"}"#,
            contentType: json),
    ]

    static let secure = [
        Row(
            platform: "apns", format: "apple",
            body: #"{"aps":{"content-available":1},"secureId":"{id}","secureToken":"{token}"}"#, contentType: json,
            appleType: "background", applePriority: "5"),
        Row(
            platform: "fcm", format: "fcmv1",
            body: #"{"message":{"data":{"secureId":"{id}","secureToken":"{token}"},"android":{"priority":"high"}}}"#,
            contentType: json),
        Row(
            platform: "wns", format: "windows", body: "{id}", contentType: "application/octet-stream",
            windowsType: "wns/raw"),
        Row(
            platform: "browser", format: "browser", body: #"{"secureId":"{id}","secureToken":"{token}"}"#,
            contentType: json),
    ]

    @Test(arguments: plain) func `a message travels in its platform's own form`(row: Row) throws {
        let site = try TestSite()
        var body = JSONWriter()
        body.string(Self.message)
        let response = site.call(
            .post, "/api/notifications", query: "pns=\(row.platform)&to_tag=alice", as: "bob",
            body: String(decoding: body.bytes, as: UTF8.self))
        #expect(response.status == .ok)
        #expect(site.hub.messages.count == 1)
        try row.check(try #require(site.hub.messages.first))
    }

    @Test func `a secure push carries its two names in each platform's own form, and nothing else`() throws {
        let site = try TestSite()
        let response = site.call(
            .post, "/api/notifications", query: "to_tag=alice", as: "bob", body: #""the launch code""#)
        let id = try #require(try SendOutcome(response).id)
        let now = Timestamp(seconds: site.clock.seconds)
        let token = try #require(try site.store.notification(id, owner: "alice", now: now)).token
        let messages = site.hub.messages
        #expect(messages.count == Self.secure.count)
        for (row, message) in zip(Self.secure, messages) { try row.check(message, id: id, token: token) }
    }

    @Test func `as an alert it shows Apple's devices the operator's words, and neither sender nor text leaves`() throws
    {
        let site = try TestSite { parts in
            parts.notifications = Notifications(
                hub: parts.notifications.hub, platforms: parts.notifications.platforms,
                secureForm: .alert(text: "A \"new\" message", localizationKey: "SECURE"))
        }
        let response = site.call(
            .post, "/api/notifications", query: "to_tag=alice", as: "bob", body: #""the launch code""#)
        let id = try #require(try SendOutcome(response).id)
        let now = Timestamp(seconds: site.clock.seconds)
        let token = try #require(try site.store.notification(id, owner: "alice", now: now)).token
        let alert = Row(
            platform: "apns", format: "apple",
            body: #"{"aps":{"alert":{"body":"A \"new\" message","loc-key":"SECURE"},"mutable-content":1,"#
                + #""sound":"default","content-available":1},"secureId":"{id}","secureToken":"{token}"}"#,
            contentType: Self.json, appleType: "alert", applePriority: "10")
        for (row, message) in zip([alert] + Self.secure.dropFirst(), site.hub.messages) {
            try row.check(message, id: id, token: token)
            #expect(!message.body.contains(/\bbob\b/) && !message.body.contains("launch"))
        }
    }
}
