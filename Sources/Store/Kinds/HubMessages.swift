// SPDX-License-Identifier: Apache-2.0
package import JSON
internal import Text

extension HubMessage: KindRecord {
    package static let kind = Kind(
        "hub/messages", blank: HubMessage(id: "", document: .null, createdAt: .zero, expiresAt: .zero),
        fields: [
            .required("id", { $0.id }, { $0.id = $1 }),
            .optional("owner", nilAs: .name(""), { $0.owner }, { $0.owner = $1 }),
            .required("document", { $0.document }, { $0.document = $1 }),
            .optional("notBefore", { $0.notBefore }, { $0.notBefore = $1 }),
            .required("createdAt", { $0.createdAt }, { $0.createdAt = $1 }),
            .required("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
        ])

    /// Writes all members but the id.
    package func writeRest(to json: inout JSONWriter) { Self.kind.write(self, from: 1, to: &json) }
}

extension JSONValue {
    /// The hub's documents are free JSON, so one can be built whose line could not be read again. No store writes it.
    /// - Throws: `unavailable`, for such a document.
    package func checkDocument() throws(StoreError) {
        if columnValue == nil { throw .unreadable }
    }
}

extension StoreError {
    package static let unreadable = StoreError.unavailable(detail: "a document that could not be read back")
}
