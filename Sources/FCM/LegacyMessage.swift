// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Push

/// A message of Google's legacy protocol, which Firebase switched off in 2024: `{"data":{…},"notification":{…},…}`. Backends
/// that were written for it still send such bodies to a hub; here they become messages of HTTP v1.
struct LegacyMessage {
    /// Seconds that FCM keeps a message at most: four weeks.
    private static let maximumTimeToLive = 2_419_200
    /// Where the members of a legacy notification that only Android knows are in `android.notification`.
    private static let androidNames = [
        "icon": "icon", "sound": "sound", "tag": "tag", "color": "color", "click_action": "clickAction",
        "android_channel_id": "channelId", "title_loc_key": "titleLocKey", "body_loc_key": "bodyLocKey",
    ]
    private static let argumentNames = ["title_loc_args": "titleLocArgs", "body_loc_args": "bodyLocArgs"]

    private var data: [JSONValue.Member] = []
    private var notification: [JSONValue.Member] = []
    private var android: [JSONValue.Member] = []
    private var androidNotification: [JSONValue.Member] = []
    private var aps: [JSONValue.Member] = []
    private var isDryRun = false

    /// - Throws: `PushRefusal` with the member that is wrong or unknown.
    init(_ body: [UInt8]) throws(PushRefusal) {
        for member in try FCMMessage.object(body) { try read(member) }
    }

    var message: FCMMessage {
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: [JSONValue.Member]) {
            if !value.isEmpty { members.append(.init(name, .object(value))) }
        }
        add("notification", notification)
        add("data", data)
        let shown = androidNotification.isEmpty ? [] : [JSONValue.Member("notification", .object(androidNotification))]
        add("android", android + shown)
        add("apns", apns)
        return FCMMessage(members: members, validatesOnly: isDryRun)
    }

    private var apns: [JSONValue.Member] {
        guard !aps.isEmpty else { return [] }
        let payload = JSONValue.Member("payload", .object([.init("aps", .object(aps))]))
        guard notification.isEmpty else { return [payload] }
        // Apple takes a message that shows nothing at this priority only.
        return [.init("headers", .object([.init("apns-priority", .string("5"))])), payload]
    }

    private mutating func read(_ member: JSONValue.Member) throws(PushRefusal) {
        switch member.name {
        case "data": data = try Self.members(member).map { .init($0.name, .string(Self.text($0.value))) }
        case "notification": for member in try Self.members(member) { try readNotification(member) }
        case "priority":
            guard let priority = member.value.string?.uppercased(), ["HIGH", "NORMAL"].contains(priority) else {
                throw FCMMessage.refusal("priority must be high or normal")
            }
            android.append(.init("priority", .string(priority)))
        case "time_to_live":
            guard let seconds = Int(Self.text(member.value)), (0...Self.maximumTimeToLive).contains(seconds) else {
                throw FCMMessage.refusal("time_to_live must be a number from 0 to \(Self.maximumTimeToLive)")
            }
            android.append(.init("ttl", .string("\(seconds)s")))
        case "collapse_key": android.append(.init("collapseKey", try Self.string(member)))
        case "restricted_package_name": android.append(.init("restrictedPackageName", try Self.string(member)))
        case "dry_run": isDryRun = try Self.bool(member)
        case "content_available": if try Self.bool(member) { aps.append(.init("content-available", .number("1"))) }
        case "mutable_content": if try Self.bool(member) { aps.append(.init("mutable-content", .number("1"))) }
        // Google has ignored it since 2016.
        case "delay_while_idle": break
        case "to", "registration_ids", "condition":
            throw FCMMessage.refusal("\(member.name) is the hub's to set")
        default: throw FCMMessage.refusal("a member of the legacy message is unknown")
        }
    }

    private mutating func readNotification(_ member: JSONValue.Member) throws(PushRefusal) {
        if member.name == "title" || member.name == "body" || member.name == "image" {
            notification.append(.init(member.name, try Self.string(member)))
        } else if let name = Self.androidNames[member.name] {
            androidNotification.append(.init(name, try Self.string(member)))
        } else if let name = Self.argumentNames[member.name] {
            androidNotification.append(.init(name, .array(try Self.arguments(member))))
        } else {
            throw FCMMessage.refusal("a member of the legacy message's notification is unknown")
        }
    }

    /// Apps got texts, whatever was sent: anything else arrives as its JSON.
    private static func text(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        return JSONWriter(value).text
    }

    /// An array, or the JSON of one in a text, which the legacy protocol's documents asked for.
    private static func arguments(_ member: JSONValue.Member) throws(PushRefusal) -> [JSONValue] {
        let parsed = member.value.string.flatMap { try? JSONValue(parsing: Array($0.utf8)) }
        guard let values = member.value.array ?? parsed?.array else {
            throw FCMMessage.refusal("\(member.name) must be an array")
        }
        return values.map { .string(text($0)) }
    }

    private static func members(_ member: JSONValue.Member) throws(PushRefusal) -> [JSONValue.Member] {
        guard let members = member.value.members else { throw FCMMessage.refusal("\(member.name) must be an object") }
        return members
    }

    private static func string(_ member: JSONValue.Member) throws(PushRefusal) -> JSONValue {
        guard case .string = member.value else { throw FCMMessage.refusal("\(member.name) must be a text") }
        return member.value
    }

    private static func bool(_ member: JSONValue.Member) throws(PushRefusal) -> Bool {
        guard let value = member.value.bool else { throw FCMMessage.refusal("\(member.name) must be true or false") }
        return value
    }
}
