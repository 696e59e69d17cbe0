// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// Records that are read, or written in one transaction, at once.
    private static let transferPage = 200

    /// The tables of all kinds of records, in the order of an export and of a sweep, which begins with what is secret.
    static let recordTables: [RecordTable] = [
        RecordTable(User.table), RecordTable(SecureNotification.table), RecordTable(LastSeen.table),
        RecordTable(DeviceRecord.table), RecordTable(Session.table), RecordTable(AppToken.table),
        RecordTable(SentNotification.table, put: SentNotification.put), RecordTable(SentMessage.table),
        RecordTable(MessageOpening.table), RecordTable(IdempotentRequest.table),
        RecordTable(HubRegistration.table, put: HubRegistration.put), RecordTable(HubMessage.table),
        RecordTable(
            HubMessage.queue, of: [StoredRecord.queue, StoredRecord.due], from: QueuedRow.all,
            StoredRecord.queuedMessage, put: HubMessage.putQueued),
        RecordTable(HubMessage.sends, of: [StoredRecord.sends], StoredRecord.scheduledSend),
    ]

    package func putRecords(_ records: [StoredRecord], now: Timestamp) throws(StoreError) -> Int {
        var count = 0
        var rest = records[...]
        while !rest.isEmpty {
            let page = rest.prefix(Self.transferPage)
            rest = rest.dropFirst(page.count)
            var puts: [RecordTable.Put] = []
            for record in page { puts.append(try Self.put(record, now: now)) }
            count += try database.transaction("putRecords") { (transaction) throws(CallFailure) in
                var count = 0
                for put in puts where try !transaction.call(put.statement, put.values).isEmpty { count += 1 }
                return count
            }
        }
        return count
    }

    private static func put(_ record: StoredRecord, now: Timestamp) throws(StoreError) -> RecordTable.Put {
        let table = recordTables.first { $0.kinds.contains(record.table) }
        guard let put = try table?.put(record.record, now) else {
            throw .unavailable(detail: "no table for records of \(record.table)")
        }
        return put
    }

    package func forEachRecord(
        now: Timestamp, _ body: (StoredRecord) throws(StoreError) -> Void
    ) throws(StoreError) {
        for table in Self.recordTables { try forEachRecord(in: table.walk, now: now, body) }
    }

    func forEachRecord(
        in walk: TransferWalk, now: Timestamp, _ body: (StoredRecord) throws(StoreError) -> Void
    ) throws(StoreError) {
        var place = walk.start
        while true {
            let limit = Self.transferPage
            let page = try database.call(
                walk.statement, place + [.count(limit)] + (walk.expires ? [.time(now)] : [])
            ) { (rows) throws(CallFailure) in
                try rows.map { (row) throws(CallFailure) in try walk.read(row) }
            }
            for entry in page { try body(entry.record) }
            guard page.count == limit, let last = page.last else { break }
            place = last.place
        }
    }
}
