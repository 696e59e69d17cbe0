// SPDX-License-Identifier: Apache-2.0
package import JSON

extension StoreTable {
    /// Members that hold no secret. All others do, or may: a handle is an address that anybody could push to, and what a
    /// newer version or an administrator has added is not known.
    private static let open: Set = [
        "id", "owner", "key", "tag", "tags", "sendTo", "platform", "installationId", "alias", "pending", "read",
        "queue", "fingerprint", "createdAt", "updatedAt", "expiresAt", "version",
    ]
    /// In place of a secret.
    private static let hidden = JSONValue.string("(hidden)")

    /// The record as it may be shown on a screen that others see.
    package func withoutSecrets(_ record: JSONValue) -> JSONValue {
        guard let members = record.members else { return Self.hidden }
        return .object(
            members.map { member in
                isOpen(member.name) ? member : JSONValue.Member(member.name, Self.hidden)
            })
    }

    /// What the hub remembers of a send has no text.
    private func isOpen(_ member: String) -> Bool {
        Self.open.contains(member) || member == "document" && name == "hub/messages"
    }
}
