// SPDX-License-Identifier: Apache-2.0

/// What a registration is marked with and a send is addressed to: `username:alice`.
///
/// Compared without case, in all scripts. Printed as it was written.
package struct Tag: Sendable {
    /// In UTF-16 code units, as the hub counts.
    package static let maximumLength = 120

    private let text: String
    /// In lower case: what is compared.
    package let folded: String

    /// A tag that people and programs may set: `^[-_@#.:\w]+$`, at most 120 characters.
    /// - Throws: `TagError`.
    package init(_ text: String) throws(TagError) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf16.count <= Self.maximumLength else { throw .tooLong }
        guard text.unicodeScalars.allSatisfy(TagCharacter.isTag) else { throw .illegalCharacter }
        self.init(unchecked: text)
    }

    /// A tag that the hub alone sets, on the registrations behind an installation: `$InstallationId:{…}` or
    /// `$UserId:{…}`. A send may be addressed to it; a registration that brings it is refused.
    /// - Throws: `TagError`.
    package init(system text: String) throws(TagError) {
        guard let prefix = Self.systemPrefixes.first(where: { text.lowercased().hasPrefix($0) }), text.hasSuffix("}")
        else { throw .notASystemTag }
        let value = text.unicodeScalars.dropFirst(prefix.unicodeScalars.count).dropLast()
        guard !value.isEmpty else { throw .empty }
        guard text.utf16.count <= Self.maximumSystemLength else { throw .tooLong }
        guard value.allSatisfy(TagCharacter.isSystemValue) else { throw .illegalCharacter }
        self.init(unchecked: text)
    }

    /// Whether only the hub may set it.
    package var isSystem: Bool { text.utf8.first == UInt8(ascii: "$") }

    /// A system tag holds an identifier of the caller's besides its own name; in UTF-16 code units.
    package static let maximumSystemLength = 512

    static let systemPrefixes = ["$installationid:{", "$userid:{"]

    private init(unchecked text: String) {
        self.text = text
        folded = text.lowercased()
    }
}

extension Tag: Hashable, CustomStringConvertible {
    /// By bytes: Swift takes two texts for equal that the store and other hubs do not.
    package static func == (one: Tag, other: Tag) -> Bool { one.folded.utf8.elementsEqual(other.folded.utf8) }
    package func hash(into hasher: inout Hasher) {
        for byte in folded.utf8 { hasher.combine(byte) }
    }
    /// As it was written.
    package var description: String { text }
}

/// Why a text is no tag. It never repeats the text.
package enum TagError: Error, Equatable, Sendable {
    case empty
    case tooLong
    /// Only letters, digits and `- _ @ # . :` may be in a tag; a blank or an operator would change an expression.
    case illegalCharacter
    /// It is neither `$InstallationId:{…}` nor `$UserId:{…}`.
    case notASystemTag
}

/// The characters of tags, told apart as .NET's `\w` does (letters, non-spacing marks, decimal digits, connectors).
enum TagCharacter {
    static func isTag(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "-", "_", "@", "#", ".", ":", "a"..."z", "A"..."Z", "0"..."9": true
        default: isWord(scalar)
        }
    }

    /// The same and `=`, between the braces of a system tag.
    static func isSystemValue(_ scalar: Unicode.Scalar) -> Bool { scalar == "=" || isTag(scalar) }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .decimalNumber, .connectorPunctuation:
            true
        default: false
        }
    }
}
