// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import NotificationHub
internal import Text

/// How the push service is to treat a message: as the notification says, where that is valid, else by default.
/// A header that is not valid would cost the message, because services answer 400 to it.
struct DeliveryOptions {
    /// RFC 8030 section 5.3.
    enum Urgency: String {
        case veryLow = "very-low"
        case low, normal, high
    }

    /// The longest topic, in characters (RFC 8030 section 5.4).
    static let maximumTopicLength = 32
    /// Makes a topic longer that Apple would refuse. Of three characters, because the longest such topic has 29, and because
    /// no final bits are then left over.
    private static let topicSuffix = "-_-"
    /// Seconds, as long as any service's arithmetic goes. Each keeps messages for as long as it likes; Mozilla 60 days.
    static let maximumTimeToLive = Int(Int32.max)

    let timeToLive: Int
    let urgency: Urgency
    let topic: String?

    /// A user waits for the message, so it is urgent unless it says otherwise: on iOS only `high` is delivered
    /// reliably, and Android holds back the others while the telephone sleeps.
    init(_ headers: [PushHeader], defaultTimeToLive: Int) {
        func value(_ field: ExtensionField) -> String? {
            headers.first { ASCII.equalIgnoringCase($0.name, field.text) }?.value
        }
        timeToLive = value(.ttl).flatMap(Self.seconds) ?? defaultTimeToLive
        urgency = value(.urgency).flatMap { Urgency(rawValue: $0.lowercased()) } ?? .high
        topic = value(.topic).flatMap { Self.isTopic($0) ? Self.decodable($0) : nil }
    }

    /// The fields of a push request.
    func add(to fields: inout HTTPFields) {
        fields[.ttl] = String(timeToLive)
        fields[.urgency] = urgency.rawValue
        fields[.topic] = topic
    }

    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return min(Int(text) ?? maximumTimeToLive, maximumTimeToLive)
    }

    /// Apple decodes a topic as base64url and answers 400 `BadWebPushTopic` to a length that no encoder makes. Every service
    /// gets the same topic, however it is written, so that a later message replaces the former one at each.
    private static func decodable(_ topic: String) -> String {
        topic.utf8.count % 4 == 1 ? topic + topicSuffix : topic
    }

    private static func isTopic(_ text: String) -> Bool {
        (1...maximumTopicLength).contains(text.utf8.count)
            && text.utf8.allSatisfy(ASCII.isURLSafe)
    }
}
