// SPDX-License-Identifier: Apache-2.0

/// A push service that the hub can reach. What the hub knows of it is one row of the table in `PlatformTraits.swift`.
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
}

extension Platform {
    /// The platform that apps and senders mean by a name, in any case; nil: no app registers for one of that name.
    package init?(appName text: String) {
        let lower = text.lowercased()
        guard let platform = Self.allCases.first(where: { $0.traits.appNames.contains(lower) }) else { return nil }
        self = platform
    }

    /// Every name that `init(appName:)` knows, for messages.
    package static var appNames: [String] { allCases.flatMap(\.traits.appNames) }

    /// What `ServiceBusNotification-Format` calls it.
    package var formatHeader: String { traits.formatHeader }

    /// The platform that `ServiceBusNotification-Format` names, in any case; nil for `template` and what is unknown.
    package init?(formatHeader text: String) {
        let lower = text.lowercased()
        guard let platform = Self.allCases.first(where: { $0.formatHeader == lower }) else { return nil }
        self = platform
    }

    /// The name of the element that describes a registration: `AppleTemplateRegistrationDescription`.
    package func descriptionElement(isTemplate: Bool) -> String {
        traits.elementStem + (isTemplate ? "Template" : "") + "RegistrationDescription"
    }

    /// The largest notification that the service takes, in bytes of the body. The hub itself takes 64 KiB and lets the
    /// service refuse, too late for the sender to hear it.
    package var maximumPayload: Int { traits.maximumPayload }

    /// The push service: `gcm` and `fcm` are two protocols of one, and a device may be registered under either.
    package var family: Platform { traits.family ?? self }
}
