// SPDX-License-Identifier: Apache-2.0
import Store
import System
package import Text

extension FileSiteStore {
    /// Adds the index lines that records should have and that are missing, as in a copy that was made while others wrote:
    /// the copy of an index may be older than that of the records. Others may read and write meanwhile.
    /// - Returns: how many lines were missing.
    /// - Throws: as every write.
    @discardableResult
    package func reindex(now: Timestamp) throws(StoreError) -> Int {
        try context.checkWritable()
        func add(to table: IndexedTable<some IndexedRecord>) throws(StoreError) -> Int {
            var added = 0
            try table.forEachBatch(now: now) { (index, postings) throws(StoreError) in added += try index.add(postings)
            }
            return added
        }
        return try add(to: deviceTable) + add(to: registrationTable) + add(to: sessionTable)
            + add(to: tokenTable)
    }

    /// Reindexes a copy once, when it is opened for the first time, and returns when that is done. With a million records
    /// it takes longer than a supervisor waits for a service to start, and a start that is broken off begins again:
    /// hence a limit, after which it goes on beside the service.
    func reindexIfCopied(now: Timestamp) {
        guard !context.isReadOnly, !CleanMarker(context).isHere else { return }
        let isDone = Semaphore()
        let result = DetachedThread.start {
            self.reindexCopy(now: now)
            isDone.signal()
        }
        guard result == 0 else { return reindexCopy(now: now) }
        _ = isDone.wait(for: context.options.firstOpeningTimeout)
    }

    /// A store that cannot be reindexed still works; it is tried again at the next opening.
    private func reindexCopy(now: Timestamp) {
        do throws(StoreError) {
            // One process does it while the others that open the store wait for it, but no longer than for any lock.
            try BucketLocks(context, name: "lock/reindex").withLock(0) { () throws(StoreError) in
                let mark = CleanMarker(context)
                guard !mark.isHere else { return }
                let added = try reindex(now: now)
                if added > 0 { context.report(.reindexed(lines: added)) }
                try mark.write()
            }
        } catch {
            if case .busy = error { return }
            context.report(.tidyingFailed(file: CleanMarker.name, error))
        }
    }
}
