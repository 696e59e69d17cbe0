// SPDX-License-Identifier: Apache-2.0

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
