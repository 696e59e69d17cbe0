// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

extension DeviceRecord: KindRecord {
    package static let kind = Kind(
        "devices", blank: DeviceRecord(id: "", owner: "", updatedAt: .zero, version: 1),
        fields: [
            .required("id", { $0.id }, { $0.id = $1 }),
            .required("owner", { $0.owner }, { $0.owner = $1 }),
            .required("platform", { $0.platform }, { $0.platform = $1 }),
            .required("handle", { $0.handle }, { $0.handle = $1 }),
            .defaulting("tags", to: [], { $0.tags }, { $0.tags = $1 }),
            .optional("installationId", { $0.installationID }, { $0.installationID = $1 }),
            .optional("alias", { $0.alias }, { $0.alias = $1 }),
            .flag("pending", column: "is_pending", { $0.needsReconciliation }, { $0.needsReconciliation = $1 }),
            .optional("goneAt", { $0.gone?.at }, { $0.gone = $1.map { Gone(at: $0, reason: "") } }),
            .optional("goneReason", { $0.gone?.reason }, { $0.gone?.reason = $1 ?? "" }),
            .required("updatedAt", { $0.updatedAt }, { $0.updatedAt = $1 }),
            .version({ $0.version }, { $0.version = $1 }),
        ])
}

extension HubRegistration: KindRecord {
    package static let kind = Kind(
        "hub/registrations",
        blank: HubRegistration(
            id: "", channel: "", tags: [], description: .null, updatedAt: .zero, version: 1, isNamespaced: false),
        fields: [
            .required("id", { $0.id }, { $0.id = $1 }),
            .required("channel", { $0.channel }, { $0.channel = $1 }),
            .defaulting("tags", to: [], { $0.tags }, { $0.tags = $1 }),
            .required("description", { $0.description }, { $0.description = $1 }),
            .required("updatedAt", { $0.updatedAt }, { $0.updatedAt = $1 }),
            .version({ $0.version }, { $0.version = $1 }),
            .flag("namespaced", column: "is_namespaced", { $0.isNamespaced }, { $0.isNamespaced = $1 }),
        ])
}
