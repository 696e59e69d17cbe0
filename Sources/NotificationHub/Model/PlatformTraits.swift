// SPDX-License-Identifier: Apache-2.0

/// What the hub, its XML and its JSON need to know of a platform.
package struct PlatformTraits: Sendable {
    /// The element of an outcome's counts, and its place in the order of .NET's data contract.
    struct OutcomeElement {
        let name: String
        let place: Int
    }

    /// What apps and senders call it, in lower case, the name of today first; empty: no app registers for it.
    var appNames: [String] = []
    /// What `ServiceBusNotification-Format` calls the platform.
    let formatHeader: String
    /// The platform under whose name the same devices are registered today; nil: this one.
    var family: Platform?
    /// The largest body that the service takes, in bytes.
    let maximumPayload: Int
    /// Makes a handle of what registrations have in the XML and in the store.
    let handle: @Sendable (HandleParts) throws(HandleError) -> DeviceHandle
    /// The element of the handle, and the field of a filter that asks for it.
    package let handleElement: String
    /// The registration's element is `<stem>RegistrationDescription` or `<stem>TemplateRegistrationDescription`.
    let elementStem: String
    let outcome: OutcomeElement
    /// The element of one header in a template, its list ending in `s`; nil where templates have none.
    var headerElement: String?
    /// A header that every template must have.
    package var neededHeader: String?
    /// Whether templates have an expiry and a priority, and their headers behind those.
    var templatesExpire = false
    /// Whether a device may have further tiles on its start screen.
    var hasTiles = false
}

extension Platform {
    /// The platform's row of the table.
    package var traits: PlatformTraits {
        switch self {
        case .apns: .apns
        case .fcm: .fcm
        case .gcm: .gcm
        case .wns: .wns
        case .mpns: .mpns
        case .adm: .adm
        case .baidu: .baidu
        case .browser: .browser
        }
    }
}

extension PlatformTraits {
    fileprivate static let apns = PlatformTraits(
        appNames: ["apns"], formatHeader: "apple", maximumPayload: 4096,
        handle: { parts throws(HandleError) in try .apns(parts.text) },
        handleElement: "DeviceToken", elementStem: "Apple", outcome: .init(name: "ApnsOutcomeCounts", place: 0),
        headerElement: "ApnsHeader", templatesExpire: true)

    /// The service counts the message without our wrapping, so some are refused that are a few bytes below its limit.
    fileprivate static let fcm = PlatformTraits(
        appNames: ["fcm", "gcm", "fcmv1"], formatHeader: "fcmv1", maximumPayload: 4096,
        handle: { parts throws(HandleError) in try .fcm(parts.text) },
        handleElement: "FcmV1RegistrationId", elementStem: "FcmV1",
        outcome: .init(name: "FcmV1OutcomeCounts", place: 5))

    /// The old name of the same service, whose old protocol Google has switched off.
    fileprivate static let gcm = PlatformTraits(
        formatHeader: "gcm", family: .fcm, maximumPayload: 4096,
        handle: { parts throws(HandleError) in try .gcm(parts.text) },
        handleElement: "GcmRegistrationId", elementStem: "Gcm", outcome: .init(name: "GcmOutcomeCounts", place: 3))

    fileprivate static let wns = PlatformTraits(
        appNames: ["wns"], formatHeader: "windows", maximumPayload: 5000,
        handle: { parts throws(HandleError) in try .wns(parts.text) },
        handleElement: "ChannelUri", elementStem: "Windows", outcome: .init(name: "WnsOutcomeCounts", place: 2),
        headerElement: "WnsHeader", neededHeader: "X-WNS-Type", hasTiles: true)

    fileprivate static let mpns = PlatformTraits(
        appNames: ["mpns"], formatHeader: "windowsphone", maximumPayload: 3072,
        handle: { parts throws(HandleError) in try .mpns(parts.text) },
        handleElement: "ChannelUri", elementStem: "Mpns", outcome: .init(name: "MpnsOutcomeCounts", place: 1),
        headerElement: "MpnsHeader", neededHeader: "X-NotificationClass", hasTiles: true)

    fileprivate static let adm = PlatformTraits(
        formatHeader: "adm", maximumPayload: 6144,
        handle: { parts throws(HandleError) in try .adm(parts.text) },
        handleElement: "AdmRegistrationId", elementStem: "Adm", outcome: .init(name: "AdmOutcomeCounts", place: 4))

    fileprivate static let baidu = PlatformTraits(
        formatHeader: "baidu", maximumPayload: 4096,
        handle: { parts throws(HandleError) in try .baidu(userID: parts.baiduUser ?? "", channelID: parts.text) },
        handleElement: "BaiduChannelId", elementStem: "Baidu", outcome: .init(name: "BaiduOutcomeCounts", place: 6))

    /// One encrypted record of 4096 bytes without header, padding mark and tag (RFC 8291 section 4).
    fileprivate static let browser = PlatformTraits(
        appNames: ["browser"], formatHeader: "browser", maximumPayload: 3993,
        handle: { parts throws(HandleError) in
            try .browser(endpoint: parts.text, p256dh: parts.p256dh ?? "", auth: parts.auth ?? "")
        },
        handleElement: "Endpoint", elementStem: "Browser", outcome: .init(name: "BrowserOutcomeCounts", place: 7))
}
