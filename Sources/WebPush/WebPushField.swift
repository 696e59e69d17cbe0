// SPDX-License-Identifier: Apache-2.0
internal import HTTP

/// The header fields of a push request that HTTP itself does not name.
extension ExtensionField {
    /// Seconds that the service keeps the message for a browser that is away (RFC 8030 section 5.2). Must be there.
    static let ttl = ExtensionField("TTL")
    /// How much of a battery the message is worth (section 5.3).
    static let urgency = ExtensionField("Urgency")
    /// A later message of the same topic replaces one that still waits (section 5.4).
    static let topic = ExtensionField("Topic")
    /// Microsoft's word for whether a message waits at all.
    static let cachePolicy = ExtensionField("X-WNS-Cache-Policy")
    /// Microsoft's sentence for a refusal.
    static let errorDescription = ExtensionField("X-WNS-Error-Description")
}
