// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
package import Text

extension FileSiteStore: TransferStore {
    package func forEachRecord(
        now: Timestamp, _ body: (StoredRecord) throws(StoreError) -> Void
    ) throws(StoreError) {
        for place in places(due: try dueTables()) {
            try place.table.forEachCurrent(now: now) { (value) throws(StoreError) in
                if let record = place.decode(value) { try body(record) }
            }
        }
    }

    /// Many records at once cost less: those of one file are one write.
    package func putRecords(_ records: [StoredRecord], now: Timestamp) throws(StoreError) -> Int {
        let places = Dictionary(places(due: []).map { ($0.table.schema.name, $0) }) { first, _ in first }
        var byTable: [String: [ImportRecord]] = [:]
        for record in records {
            let isDue = record.table == StoredRecord.due
            let incoming =
                isDue
                ? (record.record as? HubMessage).map { ImportRecord(queueFile(of: $0), $0) }
                : places[record.table]?.incoming(record.record)
            guard let incoming else { throw .unavailable(detail: "no table for records of \(record.table)") }
            byTable[incoming.table.schema.name, default: []].append(incoming)
        }
        var count = 0
        for (_, incoming) in byTable.sorted(by: { $0.key < $1.key }) {
            guard let table = incoming.first?.table else { continue }
            var tableImport = RecordImport(table, now: now)
            count += try tableImport.put(incoming)
        }
        return count
    }

    /// Where the records of each kind are, in the order of an export.
    private func places(due: [BucketTable]) -> [RecordPlace] {
        [
            RecordPlace(userTable, User.self), RecordPlace(seenTable, LastSeen.self),
            RecordPlace(notificationTable, SecureNotification.self), RecordPlace(deviceTable),
            RecordPlace(sessionTable), RecordPlace(tokenTable), RecordPlace(sentTable, SentNotification.self),
            RecordPlace(sentMessageTable, SentMessage.self), RecordPlace(openingTable, MessageOpening.self),
            RecordPlace(idempotencyTable, IdempotentRequest.self), RecordPlace(registrationTable),
            RecordPlace(messageTable, HubMessage.self),
        ] + ([queueTable] + due).map { RecordPlace(queue: $0, StoredRecord.queuedMessage) }
            + [RecordPlace(queue: sendTable, StoredRecord.scheduledSend)]
    }
}

/// The table of a kind of record.
struct RecordPlace {
    let table: BucketTable
    /// What a line of the table is to other stores.
    let decode: (JSONValue) -> StoredRecord?
    /// Nil if the record is of another kind.
    let incoming: (any KindRecord) -> ImportRecord?

    init<Record: KindRecord>(_ table: BucketTable, _: Record.Type) {
        self.table = table
        decode = { Record(line: $0).map { StoredRecord($0) } }
        incoming = { ($0 as? Record).flatMap { ImportRecord(table, kept: $0) } }
    }

    init<Record: KindRecord & IndexedRecord>(_ table: IndexedTable<Record>) {
        self.table = table.records
        decode = { Record(line: $0).map { StoredRecord($0) } }
        incoming = { ($0 as? Record).map { ImportRecord(table, $0) } }
    }

    init<Record>(_ table: IndexedTable<Versioned<Record>>) {
        self.table = table.records
        decode = { Versioned<Record>(line: $0).map { StoredRecord($0.record) } }
        incoming = { ($0 as? Record).map { ImportRecord(table, Versioned($0, version: 1)) } }
    }

    init(queue table: BucketTable, _ record: @escaping (HubMessage) -> StoredRecord) {
        self.table = table
        decode = { HubMessage(line: $0).map(record) }
        incoming = { ($0 as? HubMessage).map { ImportRecord(table, $0) } }
    }
}

extension BucketTable {
    /// Calls `body` with every record that has not expired, none twice.
    fileprivate func forEachCurrent(
        now: Timestamp, _ body: (JSONValue) throws(StoreError) -> Void
    ) throws(StoreError) {
        try forEachFile { (content, range) throws(StoreError) in
            let records = CurrentRecords(content, self)
            for record in records.inOrder where range.contains(hash(of: record.name.keyText)) {
                if let value = records.value(of: record), !schema.isExpired(value, now: now) { try body(value) }
            }
        }
    }
}
