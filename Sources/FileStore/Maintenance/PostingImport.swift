// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store

/// The postings of many new records. They are appended without a look at what the index has: reading the ids of a tag that
/// all devices share would cost more with every call. A posting that is there twice counts once.
struct PostingImport {
    /// Where the postings of one file have been written.
    fileprivate struct Written {
        let table: BucketTable
        let postings: ArraySlice<IndexPosting.Placed>
        let inode: UInt64
        /// Behind them.
        let end: Int
    }

    private var written: [Written] = []

    /// Writes the postings, durably.
    init(_ postings: [IndexPosting], _ context: StoreContext) throws(StoreError) {
        var flushes = FlushBatch(context, maximumFiles: RecordImport.filesAtOnce)
        for (table, placed) in IndexPosting.placed(postings) {
            var rest = placed
            while let first = rest.first {
                let change = { (bucket: BucketWriter) throws(StoreError) -> ArraySlice<IndexPosting.Placed> in
                    let group = table.prefix(of: rest)
                    try bucket.append(group.flatMap { $0.element.entry.line(id: $0.element.id) })
                    return group
                }
                let (group, bucket) = try table.writeWithoutFlush(first.element.entry.key, change)
                try flushes.add(bucket)
                written.append(
                    Written(table: table, postings: group, inode: bucket.identity.inode, end: bucket.size))
                rest = rest.dropFirst(group.count)
            }
        }
        try flushes.finish()
    }

    /// Adds what another caller has deleted since, as far as it is missing.
    func restore() throws(StoreError) {
        for group in written where try !group.isUntouched {
            _ = try group.table.add(group.postings.map(\.element))
        }
    }
}

extension PostingImport.Written {
    /// Whether no line that could delete one is behind them.
    fileprivate var isUntouched: Bool {
        get throws(StoreError) {
            guard let hash = postings.first?.hash, let (file, _) = try table.open(hash, O_RDONLY) else { return false }
            let identity = try file.identity()
            guard identity.inode == inode, identity.size >= end else { return false }
            guard identity.size > end else { return true }
            let behind = BucketContent(
                bytes: try file.read(identity.size - end, from: end), name: file.name, identity: identity,
                linesBefore: 1)
            let probe = LinePrefilter(table.schema, key: nil, id: nil)
            var isUntouched = true
            behind.forEachLine { raw in
                if case .unclear = probe.examine(raw.bytes) { isUntouched = false }
            }
            return isUntouched
        }
    }
}
