// SPDX-License-Identifier: Apache-2.0
internal import Text

extension Session: KindRecord {
    package static let kind = Kind(
        "sessions", blank: Session(id: "", owner: "", binding: "", createdAt: .zero, expiresAt: .zero),
        isVersioned: true,
        fields: [
            .required("id", { $0.id }, { $0.id = $1 }),
            .required("owner", { $0.owner }, { $0.owner = $1 }),
            .required("binding", { $0.binding }, { $0.binding = $1 }),
            .required("createdAt", { $0.createdAt }, { $0.createdAt = $1 }),
            .required("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
        ])
}

extension AppToken: KindRecord {
    package static let kind = Kind(
        "tokens", blank: AppToken(id: "", hash: "", owner: "", epoch: 0, scopes: [], createdAt: .zero),
        isVersioned: true,
        fields: [
            .required("id", { $0.id }, { $0.id = $1 }),
            .required("owner", { $0.owner }, { $0.owner = $1 }),
            .required("hash", { $0.hash }, { $0.hash = $1 }),
            .defaulting("epoch", to: 0, written: { $0 != 0 }, { $0.epoch }, { $0.epoch = $1 }),
            .defaulting("scopes", to: [], { $0.scopes }, { $0.scopes = $1 }),
            .optional("recipients", { $0.recipients }, { $0.recipients = $1 }),
            .defaulting(
                "recipientOwners", to: [], written: { !$0.isEmpty }, { $0.recipientOwners }, { $0.recipientOwners = $1 }
            ),
            .defaulting("label", to: "", written: { !$0.isEmpty }, { $0.label }, { $0.label = $1 }),
            .required("createdAt", { $0.createdAt }, { $0.createdAt = $1 }),
            .optional("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
            .optional("lastUsedAt", { $0.lastUsedAt }, { $0.lastUsedAt = $1 }),
        ])
}
