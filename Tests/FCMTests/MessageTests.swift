// SPDX-License-Identifier: Apache-2.0
import FCM
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Push
import Testing

private let token = "cXyz:APA91b-abc_def"

private func driver() throws -> FCMDriver {
    let driver = FCMDriver(project: "app-1", now: { 1_800_000_000 })
    return try #require(driver)
}

private func body(_ text: String, gcm: Bool = false, to handle: String = token) throws -> String {
    let notification = HubNotification(
        format: .native(gcm ? .gcm : .fcm), body: Array(text.utf8), contentType: "application/json")
    let device = gcm ? try DeviceHandle.gcm(handle) : try DeviceHandle.fcm(handle)
    return String(decoding: try driver().request(for: notification, to: device).body, as: UTF8.self)
}

private func refusal(_ text: String, gcm: Bool = false) throws -> PushRefusal? {
    do {
        _ = try body(text, gcm: gcm)
        return nil
    } catch let refusal as PushRefusal {
        return refusal
    }
}

@Suite struct `A message for FCM` {
    @Test func `goes to its project, with the target put in`() throws {
        let notification = HubNotification.fcm(json: Array(#"{"message":{"data":{"id":"7"}}}"#.utf8))
        let request = try driver().request(for: notification, to: .fcm(token))
        #expect(request.method == .post && request.scheme == "https" && request.authority == "fcm.googleapis.com")
        #expect(request.path == "/v1/projects/app-1/messages:send" && request.query.isEmpty)
        #expect(request.fields == [.contentType: "application/json"])
        #expect(
            String(decoding: request.body, as: UTF8.self) == #"{"message":{"token":"\#(token)","data":{"id":"7"}}}"#)
    }

    @Test(arguments: [
        ("cAbCdEfGhIjKlMnOpQrStU", "fid"), ("f-_34567890123456789AZ", "fid"), ("gAbCdEfGhIjKlMnOpQrStU", "token"),
        ("cAbCdEfGhIjKlMnOpQrSt", "token"), ("cAbCdEfGhIjKlMnOpQrStUv", "token"), ("cAbCdEfGhIjKlMnOpQr:tU", "token"),
    ])
    func `names a device by the form of its handle`(handle: String, member: String) throws {
        #expect(try body(#"{"message":{}}"#, to: handle) == #"{"message":{"\#(member)":"\#(handle)"}}"#)
    }

    @Test func `keeps what the sender wrote, in either spelling`() throws {
        let text =
            #"{"android":{"collapse_key":"k","ttl":"3.5s"},"apns":{"payload":{"aps":{"badge":1}}},"fcm_options":{}}"#
        #expect(
            try body(#"{"validate_only":true,"message":\#(text)}"#)
                == #"{"validateOnly":true,"message":{"token":"\#(token)",\#(text.dropFirst())}"#)
    }

    @Test(arguments: [
        ("x", "the body is not JSON"), ("[]", "the body is not an object"), ("{}", "message is missing"),
        (#"{"message":5}"#, "message must be an object"),
        (#"{"message":{},"to":"x"}"#, "a member beside message is unknown to FCM"),
        (#"{"message":{},"validateOnly":"yes"}"#, "validateOnly must be true or false"),
        (#"{"message":{"token":"x"}}"#, "message.token is the hub's to set"),
        (#"{"message":{"fid":"x"}}"#, "message.fid is the hub's to set"),
        (#"{"message":{"topic":null}}"#, "message.topic is the hub's to set"),
        (#"{"message":{"condition":"x"}}"#, "message.condition is the hub's to set"),
        (#"{"message":{"name":"x"}}"#, "message.name is Google's to set"),
        (#"{"message":{"android":{},"android_v2":{}}}"#, "message has both android and androidV2"),
        (#"{"message":{"data":[]}}"#, "message.data must be an object"),
        (#"{"message":{"data":{"a":1}}}"#, "the values of message.data must be texts"),
        (#"{"message":{"android":{"data":{"a":{}}}}}"#, "the values of message.android.data must be texts"),
        (#"{"message":{"webpush":{"data":{"a":null}}}}"#, "the values of message.webpush.data must be texts"),
        (#"{"message":{"data":{"from":"x"}}}"#, "message.data has a key that Google reserves for itself"),
        (#"{"message":{"data":{"message_type":"x"}}}"#, "message.data has a key that Google reserves for itself"),
        (#"{"message":{"data":{"google.x":"x"}}}"#, "message.data has a key that Google reserves for itself"),
        (
            #"{"message":{"android":{"data":{"gcm.notification.x":""}}}}"#,
            "message.android.data has a key that Google reserves for itself"
        ),
        (#"{"message":{"apns":[]}}"#, "message.apns must be an object"),
        (#"{"message":{"notification":"x"}}"#, "message.notification must be an object"),
    ])
    func `is refused by the name of what is wrong`(text: String, reason: String) throws {
        #expect(try refusal(text) == PushRefusal(.invalidNotificationFormat, reason: reason))
    }

    @Test func `has at most 4096 bytes of texts, keys and values together`() throws {
        func message(_ bytes: Int, _ rest: String = "") -> String {
            let text = String(repeating: "𝄞", count: (bytes - 2) / 4) + String(repeating: "x", count: (bytes - 2) % 4)
            return #"{"message":{"data":{"ab":"\#(text)"}\#(rest)}}"#
        }
        #expect(try refusal(message(4096)) == nil)
        #expect(try refusal(message(4097))?.outcome == .invalidNotificationSize)
        #expect(
            try refusal(message(4000, #","notification":{"title":"\#(String(repeating: "x", count: 92))"}"#))?.outcome
                == .invalidNotificationSize)
        #expect(
            try refusal(message(4000, #","notification":{"title":"\#(String(repeating: "x", count: 91))"}"#)) == nil)
        // What Android gets in the place of the message's own.
        let android = #"{"message":{"android":{"data":{"a":"\#(String(repeating: "x", count: 4096))"}}}}"#
        #expect(try refusal(android)?.outcome == .invalidNotificationSize)
    }

    @Test func `is for devices of Google's service alone`() throws {
        let notification = HubNotification.fcm(json: Array(#"{"message":{}}"#.utf8))
        #expect(throws: PushRefusal(.wrongChannel)) { try driver().request(for: notification, to: .apns("abcd")) }
    }

    @Test func `can be checked without a device`() throws {
        let request = try driver().validationRequest()
        #expect(request.path == "/v1/projects/app-1/messages:send")
        let body = #"{"validateOnly":true,"message":{"topic":"app-backend"}}"#
        #expect(String(decoding: request.body, as: UTF8.self) == body)
    }

    @Test func `has a project that can be part of a URL, and an endpoint`() {
        for project in ["", "a/b", "a?b", "a b", "é", "a%2fb"] {
            #expect(FCMDriver(project: project, now: { 0 }) == nil)
        }
        #expect(FCMDriver(project: "a", endpoint: "fcm.example", now: { 0 }) == nil)
        #expect(FCMDriver(project: "example.com:app-1", endpoint: "https://localhost:9443", now: { 0 }) != nil)
    }
}

@Suite struct `A message of the legacy protocol` {
    static let conversions: [(String, String)] = [
        (#"{"data":{"message":"Hello"}}"#, #""data":{"message":"Hello"}"#),
        (
            #"{"data":{"n":1.50,"b":true,"z":null,"o":{"a":[1,"x"]}}}"#,
            #""data":{"n":"1.50","b":"true","z":"null","o":"{\"a\":[1,\"x\"]}"}"#
        ),
        (
            #"{"notification":{"title":"t","body":"b","icon":"i","click_action":"c","android_channel_id":"d"}}"#,
            #""notification":{"title":"t","body":"b"},"android":{"notification":{"icon":"i","clickAction":"c","channelId":"d"}}"#
        ),
        (
            #"{"notification":{"body_loc_key":"k","body_loc_args":["a",2],"title_loc_args":"[\"x\"]"}}"#,
            #""android":{"notification":{"bodyLocKey":"k","bodyLocArgs":["a","2"],"titleLocArgs":["x"]}}"#
        ),
        (
            #"{"priority":"high","time_to_live":60,"collapse_key":"k","restricted_package_name":"p","delay_while_idle":true}"#,
            #""android":{"priority":"HIGH","ttl":"60s","collapseKey":"k","restrictedPackageName":"p"}"#
        ),
        (
            #"{"content_available":true,"data":{"a":"b"}}"#,
            #""data":{"a":"b"},"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1}}}"#
        ),
        (
            #"{"mutable_content":true,"notification":{"title":"t"}}"#,
            #""notification":{"title":"t"},"apns":{"payload":{"aps":{"mutable-content":1}}}"#
        ),
    ]

    @Test(arguments: conversions)
    func `becomes one of HTTP v1`(legacy: String, members: String) throws {
        #expect(try body(legacy, gcm: true) == #"{"message":{"token":"\#(token)",\#(members)}}"#)
    }

    @Test func `that is a dry run stays one`() throws {
        let text = #"{"validateOnly":true,"message":{"token":"\#(token)","data":{"a":"b"}}}"#
        #expect(try body(#"{"dry_run":true,"data":{"a":"b"}}"#, gcm: true) == text)
    }

    @Test(arguments: [
        (#"{"to":"x"}"#, "to is the hub's to set"),
        (#"{"registration_ids":[]}"#, "registration_ids is the hub's to set"),
        (#"{"condition":"x"}"#, "condition is the hub's to set"),
        (#"{"priority":"urgent"}"#, "priority must be high or normal"),
        (#"{"time_to_live":2419201}"#, "time_to_live must be a number from 0 to 2419200"),
        (#"{"time_to_live":-1}"#, "time_to_live must be a number from 0 to 2419200"),
        (#"{"dry_run":"no"}"#, "dry_run must be true or false"), (#"{"data":5}"#, "data must be an object"),
        (#"{"collapse_key":5}"#, "collapse_key must be a text"),
        (#"{"message":{}}"#, "a member of the legacy message is unknown"),
        (#"{"notification":{"badge":"1"}}"#, "a member of the legacy message's notification is unknown"),
        (#"{"notification":{"body_loc_args":"x"}}"#, "body_loc_args must be an array"),
        (#"{"data":{"from":"x"}}"#, "message.data has a key that Google reserves for itself"),
    ])
    func `is refused by the name of what is wrong`(text: String, reason: String) throws {
        #expect(try refusal(text, gcm: true) == PushRefusal(.invalidNotificationFormat, reason: reason))
    }
}
