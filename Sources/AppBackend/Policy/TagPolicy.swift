// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import NotificationHub
package import Store

/// Which tags a user may claim for their device, and whom they may send to.
///
/// A pattern is a text in which `*` stands for any characters, compared without regard to case. Three prefixes are
/// reserved: `username:` and `app:` are the server's alone, whatever a pattern says; `from:` is granted only by a pattern
/// that itself begins with `from:`, because a device with `from:alice` receives what alice sends to others. Of the patterns of
/// recipients, those that begin with `tag:` are for tags, and the others for users.
package struct TagPolicy: Sendable {
    /// What a user without patterns of their own may claim, and whom they may send to.
    package var defaultTags: [String]
    package var defaultSendTo: [String]
    /// Whether no plain text leaves this host: a text that would is kept, and its id sent.
    package var isSecureOnly: Bool

    package init(
        defaultTags: [String] = ["*"], defaultSendTo: [String] = ["*"], isSecureOnly: Bool = false
    ) {
        self.defaultTags = defaultTags
        self.defaultSendTo = defaultSendTo
        self.isSecureOnly = isSecureOnly
    }

    /// The hub takes 60 tags per registration (hub documentation, tags), and the server adds one, or one more for the app.
    static let maximumClaimedTags = 59

    static let userPrefix = "username:"
    static let senderPrefix = "from:"
    /// What a recipient that is a tag begins with. No user's name has a colon.
    package static let tagPrefix = "tag:"

    /// Checks the tags that a device asked for.
    /// - Parameters:
    ///   - app: the tag of the app that the device named.
    ///   - user: nil for users who are not in the store (`auth.method: test`).
    /// - Returns: them, and the app's.
    /// - Throws: `Problem` 400 for an illegal tag, 403 for one that the user may not claim; `field` is `Tags`.
    func claim(_ texts: [String], app: Tag? = nil, user: User?) throws(Problem) -> [Tag] {
        let patterns = user?.tags ?? defaultTags
        var tags: [Tag] = []
        for text in texts {
            guard let tag = try? Tag(text) else {
                throw Problem(
                    .badRequest,
                    "A tag has 1 to \(Tag.maximumLength) letters, digits and _ @ # . : -",
                    field: "Tags")
            }
            guard mayClaim(text, patterns) else {
                throw Problem(.forbidden, "You may not claim the tag \(text).", field: "Tags")
            }
            if !tags.contains(tag) { tags.append(tag) }
        }
        let maximum = Self.maximumClaimedTags - (app == nil ? 0 : 1)
        guard tags.count <= maximum else {
            throw Problem(.badRequest, "A device has at most \(maximum) tags.", field: "Tags")
        }
        return tags + (app.map { [$0] } ?? [])
    }

    /// Those of the tags, which a device bears already, that the user may still claim, and the app's.
    func permitted(_ tags: [String], user: User?) -> [String] {
        let patterns = user?.tags ?? defaultTags
        return tags.filter { Self.isAppTag($0) || mayClaim($0, patterns) }
    }

    /// Whether the user may send to that recipient. All users may send to themselves.
    func maySend(to recipient: UserName, sender: String, user: User?) -> Bool {
        recipient.description.hasSameBytes(as: sender)
            || (user?.sendTo ?? defaultSendTo).contains { Self.matches(recipient.description, pattern: $0) }
    }

    /// Whether the user may send to all devices with the tag. A tag of the server's own, and one by which a device hears a
    /// sender, is no recipient.
    func maySend(to tag: Tag, user: User?) -> Bool {
        guard !Self.isReserved(tag.description) else { return false }
        let recipient = Self.tagPrefix + tag.description
        return (user?.sendTo ?? defaultSendTo).contains { pattern in
            pattern.lowercased().hasPrefix(Self.tagPrefix) && Self.matches(recipient, pattern: pattern)
        }
    }

    /// Whether what these two send each other must be kept here: the one who is more careful decides.
    /// - Parameters: nil for users who are not in the store.
    package func isSecureOnly(_ sender: User?, _ recipient: User?) -> Bool {
        isSecureOnly || sender?.isSecureOnly == true || recipient?.isSecureOnly == true
    }

    private func mayClaim(_ tag: String, _ patterns: [String]) -> Bool {
        if Self.has(Self.userPrefix, tag) || Self.isAppTag(tag) { return false }
        let needsGrant = Self.has(Self.senderPrefix, tag)
        return patterns.contains { pattern in
            (!needsGrant || pattern.lowercased().hasPrefix(Self.senderPrefix)) && Self.matches(tag, pattern: pattern)
        }
    }

    /// Whether it names an app, or some hub may take it for such a tag.
    static func isAppTag(_ tag: String) -> Bool {
        has(Tag.appPrefix, tag)
    }

    private static func isReserved(_ tag: String) -> Bool {
        has(userPrefix, tag) || has(senderPrefix, tag) || isAppTag(tag)
    }

    /// Folded as user names are: no spelling that some hub may take for the prefix slips through.
    private static func has(_ prefix: String, _ tag: String) -> Bool {
        tag.uppercased().lowercased().utf8.starts(with: prefix.utf8)
    }

    /// Matches in time proportional to text times pattern, without recursion: after a `*` it is enough to remember
    /// where the last one stood.
    static func matches(_ text: String, pattern: String) -> Bool {
        let text = Array(text.lowercased().unicodeScalars)
        let pattern = Array(pattern.lowercased().unicodeScalars)
        var textIndex = 0
        var patternIndex = 0
        var afterStar: (pattern: Int, text: Int)?
        while textIndex < text.count {
            if patternIndex < pattern.count, pattern[patternIndex] == "*" {
                patternIndex += 1
                afterStar = (patternIndex, textIndex)
            } else if patternIndex < pattern.count, pattern[patternIndex] == text[textIndex] {
                patternIndex += 1
                textIndex += 1
            } else if let star = afterStar {
                patternIndex = star.pattern
                textIndex = star.text + 1
                afterStar = (star.pattern, star.text + 1)
            } else {
                return false
            }
        }
        return pattern[patternIndex...].allSatisfy { $0 == "*" }
    }
}
