// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Text

/// The header fields of a send that are for the push service, under the names that the services have for them.
enum PushFields {
    /// Beginnings of names.
    private static let beginnings = ["apns-", "x-wns-", "x-notificationclass"]
    /// Fields of Web Push (RFC 8030 section 5).
    private static let webPush = ["ttl", "urgency", "topic"]
    private static let expiration = "apns-expiration"
    /// What SDKs write in place of a field of Apple's, where that is not there itself.
    private static let others: [(name: String, apple: String)] = [
        ("x-apns-priority", "apns-priority"), ("x-apns-push-type", "apns-push-type"),
        ("x-apns-expiration", expiration), ("servicebusnotification-apns-expiry", expiration),
    ]

    /// - Throws: `HubFault`, 400, for an expiry that is no time.
    static func headers(_ fields: HTTPFields, _ format: HubNotification.Format) throws(HubFault) -> [PushHeader] {
        var headers = fields.filter { field in
            let name = field.name.canonicalName
            return webPush.contains(name) || beginnings.contains { name.hasPrefix($0) }
        }.map { PushHeader($0.name.rawName, $0.value) }
        guard format == .native(.apns) else { return headers }
        for (name, apple) in others {
            guard let name = HTTPField.Name(name), let value = fields[name], !value.isEmpty,
                !headers.contains(where: { ASCII.equalIgnoringCase($0.name, apple) })
            else { continue }
            headers.append(PushHeader(apple, apple == expiration ? try seconds(value) : value))
        }
        return headers
    }

    private static func seconds(_ text: String) throws(HubFault) -> String {
        if text.utf8.allSatisfy(ASCII.isDigit) { return text }
        guard let seconds = HubTime.seconds(text) else { throw .badExpiry }
        return String(seconds)
    }
}

extension HubFault {
    fileprivate static let badExpiry = HubFault.bad(
        "The ServiceBusNotification-Apns-Expiry header must be a time in UTC, such as 2030-01-02T13:04:05Z.")
}
