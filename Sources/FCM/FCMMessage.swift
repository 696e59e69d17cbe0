// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Push

/// A message of FCM's HTTP v1 protocol without a target, as a sender writes it: `{"message":{…}}`.
///
/// Members are sent as they came, in either spelling (`collapseKey`, `collapse_key`): Google reads both.
struct FCMMessage {
    /// Bytes of a message's texts, keys and values together.
    static let maximumBytes = 4096
    private static let targets = ["fid", "token", "topic", "condition"]

    let members: [JSONValue.Member]
    /// Whether Google is to check the message and deliver nothing.
    var validatesOnly = false

    init(members: [JSONValue.Member], validatesOnly: Bool = false) {
        (self.members, self.validatesOnly) = (members, validatesOnly)
    }

    /// - Throws: `PushRefusal` with the member that is wrong.
    init(_ body: [UInt8]) throws(PushRefusal) {
        let json = try Self.object(body)
        var message: [JSONValue.Member]?
        for member in json {
            switch member.name {
            case "message":
                guard let members = member.value.members else { throw Self.refusal("message must be an object") }
                message = members
            case "validateOnly", "validate_only":
                guard let value = member.value.bool else { throw Self.refusal("validateOnly must be true or false") }
                validatesOnly = value
            default: throw Self.refusal("a member beside message is unknown to FCM")
            }
        }
        guard let message else { throw Self.refusal("message is missing") }
        members = message
    }

    /// The members of a body.
    static func object(_ body: [UInt8]) throws(PushRefusal) -> [JSONValue.Member] {
        guard let json = try? JSONValue(parsing: body) else { throw refusal("the body is not JSON") }
        guard let members = json.members else { throw refusal("the body is not an object") }
        return members
    }

    static func refusal(_ reason: String) -> PushRefusal { PushRefusal(.invalidNotificationFormat, reason: reason) }

    /// What Google would refuse with an answer that leaves open whether the device or the message is at fault.
    /// - Throws: `PushRefusal` with the member that is wrong.
    func check() throws(PushRefusal) {
        if let target = members.first(where: { Self.targets.contains($0.name) }) {
            throw Self.refusal("message.\(target.name) is the hub's to set")
        }
        if has("name") { throw Self.refusal("message.name is Google's to set") }
        if has("android"), has("androidV2") || has("android_v2") {
            throw Self.refusal("message has both android and androidV2")
        }
        let data = try texts(of: member("data"), "message.data")
        for block in ["android", "androidV2", "android_v2"] {
            let block = try object(block)
            let own = try texts(of: block?["data"], "message.android.data")
            try checkSize(own.isEmpty ? data : own)
        }
        for name in ["apns", "webpush", "notification", "fcmOptions", "fcm_options"] { _ = try object(name) }
        _ = try texts(of: member("webpush")?["data"], "message.webpush.data", isReservable: true)
    }

    /// What is sent.
    func encoded(to target: FCMTarget) -> [UInt8] {
        JSONWriter.object(reservingCapacity: 1024) {
            if validatesOnly { $0.member("validateOnly", true) }
            $0.member("message", .object([target.member] + members))
        }.bytes
    }

    private func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    private func has(_ name: String) -> Bool { member(name).map { !$0.isNull } ?? false }

    private func object(_ name: String) throws(PushRefusal) -> JSONValue? {
        guard let value = member(name), !value.isNull else { return nil }
        guard value.members != nil else { throw Self.refusal("message.\(name) must be an object") }
        return value
    }

    /// The members of a map of texts.
    private func texts(
        of map: JSONValue?, _ name: String, isReservable: Bool = false
    ) throws(PushRefusal) -> [(String, String)] {
        guard let map, !map.isNull else { return [] }
        guard let members = map.members else { throw Self.refusal("\(name) must be an object") }
        var texts: [(String, String)] = []
        for member in members {
            guard let text = member.value.string else { throw Self.refusal("the values of \(name) must be texts") }
            guard isReservable || !Self.isReserved(member.name) else {
                throw Self.refusal("\(name) has a key that Google reserves for itself")
            }
            texts.append((member.name, text))
        }
        return texts
    }

    private static func isReserved(_ key: String) -> Bool {
        key == "from" || key == "message_type" || key.hasPrefix("google.") || key.hasPrefix("gcm.notification.")
    }

    private func checkSize(_ data: [(String, String)]) throws(PushRefusal) {
        let shown = member("notification")?.members?.map { ($0.name, $0.value.string ?? "") } ?? []
        let bytes = (data + shown).reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }
        guard bytes <= Self.maximumBytes else {
            throw PushRefusal(
                .invalidNotificationSize, reason: "message has more than \(Self.maximumBytes) bytes of texts")
        }
    }
}
