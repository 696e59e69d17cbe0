// SPDX-License-Identifier: Apache-2.0
import HTTP

/// The header fields of APNs.
extension ExtensionField {
    static let topic = ExtensionField("apns-topic")
    static let pushType = ExtensionField("apns-push-type")
    /// Not `priority`, which HTTP has as well.
    static let pushPriority = ExtensionField("apns-priority")
    /// Seconds since 1970, not a duration; 0: one attempt, nothing is kept.
    static let expiration = ExtensionField("apns-expiration")
    /// A later notification of the same id replaces an earlier one.
    static let collapseID = ExtensionField("apns-collapse-id")
    static let id = ExtensionField("apns-id")
    /// Of a broadcast channel.
    static let channelID = ExtensionField("apns-channel-id")
    /// Names a request that manages channels.
    static let requestID = ExtensionField("apns-request-id")

    static let ofAPNs: [ExtensionField] = [
        .topic, .pushType, .pushPriority, .expiration, .collapseID, .id, .channelID, .requestID,
    ]
}
