// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import NotificationHub
internal import Push
internal import Text

/// The sender's headers that say how WNS is to treat a notification. Others are not for WNS and are left out.
enum DeliveryHeaders {
    /// In characters, of tag and group.
    static let maximumTagLength = 16
    private static let known: [ExtensionField] = [
        .cachePolicy, .timeToLive, .tag, .group, .requestForStatus, .urgency, .suppressPopup,
    ]

    /// - Throws: `PushRefusal`, `invalidNotificationFormat`: WNS answers 400 to such a header at every device.
    static func add(_ headers: [PushHeader], of type: WNSType, to fields: inout HTTPFields) throws(PushRefusal) {
        for field in known {
            guard let value = headers.first(where: { ASCII.equalIgnoringCase($0.name, field.text) })?.value else {
                continue
            }
            if let fault = fault(field, value, type) {
                throw PushRefusal(.invalidNotificationFormat, reason: "\(field.text) \(fault)")
            }
            fields[field] = value
        }
    }

    private static func fault(_ field: ExtensionField, _ value: String, _ type: WNSType) -> String? {
        switch field {
        case .cachePolicy:
            if type == .toast { return "is not for toasts" }
            return ["cache", "no-cache"].contains(value) ? nil : "must be cache or no-cache"
        case .timeToLive: return isNumber(value) ? nil : "must be a number of seconds"
        case .tag, .group: return isTag(value) ? nil : "must be 1 to \(maximumTagLength) letters and digits"
        case .requestForStatus: return ["true", "false"].contains(value) ? nil : "must be true or false"
        case .urgency: return ["1", "2", "3", "4"].contains(value) ? nil : "must be 1, 2, 3 or 4"
        case .suppressPopup: return "is for telephones alone; a desktop refuses it"
        default: return nil
        }
    }

    /// Seconds in 32 bits, and at least one.
    private static func isNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy(ASCII.isDigit) && (Int32(text) ?? 0) > 0
    }

    private static func isTag(_ text: String) -> Bool {
        (1...maximumTagLength).contains(text.utf8.count) && text.utf8.allSatisfy(ASCII.isAlphanumeric)
    }
}
