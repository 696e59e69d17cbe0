// SPDX-License-Identifier: Apache-2.0
internal import Text

/// The hub's name for a registration: `7260336227650468927-4200236381151834034-1`.
///
/// The hub makes two numbers of 63 bits and a partition; other forms that clients chose were taken too.
package struct RegistrationID: Hashable, Sendable, CustomStringConvertible {
    /// In characters.
    package static let maximumLength = 128

    /// As it stands in a path; it needs no percent-encoding.
    package let description: String

    /// Nil for anything but 1 ... 128 letters (ASCII), digits, `-` and `_`.
    package init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy(ASCII.isURLSafe)
        else { return nil }
        description = text
    }

    private init(unchecked text: String) {
        description = text
    }

    /// A new one, in the form of the hub's.
    package static func random() -> RegistrationID {
        RegistrationID(unchecked: "\(Int64.random(in: 1 ... .max))-\(Int64.random(in: 1 ... .max))-1")
    }
}
