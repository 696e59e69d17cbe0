// SPDX-License-Identifier: Apache-2.0

/// The name of a user: legal inside a tag, and the same person however it is spelled.
///
/// The hub compares tags without regard to case, so `Alice` and `alice` must not be two users, or one would receive
/// what is sent to the other. Names are therefore folded: upper case first, then lower case, because a comparison by
/// upper case (as .NET does) also takes U+017F for `s` and U+0131 for `i`.
package struct UserName: Hashable, Sendable, CustomStringConvertible {
    /// `username:` and the name must fit into the 120 UTF-16 code units of a tag.
    package static let maximumLength = 111
    /// The same of an owner, which is the name of one who is not the first of the name with a number behind it.
    package static let maximumOwnerLength = 111

    /// The folded name.
    package let description: String

    /// - Returns: nil, when the name is empty, too long, or holds anything but letters, digits, `_`, `-`, `@`, `#`
    ///   and `.`. A colon would end the name in Basic credentials. Combining marks are refused because two
    ///   spellings of one letter would be equal to Swift and different to the hub.
    package init?(_ text: String) {
        let folded = text.uppercased().lowercased()
        // Both: one letter that folds to two, or to a letter and a mark, must be legal as it will be stored.
        for name in [text, folded] {
            guard !name.isEmpty, name.utf16.count <= Self.maximumLength, name.unicodeScalars.allSatisfy(Self.isAllowed)
            else { return nil }
        }
        description = folded
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", "@", "#", ".": return true
        default:
            guard !scalar.isASCII else { return false }
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber:
                return true
            default: return false
            }
        }
    }
}
