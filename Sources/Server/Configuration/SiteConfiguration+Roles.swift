// SPDX-License-Identifier: Apache-2.0
import AppBackend
import JWT
import Text

/// The roles that users may have, `roles`, and those that new users get, `users.roles`.
extension SiteConfiguration {
    /// More roles are a fault.
    static let maximumRoles = 100
    /// Of a role's name, in bytes.
    static let maximumRoleBytes = 64

    /// One group, or a list of them.
    static let roleGroup = "roles"

    static let roleSettings: [Setting] = [
        .patterns(
            "policy.tags", \.policy.defaultTags,
            """
            Patterns of tags that a user without patterns of their own may claim. `*` matches everything, except that \
            a tag that begins with `from:` needs a pattern that does. `username:`, `app:`, `role:` and `device:` are \
            never granted.
            """),
        .patterns(
            "policy.sendTo", \.policy.defaultSendTo,
            """
            Patterns of users that a user without patterns of their own may send to. All users may send to themselves. \
            A pattern for [tags](../build/send.md#to-a-tag) begins with `tag:`, and one for \
            [roles](../build/send.md#to-a-role) with `role:`.
            """),
        .flag(
            "policy.secureOnly", \.policy.isSecureOnly,
            """
            No plain text leaves through push services. The service stores a send with `pns` for its recipient, and \
            pushes its ID.
            """),
        Setting(
            "users.roles", .list(),
            """
            Roles of users who are added without any. An SSO user has them as long as there is no record. A role with \
            `administer` is an error.
            """
        ) { .list($0.policy.newUserRoles) },
        Setting(
            "roles", .groups(atMost: maximumRoles), default: "none",
            """
            Groups of users, and their additional rights: one group, or a list of up to 100. See \
            [roles](../operate/users-and-permissions.md#roles).
            """),
        Setting(
            "roles.name", .text, default: "required",
            """
            1 to 64 letters, digits, `-`, `_`, `.` and `:`. Case matters, but two names that differ only in case are \
            an error.
            """),
        Setting("roles.tags", .list(), default: "`[]`", "Additional patterns as in `policy.tags`."),
        Setting("roles.sendTo", .list(), default: "`[]`", "Additional patterns as in `policy.sendTo`."),
        Setting(
            "roles.broadcast", .flag, default: "`false`",
            "Lets users of the role send to [everyone](../build/send.md#to-everyone), which no pattern grants."),
        Setting(
            "roles.administer", .flag, default: "`false`",
            "Lets users of the role use the [admin page](../operate/admin-page.md)."),
    ]

    mutating func readRoles(_ reading: inout ConfigurationReading) {
        let groups = reading.groups(Self.roleGroup)
        if groups.count > Self.maximumRoles {
            reading.fault(Self.roleGroup, "must be at most \(Self.maximumRoles) roles")
        }
        for group in groups.prefix(Self.maximumRoles) {
            let name = reading.needed("\(group).name", "what commands and issuers call the role")
            let tags = reading.patterns("\(group).tags") ?? []
            let sendTo = reading.patterns("\(group).sendTo") ?? []
            let mayBroadcast = reading.flag("\(group).broadcast") ?? false
            let administers = reading.flag("\(group).administer") ?? false
            guard let name else { continue }
            if name.utf8.count > Self.maximumRoleBytes || !name.utf8.allSatisfy(Self.isLegalInRole) {
                reading.fault(
                    "\(group).name", "must be 1 to \(Self.maximumRoleBytes) letters, digits, '-', '_', '.' and ':'")
            } else if policy.role(named: name) != nil {
                reading.fault("\(group).name", "is another role's")
            } else {
                policy.roles.append(
                    Role(
                        name: name, tags: tags, sendTo: sendTo, mayBroadcast: mayBroadcast, administers: administers))
            }
        }
    }

    /// A cookie that was stolen must not make administrators, so no new user is one.
    mutating func readNewUsers(_ reading: inout ConfigurationReading) {
        let key = "users.roles"
        for name in reading.list(key) ?? [] {
            if let role = policy.roles.first(where: { $0.name == name }) {
                if role.administers { reading.fault(key, "must have no role that lets its users administer: \(name)") }
                if !policy.newUserRoles.contains(name) { policy.newUserRoles.append(name) }
            } else {
                reading.fault(key, "must have names of roles: there is no \(name) in roles")
            }
        }
    }

    /// Names of identity providers, such as `app:editor`, do; a comma would divide two in a list.
    private static func isLegalInRole(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || "-_.:".utf8.contains(byte)
    }

    /// Whether only an issuer's user can have that name.
    package func hasIssuer(ofUser name: String) -> Bool {
        UserPrefix.text(of: name).map { prefix in issuers.contains { $0.prefix == prefix } } ?? false
    }
}

extension ConfigurationReading {
    /// Patterns of tags or of recipients. One that nothing can match would be a right that no user ever gets.
    mutating func patterns(_ key: String) -> [String]? {
        let patterns = list(key)
        for pattern in patterns ?? [] where !TagPolicy.isPossible(pattern: pattern) {
            fault(
                key,
                "has a pattern that matches nothing, as it may have only letters, digits, _ @ # . : - and *: \(pattern)"
            )
        }
        return patterns
    }
}
