// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// Records that are read, or written in one transaction, at once.
    private static let transferPage = 200

    package func putRecords(_ records: [StoredRecord], now: Timestamp) throws(StoreError) -> Int {
        var count = 0
        var rest = records[...]
        while !rest.isEmpty {
            let page = rest.prefix(Self.transferPage)
            rest = rest.dropFirst(page.count)
            var puts: [(statement: Statement, values: [Value])] = []
            for record in page { puts.append(try record.put(now: now)) }
            count += try database.transaction("putRecords") { (transaction) throws(CallFailure) in
                var count = 0
                for put in puts where try !transaction.call(put.statement, put.values).isEmpty { count += 1 }
                return count
            }
        }
        return count
    }

    package func forEachRecord(
        now: Timestamp, _ body: (StoredRecord) throws(StoreError) -> Void
    ) throws(StoreError) {
        for user in try userRecords() { try body(.user(user)) }
        for walk in TransferWalk.all {
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
}

/// All records of one kind, page by page in the order of their keys.
struct TransferWalk: Sendable {
    /// A record, and where those behind it begin.
    typealias Entry = (record: StoredRecord, place: [Value])

    let statement: Statement
    let start: [Value]
    let expires: Bool
    let read: @Sendable (Row) throws(CallFailure) -> Entry
}
