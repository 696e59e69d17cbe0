// SPDX-License-Identifier: Apache-2.0
import Store
internal import Text

extension FileSiteStore {
    /// The files of `DueFiles`, as tables.
    func dueTables() throws(StoreError) -> [BucketTable] { try dueFiles.hours().map(dueFiles.table) }
}

extension DueFiles {
    /// Looks after one file, as `BucketTable.tidy(_:now:)` does; removes it when nothing in it waits any more. Of an hour that
    /// is still to come nothing is read.
    /// - Returns: whether it was rewritten or removed.
    @discardableResult
    func tidy(_ hour: DueHour, now: Timestamp) throws(StoreError) -> Bool {
        let table = table(hour)
        let hash = table.hash(of: QueuedLine.key)
        guard hour.start <= now else {
            try table.removeTemporaries(hash, depth: 0)
            return false
        }
        let isCompacted = try table.tidy(hash, now: now)
        let isRemoved = try table.removeFile(hash, ifEmptyAt: now)
        return isCompacted || isRemoved
    }
}
