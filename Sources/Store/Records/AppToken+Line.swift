// SPDX-License-Identifier: Apache-2.0
package import JSON

/// An app token as a line. It has a version because all indexed records have one.
package struct AppTokenRecord: LineRecord {
    package static let members: Set = [
        "id", "owner", "hash", "epoch", "scopes", "recipients", "recipientOwners", "label", "createdAt", "expiresAt",
        "lastUsedAt", "version",
    ]

    package var token: AppToken
    package var version = 0

    package var id: String { token.id }

    package init(_ token: AppToken, version: Int = 0) {
        self.token = token
        self.version = version
    }

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let owner = line["owner"]?.string, let hash = line["hash"]?.string,
            let epoch = line.optional("epoch", \.integer), let scopes = line.texts("scopes"),
            let recipients = line.texts("recipients"), let recipientOwners = line.texts("recipientOwners"),
            let label = line.optional("label", \.string),
            let createdAt = line.time("createdAt"), let expiresAt = line.optional("expiresAt", \.time),
            let lastUsedAt = line.optional("lastUsedAt", \.time), let version = line.version
        else { return nil }
        token = AppToken(
            id: id, hash: hash, owner: owner, epoch: epoch ?? 0, scopes: scopes ?? [], recipients: recipients,
            recipientOwners: recipientOwners ?? [], label: label ?? "", createdAt: createdAt, expiresAt: expiresAt,
            lastUsedAt: lastUsedAt)
        self.version = version
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", token.id)
        json.member("owner", token.owner)
        json.member("hash", token.hash)
        if token.epoch != 0 { json.member("epoch", token.epoch) }
        json.member("scopes", token.scopes)
        if let recipients = token.recipients { json.member("recipients", recipients) }
        if !token.recipientOwners.isEmpty { json.member("recipientOwners", token.recipientOwners) }
        if !token.label.isEmpty { json.member("label", token.label) }
        json.member("createdAt", token.createdAt.text)
        if let expiresAt = token.expiresAt { json.member("expiresAt", expiresAt.text) }
        if let lastUsedAt = token.lastUsedAt { json.member("lastUsedAt", lastUsedAt.text) }
        json.member("version", version)
    }
}
