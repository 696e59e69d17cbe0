// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
package import Text

extension FileSiteStore {
    /// Only appends, so it costs the same whatever the owner has sent before. Those that are too many are dropped when the
    /// file is rewritten, and until then `hasSent` passes them over.
    package func rememberSent(
        _ ids: [String], owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        guard !ids.isEmpty else { return }
        let lines = ids.flatMap { id in
            LineCodec.encode { SentNotification(id: id, owner: owner, expiresAt: expiresAt).write(to: &$0) }
        }
        try sentTable.write(owner, now: now, durably: false) { (bucket) throws(StoreError) in try bucket.append(lines) }
    }

    package func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        let records = CurrentRecords(try sentTable.read(owner), sentTable, key: owner)
        guard let record = records.record(id: .string(id), key: owner),
            records.all.count(where: { $0.newest.start > record.newest.start }) < context.options.quotas.sentPerOwner,
            let sent = records.line(of: record).flatMap({ SentNotification(line: $0.value) })
        else { return false }
        return sent.expiresAt > now
    }
}

extension BucketTable {
    /// Removes the records of these ids, in a table whose key is the id, where there are files that could hold them. A line
    /// that removes what is not there goes when its file is rewritten. What fails is reported: this is tidying.
    func forget(_ ids: [String]) {
        for id in ids {
            do throws(StoreError) {
                guard try open(hash(of: id), O_RDONLY) != nil else { continue }
                try write(id, durably: false) { (bucket) throws(StoreError) in
                    try bucket.append(LineCodec.removal(of: id, version: 1))
                }
            } catch {
                context.report(.tidyingFailed(file: schema.name, error))
            }
        }
    }
}
