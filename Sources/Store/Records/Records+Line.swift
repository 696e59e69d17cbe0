// SPDX-License-Identifier: Apache-2.0
package import JSON

extension User: LineRecord {
    package static let members: Set = [
        "id", "passwordHash", "tags", "sendTo", "generation", "removedAt", "keepsData", "upkeep", lastSeen,
        "secureOnly", "disabledAt", "expiresAt", "credentialEpoch", "roles", "version",
    ]
    /// As files have it from versions that noted log-ins by password alone.
    private static let lastSeen = "lastLogInAt"

    package init?(line: JSONValue) {
        guard let name = line["id"]?.string, let passwordHash = line["passwordHash"]?.string,
            let tags = line.texts("tags"), let sendTo = line.texts("sendTo"), let roles = line.texts("roles"),
            let version = line.version
        else { return nil }
        self.init(name: name, passwordHash: passwordHash, tags: tags, sendTo: sendTo, version: version)
        guard let generation = line.optional("generation", \.integer), generation ?? 0 >= 0, generation ?? 0 < .max - 1,
            let keepsData = line.optional("keepsData", \.bool), let upkeep = line.optional("upkeep", Upkeep.init),
            let removedAt = line.optional("removedAt", \.time), let lastSeenAt = line.optional(Self.lastSeen, \.time),
            let isSecureOnly = line.optional("secureOnly", \.bool),
            let disabledAt = line.optional("disabledAt", \.time),
            let expiresAt = line.optional("expiresAt", \.time), let epoch = line.optional("credentialEpoch", \.integer),
            epoch ?? 0 >= 0, epoch ?? 0 < .max - 1
        else { return nil }
        self.roles = roles ?? []
        self.generation = generation ?? 0
        self.keepsData = keepsData ?? false
        self.upkeep = upkeep ?? Upkeep()
        (self.removedAt, self.lastSeenAt) = (removedAt, lastSeenAt)
        self.isSecureOnly = isSecureOnly ?? false
        (self.disabledAt, self.expiresAt, credentialEpoch) = (disabledAt, expiresAt, epoch ?? 0)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", name)
        json.member("passwordHash", passwordHash)
        if let tags { json.member("tags", tags) }
        if let sendTo { json.member("sendTo", sendTo) }
        if generation > 0 { json.member("generation", generation) }
        if let removedAt { json.member("removedAt", removedAt.text) }
        if keepsData { json.member("keepsData", true) }
        if !upkeep.isEmpty { json.member("upkeep") { upkeep.writeMembers(to: &$0) } }
        if let lastSeenAt { json.member(Self.lastSeen, lastSeenAt.text) }
        if isSecureOnly { json.member("secureOnly", true) }
        if let disabledAt { json.member("disabledAt", disabledAt.text) }
        if let expiresAt { json.member("expiresAt", expiresAt.text) }
        if credentialEpoch > 0 { json.member("credentialEpoch", credentialEpoch) }
        if !roles.isEmpty { json.member("roles", roles) }
        json.member("version", version)
    }
}

extension LastSeen: LineRecord {
    package static let members: Set = ["id", "seenAt", "expiresAt"]

    package init?(line: JSONValue) {
        guard let owner = line["id"]?.string, let seenAt = line.time("seenAt"), let expiresAt = line.time("expiresAt")
        else { return nil }
        (self.owner, self.seenAt, self.expiresAt) = (owner, seenAt, expiresAt)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", owner)
        json.member("seenAt", seenAt.text)
        json.member("expiresAt", expiresAt.text)
    }
}

extension SecureNotification: LineRecord {
    package static let members: Set = [
        "id", "owner", "sender", "token", "payload", "plain", "read", "createdAt", "expiresAt", "sequence",
    ]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.integer.flatMap(Int32.init(exactly:)), id > 0,
            let token = line["token"]?.string, let owner = line["owner"]?.string,
            let payload = line["payload"]?.string, let createdAt = line.time("createdAt"),
            let expiresAt = line.time("expiresAt")
        else { return nil }
        guard let isPlain = line.optional("plain", \.bool), let isRead = line.optional("read", \.bool),
            let sender = line.optional("sender", \.string), let sequence = line.sequence
        else { return nil }
        self.init(
            id: id, token: token, owner: owner, sender: sender ?? "", payload: payload, isPlain: isPlain ?? false,
            isRead: isRead ?? false, createdAt: createdAt, sequence: sequence, expiresAt: expiresAt)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        if !sender.isEmpty { json.member("sender", sender) }
        json.member("token", token)
        json.member("payload", payload)
        if isPlain { json.member("plain", true) }
        // A reading is a line of its own; here it is in a record that came from elsewhere, or was edited.
        if isRead { json.member("read", true) }
        json.member("createdAt", createdAt.text)
        json.member("expiresAt", expiresAt.text)
        if sequence > 0 { json.member("sequence", sequence) }
    }
}

extension SecureNotification {
    /// Of the checksum in its line, and of the line feed.
    private static let checksumBytes = 18

    /// What it counts against the quotas, in bytes: its line in a file, in which a control character takes six.
    package var size: Int {
        JSONWriter.object(reservingCapacity: 512) { write(to: &$0) }.bytes.count + Self.checksumBytes
    }
}

extension DeviceRecord: LineRecord {
    package static let members: Set = [
        "id", "owner", "platform", "handle", "tags", "installationId", "alias", "pending", "goneAt", "goneReason",
        "updatedAt", "version",
    ]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let owner = line["owner"]?.string,
            let platform = line["platform"]?.string, let handle = line["handle"]?.string,
            let tags = line.texts("tags"), let updatedAt = line.time("updatedAt"), let version = line.version
        else { return nil }
        let installationID = line["installationId"]
        guard installationID == nil || installationID?.string != nil else { return nil }
        let alias = line["alias"]
        guard alias == nil || alias?.string != nil else { return nil }
        let isPending = line["pending"]
        guard isPending == nil || isPending?.bool != nil else { return nil }
        guard let goneAt = line.optional("goneAt", \.time), let reason = line.optional("goneReason", \.string) else {
            return nil
        }
        self.init(
            id: id, owner: owner, platform: platform, handle: handle, tags: tags ?? [],
            installationID: installationID?.string, alias: alias?.string, needsReconciliation: isPending?.bool ?? false,
            gone: goneAt.map { Gone(at: $0, reason: reason ?? "") }, updatedAt: updatedAt, version: version)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        json.member("platform", platform)
        json.member("handle", handle)
        json.member("tags", tags)
        if let installationID { json.member("installationId", installationID) }
        if let alias { json.member("alias", alias) }
        if needsReconciliation { json.member("pending", true) }
        if let gone {
            json.member("goneAt", gone.at.text)
            json.member("goneReason", gone.reason)
        }
        json.member("updatedAt", updatedAt.text)
        json.member("version", version)
    }
}

extension SentNotification: LineRecord {
    package static let members: Set = ["id", "owner", "message", "expiresAt"]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let owner = line["owner"]?.string,
            let message = line.optional("message", \.string), let expiresAt = line.time("expiresAt")
        else { return nil }
        self.init(id: id, owner: owner, message: message, expiresAt: expiresAt)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        if let message { json.member("message", message) }
        json.member("expiresAt", expiresAt.text)
    }
}

/// Without an answer the members `status`, `contentType` and `body` are missing.
extension IdempotentRequest: LineRecord {
    package static let members: Set = [
        "id", "owner", "fingerprint", "createdAt", "expiresAt", "status", "contentType", "body",
    ]

    package init?(line: JSONValue) {
        guard let key = line["id"]?.string, let owner = line["owner"]?.string,
            let fingerprint = line["fingerprint"]?.string, let createdAt = line.time("createdAt"),
            let expiresAt = line.time("expiresAt")
        else { return nil }
        self.init(
            owner: owner, key: key, fingerprint: fingerprint, createdAt: createdAt, expiresAt: expiresAt)
        guard line["status"] != nil else { return }
        guard let answer = KeptAnswer(line: line) else { return nil }
        self.answer = answer
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", key)
        json.member("owner", owner)
        json.member("fingerprint", fingerprint)
        json.member("createdAt", createdAt.text)
        json.member("expiresAt", expiresAt.text)
        guard let answer else { return }
        json.member("status", answer.status)
        json.member("contentType", answer.contentType)
        json.member("body", answer.body)
    }
}

extension KeptAnswer {
    /// Nil also for a status that HTTP does not have: the line may have been edited by hand.
    fileprivate init?(line: JSONValue) {
        guard let status = line["status"]?.integer, Self.statuses.contains(status),
            let contentType = line["contentType"]?.string, let body = line["body"]?.string
        else { return nil }
        self.init(status: status, contentType: contentType, body: body)
    }
}

extension HubRegistration: LineRecord {
    package static let members: Set = ["id", "channel", "tags", "description", "updatedAt", "version", "namespaced"]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let channel = line["channel"]?.string, let tags = line.texts("tags"),
            let description = line["description"], let updatedAt = line.time("updatedAt"), let version = line.version,
            let isNamespaced = line.optional("namespaced", \.bool)
        else { return nil }
        self.init(
            id: id, channel: channel, tags: tags ?? [], description: description, updatedAt: updatedAt,
            version: version, isNamespaced: isNamespaced ?? false)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("channel", channel)
        json.member("tags", tags)
        json.member("description", description)
        json.member("updatedAt", updatedAt.text)
        json.member("version", version)
        if isNamespaced { json.member("namespaced", true) }
    }
}

extension HubMessage: LineRecord {
    package static let members: Set = ["id", "owner", "document", "notBefore", "createdAt", "expiresAt"]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let document = line["document"], let createdAt = line.time("createdAt"),
            let owner = line.optional("owner", \.string), let notBefore = line.optional("notBefore", \.time),
            let expiresAt = line.time("expiresAt")
        else { return nil }
        self.init(
            id: id, owner: owner, document: document, createdAt: createdAt, notBefore: notBefore, expiresAt: expiresAt)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        writeRest(to: &json)
    }

    /// All members but the id.
    package func writeRest(to json: inout JSONWriter) {
        if let owner { json.member("owner", owner) }
        json.member("document", document)
        if let notBefore { json.member("notBefore", notBefore.text) }
        json.member("createdAt", createdAt.text)
        json.member("expiresAt", expiresAt.text)
    }
}

extension JSONValue {
    /// The hub's documents are free JSON, so one can be built whose line could not be read again. No store writes it.
    /// - Throws: `unavailable`, for such a document.
    package func checkDocument() throws(StoreError) {
        // It is a member of its line.
        guard isParsable(atDepth: 1) else { throw .unavailable(detail: "a document that could not be read back") }
    }
}
