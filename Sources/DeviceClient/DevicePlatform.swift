// SPDX-License-Identifier: Apache-2.0

/// The push services that a device can be reached by, as the contract spells them.
public enum DevicePlatform: String, CaseIterable, Sendable {
    /// Apple's, by device token.
    case apns
    /// Firebase Cloud Messaging, by registration token.
    case fcm
    /// Windows, by channel URI.
    case wns
    /// Windows Phone 8, by channel URI.
    case mpns
    /// Web Push, by the endpoint of a `PushSubscription`.
    case browser
}
