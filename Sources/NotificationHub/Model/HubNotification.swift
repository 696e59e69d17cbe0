// SPDX-License-Identifier: Apache-2.0
internal import Text

/// A message for the devices of one platform, or for all that registered a template.
///
/// It prints its format and size, never its text.
package struct HubNotification: Sendable {
    /// For whom the body is written.
    package enum Format: Hashable, Sendable {
        case native(Platform)
        /// A flat JSON object of texts and numbers; each device's template makes its notification of it.
        case template

        /// The value of `ServiceBusNotification-Format`.
        package var header: String {
            switch self {
            case .native(let platform): platform.formatHeader
            case .template: "template"
            }
        }

        /// The format that `ServiceBusNotification-Format` names, in any case.
        package init?(header: String) {
            if header.lowercased() == "template" {
                self = .template
            } else {
                guard let platform = Platform(formatHeader: header) else { return nil }
                self = .native(platform)
            }
        }

        /// The largest body, in bytes.
        package var maximumPayload: Int {
            switch self {
            case .native(let platform): platform.maximumPayload
            case .template: HubNotification.maximumRequest
            }
        }
    }

    /// The largest request that the hub takes, in bytes.
    package static let maximumRequest = 65_536
    /// The largest batch of direct sends, in bytes: 1,000 handles and the notification. nginx has the same limit.
    package static let maximumBatchRequest = 262_144

    package var format: Format
    /// As the service reads it; for templates the properties, a JSON object of texts.
    package var body: [UInt8]
    package var contentType: String
    /// For the push service: `apns-push-type`, `X-WNS-Type`.
    package var headers: [PushHeader]
    /// The hub sends it then, in seconds since 1970; nil, or a time that has come: at once.
    package var notBefore: Int64?
    /// In whose share of a hub's queue it counts: the owner who sends it, or a key (`sender(ofKey:)`); nil: an operator's command. A
    /// hub elsewhere does not hear it.
    package var sender: String?
    /// How far ahead that may be, in seconds, as Azure documents it.
    package static let maximumDelay: Int64 = 7 * 86_400

    package init(format: Format, body: [UInt8], contentType: String, headers: [PushHeader] = []) {
        self.format = format
        self.body = body
        self.contentType = contentType
        self.headers = headers
    }

    /// - Parameter json: as Apple reads it: `{"aps":{…}}`.
    package static func apns(json: [UInt8], headers: [PushHeader] = []) -> HubNotification {
        HubNotification(format: .native(.apns), body: json, contentType: jsonType, headers: headers)
    }

    /// - Parameter json: `{"message":{…}}` without a target, which the hub puts in.
    package static func fcm(json: [UInt8]) -> HubNotification {
        HubNotification(format: .native(.fcm), body: json, contentType: jsonType)
    }

    /// - Parameter xml: `<toast>…</toast>`, UTF-8.
    package static func wnsToast(xml: [UInt8]) -> HubNotification {
        HubNotification(
            format: .native(.wns), body: xml, contentType: "application/xml",
            headers: [PushHeader("X-WNS-Type", "wns/toast")])
    }

    /// - Parameter bytes: anything; the app reads it.
    package static func wnsRaw(_ bytes: [UInt8]) -> HubNotification {
        HubNotification(
            format: .native(.wns), body: bytes, contentType: "application/octet-stream",
            headers: [PushHeader("X-WNS-Type", "wns/raw")])
    }

    /// - Parameter json: what the page's service worker reads: `{"title":…,"body":…}`.
    package static func browser(json: [UInt8]) -> HubNotification {
        HubNotification(format: .native(.browser), body: json, contentType: jsonType)
    }

    /// - Parameter json: a flat object of strings.
    package static func template(json: [UInt8]) -> HubNotification {
        HubNotification(format: .template, body: json, contentType: jsonType)
    }

    private static let jsonType = "application/json;charset=utf-8"
}

extension HubNotification {
    private static let keyPrefix = ":"

    /// `sender` for the keys of a policy. No user's owner begins with a colon.
    package static func sender(ofKey policy: String) -> String { keyPrefix + policy }

    /// The policy whose keys are that `sender`; nil for a user.
    package static func policy(ofSender sender: String) -> String? {
        sender.hasPrefix(keyPrefix) ? String(sender.dropFirst(keyPrefix.count)) : nil
    }
}

extension HubNotification: Redacted {
    package var description: String { "\(format.header) notification of \(body.count) bytes" }
}

/// That the hub took a message. What became of it, `details` tells later.
package struct SendReceipt: Equatable, Sendable {
    /// Names the message at the hub; nil where the hub does not say (below the Standard tier).
    package var notificationID: String?
    /// What the request was called in both logs.
    package var trackingID: String?
    /// Whether the hub knows already that no device is addressed. Azure finds that out later.
    package var hasNoTarget: Bool

    package init(notificationID: String? = nil, trackingID: String? = nil, hasNoTarget: Bool = false) {
        self.notificationID = notificationID
        self.trackingID = trackingID
        self.hasNoTarget = hasNoTarget
    }
}

/// A header field that goes with a notification to its push service: `X-WNS-Type: wns/toast`.
package struct PushHeader: Hashable, Sendable {
    package var name: String
    /// Of a template it may hold expressions.
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
