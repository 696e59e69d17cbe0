// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

extension SecureNotification: KindRecord {
    package static let kind = Kind(
        "notifications",
        blank: SecureNotification(
            id: 0, token: "", owner: "", payload: "", isRead: false, createdAt: .zero, expiresAt: .zero),
        fields: [
            .required("id", if: { $0 > 0 }, { $0.id }, { $0.id = $1 }),
            .required("owner", { $0.owner }, { $0.owner = $1 }),
            .defaulting("sender", to: "", written: { !$0.isEmpty }, { $0.sender }, { $0.sender = $1 }),
            .required("token", { $0.token }, { $0.token = $1 }),
            .required("payload", { $0.payload }, { $0.payload = $1 }),
            .flag("plain", column: "is_plain", { $0.isPlain }, { $0.isPlain = $1 }),
            // A reading is a line of its own; here it is in a record that came from elsewhere, or was edited.
            .flag("read", column: "is_read", { $0.isRead }, { $0.isRead = $1 }),
            .required("createdAt", { $0.createdAt }, { $0.createdAt = $1 }),
            .required("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
            .sequence({ $0.sequence }, { $0.sequence = $1 }),
        ])
}

extension SecureNotification {
    /// Of the checksum in its line, and of the line feed.
    private static let checksumBytes = 18

    /// What it counts against the quotas, in bytes: its line in a file, in which a control character takes six.
    package var size: Int {
        JSONWriter.object(reservingCapacity: 512) { write(to: &$0) }.bytes.count + Self.checksumBytes
    }
}
