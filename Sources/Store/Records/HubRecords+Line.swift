// SPDX-License-Identifier: Apache-2.0
package import JSON

extension HubRegistration: LineRecord {
    package static let members: Set = ["id", "channel", "tags", "description", "updatedAt", "version"]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let channel = line["channel"]?.string, let tags = line.texts("tags"),
            let description = line["description"], let updatedAt = line.time("updatedAt"), let version = line.version
        else { return nil }
        self.init(
            id: id, channel: channel, tags: tags ?? [], description: description, updatedAt: updatedAt,
            version: version)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("channel", channel)
        json.member("tags", tags)
        json.name("description")
        json.value(description)
        json.member("updatedAt", updatedAt.text)
        json.member("version", version)
    }
}

extension HubMessage: LineRecord {
    package static let members: Set = ["id", "document", "notBefore", "createdAt", "expiresAt"]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let document = line["document"], let createdAt = line.time("createdAt"),
            let notBefore = line.optional("notBefore", \.time), let expiresAt = line.time("expiresAt")
        else { return nil }
        self.init(id: id, document: document, createdAt: createdAt, notBefore: notBefore, expiresAt: expiresAt)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        writeRest(to: &json)
    }

    /// All members but the id.
    package func writeRest(to json: inout JSONWriter) {
        json.name("document")
        json.value(document)
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
