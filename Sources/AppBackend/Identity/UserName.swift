// SPDX-License-Identifier: Apache-2.0
import DeviceAPI

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
    ///   and `.`. A colon would end the name in Basic credentials. Combining marks are refused, and letters that are not
    ///   in Unicode's normalization form C, because two spellings of one name would be equal to some and different to
    ///   others, Swift and the hub among them.
    package init?(_ text: String) {
        // As nearly all names are that come again and again.
        if Self.isPlain(text) {
            description = text
            return
        }
        let folded = text.uppercased().lowercased()
        // Both: one letter that folds to two, or to a letter and a mark, must be legal as it will be stored.
        for name in [text, folded] {
            guard !name.isEmpty, name.utf16.count <= Self.maximumLength, name.unicodeScalars.allSatisfy(Self.isAllowed)
            else { return nil }
        }
        guard folded.unicodeScalars.allSatisfy(Self.isComposed) else { return nil }
        description = folded
    }

    /// The name of a user who may be new. Stores may have others, from before, which can be removed.
    /// - Returns: nil as above, and for a name that no path can have, or that a command takes for an option.
    package init?(new text: String) {
        guard let name = UserName(text), Path.canName(name.description), !name.description.hasPrefix("-") else {
            return nil
        }
        self = name
    }

    /// Whether it is legal, folded and composed as it is: ASCII in lower case.
    private static func isPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            guard !bytes.isEmpty, bytes.count <= maximumLength else { return false }
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                    UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "."):
                    continue
                default: return false
                }
            }
            return true
        }
    }

    /// A text of letters and digits that all answer yes is in form C, and is the only such text that is equal to it.
    private static func isComposed(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isFullCompositionExclusion && !joining.contains { $0.contains(scalar) }
    }

    /// Letters that may become one with the letter before them: those of `NFC_Quick_Check=Maybe` that are no marks, in
    /// `DerivedNormalizationProps.txt` of Unicode 16.0. `UserNameTests` holds them against what Swift takes for equal.
    private static let joining: [ClosedRange<Unicode.Scalar>] = [
        "\u{1161}"..."\u{1175}", "\u{11A8}"..."\u{11C2}", "\u{16D67}"..."\u{16D68}",
    ]

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
