// SPDX-License-Identifier: Apache-2.0
internal import HTTP

/// The header fields of WNS, of requests and of answers.
extension ExtensionField {
    static let type = ExtensionField("X-WNS-Type")
    /// Whether a notification is kept for a device that is away.
    static let cachePolicy = ExtensionField("X-WNS-Cache-Policy")
    /// Seconds for which it is kept.
    static let timeToLive = ExtensionField("X-WNS-TTL")
    /// A later notification of the same tag replaces an earlier one, of the same group where there is one.
    static let tag = ExtensionField("X-WNS-Tag")
    static let group = ExtensionField("X-WNS-Group")
    /// Whether the answer is to say how the device is connected.
    static let requestForStatus = ExtensionField("X-WNS-RequestForStatus")
    /// How urgent it is: 1 (high) to 4 (very low).
    static let urgency = ExtensionField("X-WNS-PRIORITY")
    static let suppressPopup = ExtensionField("X-WNS-SuppressPopup")
    /// `received`, `dropped` or `channelthrottled`.
    static let status = ExtensionField("X-WNS-Status")
    static let errorDescription = ExtensionField("X-WNS-Error-Description")
}
