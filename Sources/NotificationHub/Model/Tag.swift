// SPDX-License-Identifier: Apache-2.0
internal import Text

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

/// The tags that a backend alone gives, so that they say to whom a device belongs, and whom it hears.
extension Tag {
    /// The tag of all devices of a user begins with it.
    package static let userPrefix = "username:"
    /// The tag of a device that hears what a user sends to others.
    package static let senderPrefix = "from:"
    /// The tag of the devices of all users of a role.
    package static let rolePrefix = "role:"

    /// What the reserved tags begin with, in lower case.
    package static let reservedPrefixes = [userPrefix, senderPrefix, rolePrefix, appPrefix, registrationPrefix]

    package var isReserved: Bool { Self.reservedPrefixes.contains { Self.has($0, description) } }

    /// Whether the text begins with the prefix, folded as user names are: no spelling that some hub may take for the prefix
    /// slips through.
    package static func has(_ prefix: String, _ text: String) -> Bool {
        let start = text.utf8.prefix(prefix.utf8.count)
        guard start.allSatisfy({ $0 < 0x80 }) else {
            return text.uppercased().lowercased().utf8.starts(with: prefix.utf8)
        }
        return start.elementsEqual(prefix.utf8) { ASCII.lowercased($0) == $1 }
    }
}

/// The tag by which a registration says which app it is of, where a hub serves several apps of one platform:
/// `app:com.example.chat`. A backend sets it, and no user may claim it.
extension Tag {
    /// What it begins with, in lower case.
    package static let appPrefix = "app:"

    /// - Throws: `TagError`, for a name that is too long or has a character that no tag may have.
    package init(app name: String) throws(TagError) {
        try self.init(Self.appPrefix + name)
    }

    /// The app's name in lower case; nil for any other tag.
    package var app: String? {
        guard folded.utf8.starts(with: Self.appPrefix.utf8), folded.utf8.count > Self.appPrefix.utf8.count else {
            return nil
        }
        return String(decoding: folded.utf8.dropFirst(Self.appPrefix.utf8.count), as: UTF8.self)
    }
}

extension RegistrationDescription {
    /// The app that its first such tag names, in lower case; nil: none, so it is of the platform's default app.
    package var app: String? { tags.lazy.compactMap(\.app).first }
}

/// The tag by which one registration is addressed: `device:7260336227650468927-4200236381151834034-1`. A backend sets it where
/// the hub does not know it of its own accord (`Hub.knowsRegistrationTags`), and no user may claim it.
extension Tag {
    /// What it begins with, in lower case.
    package static let registrationPrefix = "device:"

    /// Nil for an id that is too long for a tag.
    package init?(registration id: RegistrationID) {
        guard let tag = try? Tag(Self.registrationPrefix + id.description) else { return nil }
        self = tag
    }

    /// The id as it was written; nil for any other tag.
    package var registrationID: RegistrationID? {
        guard folded.utf8.starts(with: Self.registrationPrefix.utf8) else { return nil }
        let id = description.utf8.dropFirst(Self.registrationPrefix.utf8.count)
        return RegistrationID(String(decoding: id, as: UTF8.self))
    }

    /// Whether it is the one of the registration with that id.
    package func names(registration id: String) -> Bool {
        folded.utf8.starts(with: Self.registrationPrefix.utf8)
            && folded.utf8.dropFirst(Self.registrationPrefix.utf8.count).elementsEqual(id.lowercased().utf8)
    }
}
