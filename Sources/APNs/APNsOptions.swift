// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Text

/// How APNs treats a notification: as its headers say, else as its payload and Apple's defaults do. Each value is
/// checked, because Apple's answer to a wrong one comes when its sender is gone.
struct APNsOptions {
    /// In bytes.
    static let maximumCollapseIDLength = 64

    let type: APNsPushType
    private let topic: String
    private let priority: Int
    private let expiration: String?
    private let collapseID: String?
    private let id: String

    /// - Parameter topic: the configured one, without a push type's suffix.
    init(_ headers: [PushHeader], payload: APNsPayload, topic base: String) throws(NotificationFault) {
        let values = try Self.values(headers)
        type = try Self.type(values, payload: payload, base: base)
        topic = try Self.topic(values[.topic], type: type, base: base)
        priority = try Self.priority(values[.pushPriority], type: type)
        expiration = try Self.expiration(values[.expiration]) ?? (type == .pushtotalk ? "0" : nil)
        collapseID = values[.collapseID]
        if let collapseID, !Self.isCollapseID(collapseID) { throw .collapseID }
        id = try Self.id(values[.id])
    }

    /// The fields of a push request.
    func add(to fields: inout HTTPFields) {
        fields[.topic] = topic
        fields[.pushType] = type.rawValue
        fields[.pushPriority] = String(priority)
        fields[.expiration] = expiration
        fields[.collapseID] = collapseID
        fields[.id] = id
    }

    private static func values(_ headers: [PushHeader]) throws(NotificationFault) -> [ExtensionField: String] {
        var values: [ExtensionField: String] = [:]
        for header in headers {
            let name = header.name.lowercased()
            guard let field = ExtensionField.ofAPNs.first(where: { $0.text == name }) else { continue }
            guard values.updateValue(header.value, forKey: field) == nil else { throw .twice }
        }
        return values
    }

    private static func type(
        _ values: [ExtensionField: String], payload: APNsPayload, base: String
    ) throws(NotificationFault) -> APNsPushType {
        if let text = values[.pushType] {
            guard let type = APNsPushType(rawValue: text.lowercased()) else { throw .pushType }
            return type
        }
        let named = APNsPushType.allCases.first { !$0.topicSuffix.isEmpty && values[.topic] == base + $0.topicSuffix }
        if let named { return named }
        return try payload.derivedType()
    }

    private static func topic(
        _ text: String?, type: APNsPushType, base: String
    ) throws(NotificationFault) -> String {
        let topic = base + type.topicSuffix
        guard let text else { return topic }
        guard text == topic || text == base else { throw .topic }
        return topic
    }

    private static func priority(_ text: String?, type: APNsPushType) throws(NotificationFault) -> Int {
        guard let text else { return type.defaultPriority }
        guard let priority = [10, 5, 1].first(where: { String($0) == text }) else { throw .priority }
        guard type != .background || priority == 5 else { throw .backgroundPriority }
        return priority
    }

    static func expiration(_ text: String?) throws(NotificationFault) -> String? {
        guard let text else { return nil }
        guard text.utf8.allSatisfy(ASCII.isDigit), let seconds = Int(text),
            seconds == 0 || Epoch.isPlausible(seconds)
        else { throw .expiration }
        return String(seconds)
    }

    private static func isCollapseID(_ text: String) -> Bool {
        (1...maximumCollapseIDLength).contains(text.utf8.count) && HTTPField.isValidValue(text)
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private static func id(_ text: String?) throws(NotificationFault) -> String {
        guard let text else { return TrackingID.random() }
        guard let id = UUIDText.canonical(text) else { throw .id }
        return id
    }
}

/// A UUID that a sender gave.
enum UUIDText {
    /// The same UUID in lower case, as APNs wants it (RFC 9562 section 4); nil for a text that is not a UUID.
    static func canonical(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [8, 4, 4, 4, 12], parts.allSatisfy({ $0.allSatisfy { ASCII.hexValue($0) != nil } })
        else {
            return nil
        }
        return text.lowercased()
    }
}
