// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import NotificationHub
internal import Push
internal import Text
internal import XML

/// What a notification is for Windows. All but `raw` are XML documents whose root has the type's name.
enum WNSType: String, CaseIterable {
    case toast, tile, badge, raw

    /// The value of `X-WNS-Type`.
    var header: String { "wns/" + rawValue }

    /// The type that a header of the notification names, or else the root of its body.
    ///
    /// WNS takes any body, and the device drops one that does not agree with its type. So it is compared here.
    /// - Throws: `PushRefusal`, `invalidNotificationFormat`.
    init(of notification: HubNotification) throws(PushRefusal) {
        let named = notification.headers.first { ASCII.equalIgnoringCase($0.name, ExtensionField.type.text) }
        if let value = named?.value {
            guard let type = Self.allCases.first(where: { ASCII.equalIgnoringCase($0.header, value) }) else {
                throw Self.refusal("X-WNS-Type must be wns/toast, wns/tile, wns/badge or wns/raw")
            }
            self = type
            guard type != .raw else { return }
        } else {
            self = .raw
        }
        guard let root = try? XMLDocument.parse(notification.body) else {
            guard named != nil else { throw Self.refusal("X-WNS-Type is missing, and the body is not XML") }
            throw Self.refusal("the body is not well-formed XML without a document type")
        }
        guard root.name.namespace.isEmpty, let type = Self(rawValue: root.name.local), type != .raw else {
            throw Self.refusal("the body's root must be toast, tile or badge")
        }
        guard named == nil || type == self else { throw Self.refusal("the body's root does not agree with X-WNS-Type") }
        self = type
    }

    private static func refusal(_ reason: String) -> PushRefusal {
        PushRefusal(.invalidNotificationFormat, reason: reason)
    }
}
