// SPDX-License-Identifier: Apache-2.0
import Text

/// The hub's name for one send: `95b3a2e4ebad4a6792844af93a2e2a88-20200723042900-586152-11`. It is no secret.
public struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    /// In characters.
    public static let maximumLength = 128

    /// As it stands in a path; it needs no percent-encoding.
    public let description: String

    /// Nil for anything but 1 ... 128 letters (ASCII), digits, `-` and `_`: nothing else leads anywhere in a path.
    public init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy(ASCII.isURLSafe)
        else { return nil }
        description = text
    }
}
