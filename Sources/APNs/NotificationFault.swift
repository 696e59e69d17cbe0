// SPDX-License-Identifier: Apache-2.0
import Push

/// Why a notification is not sent to APNs, which would refuse, delay or drop it: the member or header, and its rule.
enum NotificationFault: String, Error, CaseIterable {
    case notObject = "the payload is not a JSON object"
    case noAps = "aps: missing, and this push type needs it"
    case apsKind = "aps: not an object"
    case background =
        "aps: a background notification has content-available 1, and neither alert nor badge nor sound"
    case liveActivityEvent = "aps.event: a Live Activity's is start, update or end"
    case liveActivityTimestamp = "aps.timestamp: a Live Activity needs seconds since 1970"
    case liveActivityStart = "aps: the start of a Live Activity needs attributes-type, attributes and alert"
    case liveActivityState = "aps.content-state: a Live Activity's is an object, which only its end may leave out"
    case contentChanged = "aps.content-changed: must be true for this push type"
    case ambiguousType = "apns-push-type: missing, and content-changed is of controls and of widgets"
    case mdm = "mdm: missing, and this push type needs it"
    case tooLarge = "the payload is longer than APNs takes (4096 bytes, VoIP and broadcasts 5120)"
    case pushType = "apns-push-type: not one that Apple defines"
    case topic = "apns-topic: not the configured topic with the suffix of the push type"
    case priority = "apns-priority: must be 10, 5 or 1"
    case backgroundPriority = "apns-priority: must be 5 for a background notification"
    case expiration = "apns-expiration: must be 0 or seconds since 1970, not a duration and not milliseconds"
    case collapseID = "apns-collapse-id: must have 1 to 64 bytes and no control characters"
    case id = "apns-id: must be a UUID"
    case twice = "a header is given twice"
    case handle = "the handle is not one of APNs"
    case channelID = "apns-channel-id: not base64"
    case broadcastType = "apns-push-type: a broadcast is a Live Activity's"
    case broadcastExpiration = "apns-expiration: must be 0 for a channel that stores nothing"

    var refusal: PushRefusal {
        switch self {
        case .tooLarge: PushRefusal(.invalidNotificationSize, reason: rawValue)
        case .handle: PushRefusal(.wrongChannel, reason: rawValue)
        default: PushRefusal(.invalidNotificationFormat, reason: rawValue)
        }
    }
}
