// SPDX-License-Identifier: Apache-2.0
internal import Text

extension User: KindRecord {
    package static let kind = Kind(
        "users", blank: User(name: "", passwordHash: "", version: 1),
        fields: [
            .required("id", column: "name", { $0.name }, { $0.name = $1 }),
            .required("passwordHash", { $0.passwordHash }, { $0.passwordHash = $1 }),
            .optional("tags", { $0.tags }, { $0.tags = $1 }),
            .optional("sendTo", { $0.sendTo }, { $0.sendTo = $1 }),
            .count("generation", { $0.generation }, { $0.generation = $1 }),
            .optional("removedAt", column: "ended_at", { $0.removedAt }, { $0.removedAt = $1 }),
            .flag("keepsData", { $0.keepsData }, { $0.keepsData = $1 }),
            .defaulting("upkeep", to: Upkeep(), written: { !$0.isEmpty }, { $0.upkeep }, { $0.upkeep = $1 }),
            // As files and tables have it from versions that noted log-ins by password alone.
            .optional("lastLogInAt", { $0.lastSeenAt }, { $0.lastSeenAt = $1 }),
            .flag("secureOnly", column: "is_secure_only", { $0.isSecureOnly }, { $0.isSecureOnly = $1 }),
            .optional("disabledAt", { $0.disabledAt }, { $0.disabledAt = $1 }),
            .optional("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
            .count("credentialEpoch", { $0.credentialEpoch }, { $0.credentialEpoch = $1 }),
            .defaulting("roles", to: [], written: { !$0.isEmpty }, { $0.roles }, { $0.roles = $1 }),
            .version({ $0.version }, { $0.version = $1 }),
        ])
}

extension LastSeen: KindRecord {
    package static let kind = Kind(
        "seen", blank: LastSeen(owner: "", at: .zero),
        fields: [
            .required("id", { $0.owner }, { $0.owner = $1 }),
            .required("seenAt", { $0.seenAt }, { $0.seenAt = $1 }),
            .required("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
        ])
}

extension Field where Record == User {
    /// A number that only grows, and may grow once more.
    fileprivate static func count(_ name: String, _ get: @escaping Get<Int>, _ set: @escaping Set<Int>) -> Field {
        defaulting(name, to: 0, written: { $0 > 0 }, if: { $0 >= 0 && $0 < .max - 1 }, get, set)
    }
}
