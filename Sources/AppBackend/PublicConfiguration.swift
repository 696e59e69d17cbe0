// SPDX-License-Identifier: Apache-2.0
package import NotificationHub

/// What is public about this backend, because a page needs it before its user logs in.
package struct PublicConfiguration: Sendable {
    /// The key that a browser subscribes with (RFC 8292 section 3.2), in base64url; nil where there is none.
    package var vapidPublicKey: String?
    /// The platforms whose devices the hub reaches. Of the others it records what is sent to them, and no more.
    package var deliveringPlatforms: Set<Platform>

    /// The longest message that pages let a person write, in bytes of UTF-8: with the sender's name around it, encrypted,
    /// it fits what gets through to Firefox on Android, some 2,740 bytes. What has to be escaped takes more; the limit of
    /// the backend itself is the platform's.
    package static let maximumMessageBytes = 2500

    package init(vapidPublicKey: String? = nil, deliveringPlatforms: Set<Platform> = []) {
        self.vapidPublicKey = vapidPublicKey
        self.deliveringPlatforms = deliveringPlatforms
    }
}
