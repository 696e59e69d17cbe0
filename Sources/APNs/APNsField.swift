// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// The header fields of APNs.
enum APNsField: String, CaseIterable {
    case topic = "apns-topic"
    case pushType = "apns-push-type"
    /// Not `priority`, which HTTP has as well.
    case pushPriority = "apns-priority"
    /// Seconds since 1970, not a duration; 0: one attempt, nothing is kept.
    case expiration = "apns-expiration"
    /// A later notification of the same id replaces an earlier one.
    case collapseID = "apns-collapse-id"
    case id = "apns-id"
    /// Of a broadcast channel.
    case channelID = "apns-channel-id"
    /// Names a request that manages channels.
    case requestID = "apns-request-id"
}

extension HTTPFields {
    /// The field's value. Names are compared without case.
    subscript(_ field: APNsField) -> String? {
        get { self[named: field.rawValue] }
        set { self[named: field.rawValue] = newValue }
    }
}
