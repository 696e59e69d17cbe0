// SPDX-License-Identifier: Apache-2.0
package import JSON

extension FileStore {
    /// Calls `body` with the records of that key as they stand, without checksums: those whose key it is (an id, or an
    /// owner, as the table has it), and those that an index of the table lists under it. Of the queue the key is a
    /// message's id, or `hub` for all.
    package func forEachRecord(
        of table: StoreTable, key: String, now: Timestamp, _ body: (JSONValue) -> Void
    ) throws(StoreError) {
        for state in try states(table, key: key, now: now) { body(state.value) }
        for id in try listedIDs(table, key) where !id.hasSameBytes(as: key) {
            for state in try states(table, key: id, now: now) { body(state.value) }
        }
    }

    /// The records of that key that have not expired.
    func states(_ table: StoreTable, key: String, now: Timestamp) throws(StoreError) -> [RecordState] {
        let table = table.table
        let isQueue = table.schema.name == QueuedLine.table
        let bucketKey = isQueue ? QueuedLine.key : key
        let states = RecordStates(try table.read(bucketKey), table, key: bucketKey).states
        return states.filter { state in
            let isAskedFor = !isQueue || key == QueuedLine.key || state.id.string?.hasSameBytes(as: key) == true
            return isAskedFor && !state.isExpired(table.schema, now: now)
        }
    }

    /// The ids of the records that an index of the table lists under that key, sorted.
    private func listedIDs(_ table: StoreTable, _ key: String) throws(StoreError) -> [String] {
        func ids(_ table: IndexedTable<some IndexedRecord>, _ indexes: [BucketTable]) throws(StoreError) -> [String] {
            var ids: Set<String> = []
            for index in indexes { try table.forEachRecord(key, index) { ids.insert($0.id) } }
            return ids.sorted()
        }
        switch table.name {
        case deviceTable.records.schema.name: return try ids(deviceTable, [ownerIndex])
        case sessionTable.records.schema.name: return try ids(sessionTable, [sessionIndex])
        case registrationTable.records.schema.name: return try ids(registrationTable, [channelIndex, tagIndex])
        default: return []
        }
    }
}
