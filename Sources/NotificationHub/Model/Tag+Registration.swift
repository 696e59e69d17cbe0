// SPDX-License-Identifier: Apache-2.0

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
