// SPDX-License-Identifier: Apache-2.0

/// A push service that the hub can reach.
package enum Platform: String, CaseIterable, Sendable {
    case apns
    /// Firebase Cloud Messaging, HTTP v1.
    case fcm
    /// Google's legacy protocol; Firebase switched it off in 2024, the hub still has registrations of it.
    case gcm
    case wns
    case mpns
    case adm
    case baidu
    case browser

    /// What `ServiceBusNotification-Format` calls it.
    package var formatHeader: String {
        switch self {
        case .apns: "apple"
        case .fcm: "fcmv1"
        case .gcm: "gcm"
        case .wns: "windows"
        case .mpns: "windowsphone"
        case .adm: "adm"
        case .baidu: "baidu"
        case .browser: "browser"
        }
    }

    /// The platform that `ServiceBusNotification-Format` names, in any case; nil for `template` and what is unknown.
    package init?(formatHeader text: String) {
        let lower = text.lowercased()
        guard let platform = Self.allCases.first(where: { $0.formatHeader == lower }) else { return nil }
        self = platform
    }

    /// The registration's element is `<stem>RegistrationDescription` or `<stem>TemplateRegistrationDescription`.
    private var elementStem: String {
        switch self {
        case .apns: "Apple"
        case .fcm: "FcmV1"
        case .gcm: "Gcm"
        case .wns: "Windows"
        case .mpns: "Mpns"
        case .adm: "Adm"
        case .baidu: "Baidu"
        case .browser: "Browser"
        }
    }

    /// The name of the element that describes a registration: `AppleTemplateRegistrationDescription`.
    package func descriptionElement(isTemplate: Bool) -> String {
        elementStem + (isTemplate ? "Template" : "") + "RegistrationDescription"
    }

    /// The largest notification that the service takes, in bytes of the body. The hub itself takes 64 KiB and lets the
    /// service refuse, too late for the sender to hear it.
    ///
    /// FCM counts the message without our wrapping, so this refuses some that are a few bytes below its limit. A
    /// browser's 3993 is what one encrypted record of 4096 bytes leaves after header, padding mark and tag (RFC 8291
    /// section 4).
    package var maximumPayload: Int {
        switch self {
        case .apns: 4096
        case .fcm, .gcm: 4096
        case .wns: 5000
        case .mpns: 3072
        case .adm: 6144
        case .baidu: 4096
        case .browser: 3993
        }
    }
}

extension Platform {
    /// The push service: `gcm` and `fcm` are two protocols of one, and a device may be registered under either.
    package var family: Platform { self == .gcm ? .fcm : self }
}
