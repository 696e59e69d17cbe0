// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
package import Text

extension FileSiteStore: TransferStore {
    package func forEachRecord(
        now: Timestamp, _ body: (StoredRecord) throws(StoreError) -> Void
    ) throws(StoreError) {
        func walk(_ table: BucketTable, _ record: (JSONValue) -> StoredRecord?) throws(StoreError) {
            try table.forEachCurrent(now: now) { (value) throws(StoreError) in
                if let record = record(value) { try body(record) }
            }
        }
        try walk(userTable) { User(line: $0).map(StoredRecord.user) }
        try walk(seenTable) { LastSeen(line: $0).map(StoredRecord.lastSeen) }
        try walk(notificationTable) { SecureNotification(line: $0).map(StoredRecord.notification) }
        try walk(deviceTable.records) { DeviceRecord(line: $0).map(StoredRecord.device) }
        try walk(sessionTable.records) { SessionRecord(line: $0).map { .session($0.session) } }
        try walk(tokenTable.records) { AppTokenRecord(line: $0).map { .appToken($0.token) } }
        try walk(sentTable) { SentNotification(line: $0).map(StoredRecord.sent) }
        try walk(sentMessageTable) { SentMessage(line: $0).map(StoredRecord.message) }
        try walk(openingTable) { MessageOpening(line: $0).map(StoredRecord.opening) }
        try walk(idempotencyTable) { IdempotentRequest(line: $0).map(StoredRecord.idempotentRequest) }
        try walk(registrationTable.records) { HubRegistration(line: $0).map(StoredRecord.hubRegistration) }
        try walk(messageTable) { HubMessage(line: $0).map(StoredRecord.hubMessage) }
        for table in [queueTable] + (try dueTables()) {
            try walk(table) { HubMessage(line: $0).map(StoredRecord.queuedMessage) }
        }
        try walk(sendTable) { HubMessage(line: $0).map(StoredRecord.scheduledSend) }
    }

    /// Many records at once cost less: those of one file are one write.
    package func putRecords(_ records: [StoredRecord], now: Timestamp) throws(StoreError) -> Int {
        var byTable: [String: [ImportRecord]] = [:]
        for record in records.map(incoming) { byTable[record.table.schema.name, default: []].append(record) }
        var count = 0
        for (_, incoming) in byTable.sorted(by: { $0.key < $1.key }) {
            guard let table = incoming.first?.table else { continue }
            var tableImport = RecordImport(table, now: now)
            count += try tableImport.put(incoming)
        }
        return count
    }

    private func incoming(_ record: StoredRecord) -> ImportRecord {
        switch record {
        case .user(let user): ImportRecord(userTable, user, id: .string(user.name), key: user.name)
        case .lastSeen(let seen): ImportRecord(seenTable, seen, id: .string(seen.owner), key: seen.owner)
        case .notification(let note):
            ImportRecord(notificationTable, note, id: .number(String(note.id)), key: note.owner)
        case .device(let device): ImportRecord(deviceTable, device)
        case .session(let session): ImportRecord(sessionTable, SessionRecord(session, version: 1))
        case .appToken(let token): ImportRecord(tokenTable, AppTokenRecord(token, version: 1))
        case .sent(let sent): ImportRecord(sentTable, sent, id: .string(sent.id), key: sent.owner)
        case .message(let message):
            ImportRecord(sentMessageTable, message, id: .string(message.id), key: message.id)
        case .opening(let opening):
            ImportRecord(openingTable, opening, id: .string(opening.opener), key: opening.message)
        case .idempotentRequest(let request):
            ImportRecord(idempotencyTable, request, id: .string(request.key), key: request.owner)
        case .hubRegistration(let registration): ImportRecord(registrationTable, registration)
        case .hubMessage(let message):
            ImportRecord(messageTable, message, id: .string(message.id), key: message.id)
        case .queuedMessage(let message):
            ImportRecord(queueFile(of: message), QueuedLine(message), id: .string(message.id), key: QueuedLine.key)
        case .scheduledSend(let send):
            ImportRecord(sendTable, QueuedLine(send), id: .string(send.id), key: QueuedLine.key)
        }
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
