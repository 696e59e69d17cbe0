// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store

extension IndexedTable {
    /// Removes those of the records that are still at their versions. Those of one file are removed with one flush.
    /// - Returns: how many.
    func remove(_ removed: [Record]) throws(StoreError) -> Int {
        var rest = removed.map { (hash: records.hash(of: $0.id), element: $0) }.sorted { $0.hash < $1.hash }[...]
        var count = 0
        while let first = rest.first {
            let change = { (bucket: BucketWriter) throws(StoreError) -> (group: Int, removed: Int) in
                let group = records.prefix(of: rest)
                let current = CurrentRecords(try bucket.content(), records)
                let found = group.compactMap { (_, record) in
                    current.decoded(record.id, as: Record.self).flatMap { $0.version == record.version ? $0 : nil }
                }
                guard !found.isEmpty else { return (group.count, 0) }
                try bucket.append(found.flatMap { LineCodec.removal(of: $0.id, version: $0.version) })
                try bucket.flush()
                for (index, postings) in IndexPosting.placed(found.flatMap(postings)) { index.delete(postings) }
                return (group.count, found.count)
            }
            let done = try records.write(first.element.id, change)
            rest = rest.dropFirst(done.group)
            count += done.removed
        }
        return count
    }

    private func postings(of record: Record) -> [IndexPosting] {
        entries(record).map { IndexPosting(id: record.id, entry: $0) }
    }
}

extension BucketTable {
    /// As `deletePostings(_:id:_:)`, of several records whose removal is durable: those of one file are one write.
    fileprivate func delete(_ postings: ArraySlice<IndexPosting.Placed>) {
        var rest = postings
        while let first = rest.first { rest = rest.dropFirst(delete(rest, sharingFileWith: first.element.entry.key)) }
    }

    /// - Returns: how many postings were looked at.
    private func delete(_ postings: ArraySlice<IndexPosting.Placed>, sharingFileWith key: String) -> Int {
        do throws(StoreError) {
            return try write(key, durably: false) { (index) throws(StoreError) -> Int in
                let group = prefix(of: postings)
                try index.append(group.flatMap { $0.element.entry.line(id: $0.element.id, op: deleteOp) })
                return group.count
            }
        } catch {
            context.report(.tidyingFailed(file: schema.name, error))
            return 1
        }
    }
}
