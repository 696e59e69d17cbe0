// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Testing
import Text

@testable import APNs

let noon: Int64 = 1_800_000_000
let deviceToken = String(repeating: "00FF", count: 16)

func authority(_ text: String) throws -> Authority { try #require(Authority(text)) }

func driver(otherEnvironment: Bool = false, otherTopic: Bool = false) throws -> APNsDriver {
    APNsDriver(
        topic: "com.example.app", authority: try authority(APNsEnvironment.production.authority),
        hasOtherEnvironment: otherEnvironment, hasOtherTopic: otherTopic, now: { noon })
}

private func push(_ json: String, _ headers: [String: String] = [:]) throws -> Request {
    try driver().request(
        for: .apns(json: Array(json.utf8), headers: headers.map { PushHeader($0, $1) }),
        to: DeviceHandle.apns(deviceToken))
}

private func reason(_ body: () throws -> Request) -> String? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? PushRefusal)?.reason
    }
}

private let alert = #"{"aps":{"alert":"é"}}"#
private let start =
    #"{"aps":{"event":"start","timestamp":1800000000,"content-state":{},"attributes-type":"T","attributes":{},"alert":{}}}"#

@Suite struct `A request to APNs` {
    @Test func `is what Apple asks for`() throws {
        let request = try push(alert)
        #expect(request.method == .post && request.scheme == "https" && request.authority == "api.push.apple.com")
        #expect(request.path == "/3/device/" + deviceToken.lowercased() && request.query.isEmpty)
        #expect(request.body == Array(alert.utf8))
        #expect(request.fields[.topic] == "com.example.app" && request.fields[.pushType] == "alert")
        #expect(request.fields[.pushPriority] == "10" && request.fields[.expiration] == nil)
        #expect(request.fields[.collapseID] == nil && request.fields[.authorization] == nil)
        let id = try #require(request.fields[.id])
        #expect(id == UUIDText.canonical(id) && id.utf8.count == 36)
        #expect(Array(id.utf8)[14] == UInt8(ascii: "4") && "89ab".utf8.contains(Array(id.utf8)[19]))
        #expect(try push(alert).fields[.id] != id)
        #expect(request.fields.count == 5)
        #expect(try driver().platform == .apns)
    }

    @Test func `obeys the headers of the sender`() throws {
        let fields = try push(
            alert,
            [
                "APNS-Push-Type": "Alert", "apns-priority": "1", "Apns-Expiration": "01800000000",
                "apns-topic": "com.example.app", "apns-collapse-id": "a b", "X-Other": "x",
                "apns-id": "EC1BF194-B3B2-424A-89A9-5A918A6E6B5E",
            ]
        ).fields
        #expect(fields[.pushType] == "alert" && fields[.pushPriority] == "1" && fields[.expiration] == "1800000000")
        #expect(fields[.topic] == "com.example.app" && fields[.collapseID] == "a b")
        #expect(fields[.id] == "ec1bf194-b3b2-424a-89a9-5a918a6e6b5e")
        #expect(fields.count == 7)
    }

    static let types: [(json: String, headers: [String: String], type: String, topic: String, priority: String)] = [
        (alert, [:], "alert", "", "10"), (#"{"aps":{}}"#, [:], "alert", "", "10"),
        (#"{"aps":{"content-available":1}}"#, [:], "background", "", "5"),
        (#"{"aps":{"content-available":1,"sound":""},"secureId":"7"}"#, [:], "background", "", "5"),
        (#"{"aps":{"content-available":1,"alert":"x"}}"#, [:], "alert", "", "10"),
        (#"{"aps":{"content-available":1,"badge":0}}"#, [:], "alert", "", "10"),
        (#"{"aps":{"content-available":1,"sound":"x"}}"#, [:], "alert", "", "10"),
        (start, [:], "liveactivity", ".push-type.liveactivity", "10"),
        (
            #"{"aps":{"event":"end","timestamp":1800000000}}"#, ["apns-push-type": "liveactivity"], "liveactivity",
            ".push-type.liveactivity", "10"
        ),
        (
            #"{"aps":{"content-changed":true}}"#, ["apns-push-type": "widgets"], "widgets", ".push-type.widgets", "10"
        ),
        (
            #"{"aps":{"content-changed":true}}"#, ["apns-topic": "com.example.app.push-type.controls"], "controls",
            ".push-type.controls", "10"
        ),
        (#"{"call":1}"#, ["apns-push-type": "voip", "apns-topic": "com.example.app"], "voip", ".voip", "10"),
        (#"{"call":1}"#, ["apns-topic": "com.example.app.voip"], "voip", ".voip", "10"),
        (#"{}"#, ["apns-push-type": "complication"], "complication", ".complication", "10"),
        (#"{}"#, ["apns-push-type": "fileprovider"], "fileprovider", ".pushkit.fileprovider", "10"),
        (#"{}"#, ["apns-push-type": "location"], "location", ".location-query", "10"),
        (#"{}"#, ["apns-push-type": "pushtotalk"], "pushtotalk", ".voip-ptt", "10"),
        (#"{"mdm":"magic"}"#, [:], "mdm", "", "10"),
    ]

    @Test(arguments: types.indices)
    func `has the push type that is named or that the payload shows, and its topic`(_ row: Int) throws {
        let expected = Self.types[row]
        let fields = try push(expected.json, expected.headers).fields
        #expect(fields[.pushType] == expected.type && fields[.topic] == "com.example.app" + expected.topic)
        #expect(fields[.pushPriority] == expected.priority)
        #expect(fields[.expiration] == (expected.type == "pushtotalk" ? "0" : nil))
    }

    static let faults: [(json: String, headers: [String: String], fault: NotificationFault)] = [
        ("", [:], .notObject), ("[]", [:], .notObject), (#"{"aps":{}"#, [:], .notObject), ("\"a\"", [:], .notObject),
        (#"{"aps":[]}"#, [:], .apsKind), (#"{"aps":"x"}"#, ["apns-push-type": "mdm"], .apsKind),
        ("{}", [:], .noAps), ("{}", ["apns-push-type": "background"], .noAps),
        (alert, ["apns-push-type": "background"], .background),
        (#"{"aps":{"content-available":2}}"#, ["apns-push-type": "background"], .background),
        (#"{"aps":{"content-available":1,"alert":"x"}}"#, ["apns-push-type": "background"], .background),
        (#"{"aps":{"content-available":1,"sound":"x"}}"#, ["apns-push-type": "background"], .background),
        (alert, ["apns-push-type": "liveactivity"], .liveActivityEvent),
        (#"{"aps":{"event":"go","content-state":{}}}"#, [:], .liveActivityEvent),
        (#"{"aps":{"event":"update","content-state":{}}}"#, [:], .liveActivityTimestamp),
        (
            #"{"aps":{"event":"update","timestamp":1800000000000,"content-state":{}}}"#, [:], .liveActivityTimestamp
        ),
        (
            #"{"aps":{"event":"update","timestamp":1800000000}}"#, ["apns-push-type": "liveactivity"],
            .liveActivityState
        ),
        (#"{"aps":{"event":"end","timestamp":1800000000,"content-state":1}}"#, [:], .liveActivityState),
        (#"{"aps":{"event":"start","timestamp":1800000000,"content-state":{}}}"#, [:], .liveActivityStart),
        (alert, ["apns-push-type": "widgets"], .contentChanged),
        (#"{"aps":{"content-changed":1}}"#, ["apns-push-type": "controls"], .contentChanged),
        (#"{"aps":{"content-changed":true}}"#, [:], .ambiguousType), ("{}", ["apns-push-type": "mdm"], .mdm),
        (alert, ["apns-push-type": "news"], .pushType), (alert, ["apns-push-type": ""], .pushType),
        (alert, ["apns-topic": "com.example.other"], .topic), (alert, ["apns-topic": ""], .topic),
        (alert, ["apns-topic": "com.example.app.voip", "apns-push-type": "alert"], .topic),
        (alert, ["apns-priority": "7"], .priority), (alert, ["apns-priority": "010"], .priority),
        (#"{"aps":{"content-available":1}}"#, ["apns-priority": "10"], .backgroundPriority),
        (alert, ["apns-expiration": "300"], .expiration), (alert, ["apns-expiration": "-1"], .expiration),
        (alert, ["apns-expiration": "1800000000000"], .expiration), (alert, ["apns-expiration": ""], .expiration),
        (alert, ["apns-expiration": "99999999999999999999"], .expiration),
        (alert, ["apns-collapse-id": ""], .collapseID), (alert, ["apns-collapse-id": "a\nb"], .collapseID),
        (alert, ["apns-collapse-id": String(repeating: "é", count: 33)], .collapseID),
        (alert, ["apns-id": "1"], .id), (alert, ["apns-id": "ec1bf194-b3b2-424a-89a9-5a918a6e6b5g"], .id),
        (alert, ["apns-id": "ec1bf194b3b2-424a-89a9-5a918a6e-6b5e"], .id),
        (alert, ["apns-priority": "5", "Apns-Priority": "5"], .twice),
    ]

    @Test(arguments: faults.indices)
    func `is not made of what APNs would refuse or drop`(_ row: Int) {
        let fault = Self.faults[row].fault
        #expect(throws: fault.refusal) { try push(Self.faults[row].json, Self.faults[row].headers) }
        #expect(fault.refusal.outcome == .invalidNotificationFormat && fault.refusal.reason == fault.rawValue)
    }

    @Test func `is not made for another platform's device`() {
        #expect(throws: PushRefusal(.wrongChannel, reason: NotificationFault.handle.rawValue)) {
            try driver().request(for: .apns(json: Array(alert.utf8)), to: DeviceHandle.fcm("token"))
        }
    }

    @Test(arguments: [("alert", 4096), ("voip", 5120)])
    func `has a payload of at most the bytes of its type`(_ type: String, _ limit: Int) throws {
        // Four bytes each in UTF-8.
        let frame = #"{"aps":{"alert":""}}"#
        let room = limit - frame.utf8.count
        let text = String(repeating: "😀", count: room / 4) + String(repeating: "a", count: room % 4)
        let longest = frame.replacing(#""""#, with: "\"\(text)\"")
        #expect(longest.utf8.count == limit)
        #expect(try push(longest, ["apns-push-type": type]).body.count == limit)
        let longer = longest.replacing("😀\"", with: "😀a\"").replacing("a\"}", with: "aa\"}")
        #expect(longer.utf8.count > limit)
        #expect(throws: NotificationFault.tooLarge.refusal) { try push(longer, ["apns-push-type": type]) }
        #expect(NotificationFault.tooLarge.refusal.outcome == .invalidNotificationSize)
    }

    @Test func `is refused without a word of the message`() {
        #expect(reason { try push("{\"aps\":{\"alert\":\"top secret\"") } == NotificationFault.notObject.rawValue)
        #expect(reason { try push(alert, ["apns-topic": "top secret"]) } == NotificationFault.topic.rawValue)
    }
}
