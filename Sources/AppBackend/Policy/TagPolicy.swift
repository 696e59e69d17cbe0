// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import NotificationHub
package import Store
import Text

/// Which tags users may claim for their devices, and whom they may send to; `Rights` is what that means for one of them.
///
/// A pattern is a text in which `*` stands for any characters, compared without regard to case. Five prefixes are
/// reserved: `username:`, `app:`, `role:` and `device:` are the server's alone, whatever a pattern says; `from:` is granted only by
/// a pattern that itself begins with `from:`, because a device with `from:alice` receives what alice sends to others. Of the
/// patterns of recipients, those that begin with `tag:` are for tags, those with `role:` for roles, and the others for users.
package struct TagPolicy: Sendable {
    /// What a user without patterns of their own may claim, and whom they may send to.
    package var defaultTags: [String]
    package var defaultSendTo: [String]
    /// What users of a role may besides.
    package var roles: [Role]
    /// The names of the roles that a new user has for whom none are named.
    package var newUserRoles: [String] = []
    /// Whether no plain text leaves this host: a text that would is kept, and its id sent.
    package var isSecureOnly: Bool

    package init(
        defaultTags: [String] = ["*"], defaultSendTo: [String] = ["*"], roles: [Role] = [], isSecureOnly: Bool = false
    ) {
        self.defaultTags = defaultTags
        self.defaultSendTo = defaultSendTo
        self.roles = roles
        self.isSecureOnly = isSecureOnly
    }

    /// The hub takes 60 tags per registration (hub documentation, tags), and the server adds one, and more for the app and roles.
    static let maximumClaimedTags = 59

    static let userPrefix = Tag.userPrefix
    static let senderPrefix = Tag.senderPrefix
    /// What a recipient that is a tag begins with. No user's name has a colon.
    package static let tagPrefix = "tag:"
    /// What a recipient that is an expression of tags begins with.
    package static let expressionPrefix = "tags:"
    /// What a recipient that is a role begins with, and the tag by which it is reached.
    package static let rolePrefix = Tag.rolePrefix
    /// What a recipient that is one device begins with.
    static let devicePrefix = Tag.registrationPrefix

    /// The tag that makes a device reachable for what is sent to its user. Only the server adds it.
    /// - Throws: `Problem` 500, which cannot happen: an owner is checked to be legal inside a tag.
    static func userTag(_ owner: String) throws(Problem) -> Tag {
        try serverTag(userPrefix + owner)
    }

    /// The tag of a device that hears what this sender sends.
    /// - Throws: as `userTag(_:)`.
    static func senderTag(_ name: String) throws(Problem) -> Tag { try serverTag(senderPrefix + name) }

    /// Whether it is any user's, however the prefix is spelled.
    static func isUserTag(_ tag: Tag) -> Bool {
        tag.description.uppercased().lowercased().hasPrefix(userPrefix)
    }

    static func serverTag(_ text: String) throws(Problem) -> Tag {
        do {
            return try Tag(text)
        } catch {
            throw Problem(.internalError, "A name or tag that was checked before is not legal inside a tag.")
        }
    }

    /// Whether what these two send each other must be kept here: the one who is more careful decides.
    /// - Parameters: nil for users who are not in the store.
    package func isSecureOnly(_ sender: User?, _ recipient: User?) -> Bool {
        isSecureOnly || sender?.isSecureOnly == true || recipient?.isSecureOnly == true
    }

    /// The role that a recipient names, in whatever case.
    package func role(named name: String) -> Role? {
        roles.first { $0.name.lowercased().hasSameBytes(as: name.lowercased()) }
    }

    /// Whether it names an app, or some hub may take it for such a tag.
    static func isAppTag(_ tag: String) -> Bool {
        Tag.has(Tag.appPrefix, tag)
    }

    /// Whether it names a role.
    static func isRoleTag(_ tag: String) -> Bool { Tag.has(rolePrefix, tag) }

    /// Whether it is one that the server alone gives.
    static func isServerTag(_ tag: String) -> Bool {
        Tag.reservedPrefixes.contains { $0 != senderPrefix && Tag.has($0, tag) }
    }

    /// Whether a device with it hears a sender.
    static func isSenderTag(_ tag: String) -> Bool { Tag.has(senderPrefix, tag) }

    /// Whether there can be a text that matches: beside `*` a pattern has only what a tag may have. The names of users and roles have
    /// nothing else either.
    package static func isPossible(pattern: String) -> Bool {
        let rest = pattern.unicodeScalars.filter { $0 != "*" }
        do throws(TagError) {
            _ = try Tag(String(rest))
            return true
        } catch {
            // How long a recipient may be depends on what it is.
            return error != .illegalCharacter
        }
    }

    /// Matches in time proportional to text times pattern, without recursion: after a `*` it is enough to remember
    /// where the last one stood.
    static func matches(_ text: String, pattern: String) -> Bool {
        if pattern == "*" { return true }
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
