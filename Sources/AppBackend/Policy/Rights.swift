// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import NotificationHub
import Store

/// What one user may: their own patterns, or the configuration's where they have none, and those of their roles.
struct Rights: Sendable {
    /// Patterns, and the names of the rules that they are from, as a refusal names them.
    struct Grant: Sendable {
        let patterns: [String]
        /// The key of the configuration, and of the record.
        let key: String
        /// Whether the user has patterns of their own, in the place of the configuration's.
        let isOwn: Bool
        let roles: [Role]

        var rules: String {
            ([isOwn ? "the user's own \(key)" : "policy.\(key)"] + roles.map { "role \($0.name)" })
                .joined(separator: ", ")
        }
    }

    let tags: Grant
    let sendTo: Grant
    /// Those of the user's that the configuration has.
    let roles: [Role]
    /// Whether no plain text goes to the user's devices through push services.
    let isSecureOnly: Bool
    /// Whether the user may send to everyone, which no pattern grants.
    let mayBroadcast: Bool
    /// Whether one of the user's roles lets its users administer.
    let mayAdminister: Bool

    /// Checks the tags that a device asked for.
    /// - Parameter app: the tag of the app that the device named.
    /// - Returns: them, the app's, and those of the user's roles.
    /// - Throws: `Problem` 400 for an illegal tag, 403 for one that the user may not claim; `field` is `Tags`.
    func claim(_ texts: [String], app: Tag? = nil) throws(Problem) -> [Tag] {
        var others = app.map { [$0] } ?? []
        for text in roleTags { others.append(try TagPolicy.serverTag(text)) }
        let maximum = max(0, TagPolicy.maximumClaimedTags - others.count)
        var claimed: [Tag] = []
        var known: Set<Tag> = []
        for text in texts {
            guard let tag = try? Tag(text) else {
                throw Self.illegalTag("Tags")
            }
            guard mayClaim(text) else {
                throw Problem(.tagNotAllowed, "You may not claim the tag \(text) (\(rules(of: text))).", field: "Tags")
            }
            guard known.insert(tag).inserted else { continue }
            // As soon as there are too many: a request names thousands.
            guard claimed.count < maximum else {
                throw Problem(.tooManyTags, "A device has at most \(maximum) tags.", field: "Tags")
            }
            claimed.append(tag)
        }
        return claimed + others
    }

    /// - Parameter field: where the request names the tag.
    static func illegalTag(_ field: String) -> Problem {
        Problem(
            .invalidTag, "A tag has 1 to \(Tag.maximumLength) letters, digits and _ @ # . : -", field: field)
    }

    /// By which devices of users with that role are reached. What is sent to a role travels as it is, so a user whom nothing may be
    /// sent to as plain text has none.
    private var roleTags: [String] { isSecureOnly ? [] : roles.map { TagPolicy.rolePrefix + $0.name } }

    /// The tags that a device with these is to have: those that the user may still claim and the app's stay, and those of
    /// roles are the ones that the user has now.
    func settled(_ tags: [String]) -> [String] {
        tags.filter { TagPolicy.isAppTag($0) || mayClaim($0) } + roleTags
    }

    /// Whether the user may send to that recipient. All users may send to themselves.
    func maySend(to recipient: UserName, sender: String) -> Bool {
        recipient.description.hasSameBytes(as: sender)
            || sendTo.patterns.contains { TagPolicy.matches(recipient.description, pattern: $0) }
    }

    /// Whether the user may send to all devices with the tag. A tag of the server's or the hub's own, and one by which a device
    /// hears a sender, is no recipient.
    func maySend(to tag: Tag) -> Bool {
        guard !tag.isSystem, !tag.isReserved else { return false }
        return maySend(to: tag.description, behind: TagPolicy.tagPrefix)
    }

    /// Whether the user may send to all users with that role.
    func maySend(toRole name: String) -> Bool { maySend(to: name, behind: TagPolicy.rolePrefix) }

    /// `*` alone is for users.
    private func maySend(to name: String, behind prefix: String) -> Bool {
        sendTo.patterns.contains { pattern in
            pattern.lowercased().hasPrefix(prefix) && TagPolicy.matches(prefix + name, pattern: pattern)
        }
    }

    /// - Parameters:
    ///   - field: where the request names the recipient.
    ///   - name: what it is called, where there are several; nil: it is the only one.
    func forbiddenRecipient(_ field: String, named name: String? = nil) -> Problem {
        Problem(
            .recipientNotAllowed, "You may not send to \(name ?? "this recipient") (\(sendTo.rules)).", field: field)
    }

    private func rules(of tag: String) -> String {
        TagPolicy.isServerTag(tag) ? "it is the server's own" : tags.rules
    }

    private func mayClaim(_ tag: String) -> Bool {
        if TagPolicy.isServerTag(tag) { return false }
        let needsGrant = TagPolicy.isSenderTag(tag)
        return tags.patterns.contains { pattern in
            (!needsGrant || pattern.lowercased().hasPrefix(TagPolicy.senderPrefix))
                && TagPolicy.matches(tag, pattern: pattern)
        }
    }
}

extension TagPolicy {
    /// Of a user who makes a request.
    func rights(of principal: Principal) -> Rights {
        rights(of: principal.record, tokenRoles: principal.tokenRoles)
    }

    /// - Parameters:
    ///   - user: nil for users who are not in the store.
    ///   - tokenRoles: the roles that a token gives, beside those of the record.
    func rights(of user: User?, tokenRoles: [String] = []) -> Rights {
        let names = (user?.roles ?? []) + tokenRoles
        let roles = names.isEmpty ? [] : roles.filter { names.contains($0.name) }
        func grant(_ own: [String]?, _ defaults: [String], _ key: String, _ more: (Role) -> [String]) -> Rights.Grant {
            Rights.Grant(
                patterns: (own ?? defaults) + roles.flatMap(more), key: key, isOwn: own != nil, roles: roles)
        }
        return Rights(
            tags: grant(user?.tags, defaultTags, "tags", \.tags),
            sendTo: grant(user?.sendTo, defaultSendTo, "sendTo", \.sendTo), roles: roles,
            isSecureOnly: user?.isSecureOnly == true,
            mayBroadcast: roles.contains(where: \.mayBroadcast),
            mayAdminister: roles.contains(where: \.administers))
    }
}
