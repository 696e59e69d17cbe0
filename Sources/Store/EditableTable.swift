// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// What editing must know of a table of records, whatever they are.
struct EditableTable: Sendable {
    let table: BucketTable
    /// Whether its records count their writes.
    let isVersioned: Bool
    /// The record's line as this program writes it, with what it does not know behind; nil when it is no such record.
    let line: @Sendable (JSONValue) -> [UInt8]?
    /// Where the record is listed.
    let entries: @Sendable (JSONValue) -> [IndexEntry]

    init<Record: LineRecord>(_ table: BucketTable, _ type: Record.Type) {
        self.table = table
        isVersioned = Record.members.contains("version")
        line = { value in Record(line: value).map { LineCodec.encode($0, keepingUnknownOf: value) } }
        entries = { _ in [] }
    }

    init<Record: IndexedRecord>(_ table: IndexedTable<Record>) {
        self.table = table.records
        isVersioned = true
        line = { value in Record(line: value).map { LineCodec.encode($0, keepingUnknownOf: value) } }
        entries = { value in Record(line: value).map(table.entries) ?? [] }
    }

    /// The line that removes the record.
    func removal(of id: JSONValue, key: String, version: Int?) -> [UInt8] {
        LineCodec.encode { json in
            json.name("id")
            json.value(id)
            json.member("op", deleteOp)
            if table.schema.key != "id" { json.member(table.schema.key, key) }
            if isVersioned, let version { json.member("version", version) }
        }
    }
}

extension FileStore {
    /// - Returns: nil for an index, which is made from records.
    func editable(_ table: StoreTable) -> EditableTable? {
        let editable = [
            EditableTable(userTable, User.self), EditableTable(notificationTable, SecureNotification.self),
            EditableTable(deviceTable), EditableTable(sessionTable), EditableTable(sentTable, SentNotification.self),
            EditableTable(idempotencyTable, IdempotentRequest.self),
            EditableTable(registrationTable), EditableTable(messageTable, HubMessage.self),
            EditableTable(queueTable, QueuedLine.self),
        ]
        return editable.first { $0.table.schema.name == table.name }
    }
}
