// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// The header fields of a push request that HTTP itself does not name.
enum WebPushField: String {
    /// Seconds that the service keeps the message for a browser that is away (RFC 8030 section 5.2). Must be there.
    case ttl = "TTL"
    /// How much of a battery the message is worth (section 5.3).
    case urgency = "Urgency"
    /// A later message of the same topic replaces one that still waits (section 5.4).
    case topic = "Topic"
    /// Microsoft's word for whether a message waits at all.
    case cachePolicy = "X-WNS-Cache-Policy"
}

extension HTTPFields {
    /// The field's value. Names are compared without case.
    subscript(_ field: WebPushField) -> String? {
        get { self[named: field.rawValue] }
        set { self[named: field.rawValue] = newValue }
    }
}
