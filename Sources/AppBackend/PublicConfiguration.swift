// SPDX-License-Identifier: Apache-2.0
import NotificationHub

/// What anybody may know of this backend, because a page needs it before somebody has logged in.
package struct PublicConfiguration: Sendable {
    /// The key that a browser subscribes with (RFC 8292 section 3.2), in base64url; nil where there is none.
    package var vapidPublicKey: String?
    /// The platforms whose devices the hub reaches. Of the others it records what is sent to them, and no more.
    package var deliveringPlatforms: Set<Platform>

    /// The longest message that pages let a person write, in bytes of UTF-8: it leaves a third of the smallest
    /// notification (a browser's 3993 bytes) for the sender's name and for what has to be escaped.
    package static let maximumMessageBytes = 2700

    package init(vapidPublicKey: String? = nil, deliveringPlatforms: Set<Platform> = []) {
        self.vapidPublicKey = vapidPublicKey
        self.deliveringPlatforms = deliveringPlatforms
    }
}
