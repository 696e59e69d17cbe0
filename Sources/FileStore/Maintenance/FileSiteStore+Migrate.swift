// SPDX-License-Identifier: Apache-2.0
import Store

extension FileSiteStore {
    /// Brings a store of an older format to this version's, once: of several processes one does it, while the others wait.
    ///
    /// Format 2 adds `hub/due`, so no record is rewritten: the change is that of `store.json`, which makes older versions
    /// refuse the store. Where the process is killed in between, the next one that opens the store does it.
    static func migrate(_ context: StoreContext) throws(StoreError) {
        let folder = StoreFolder(path: context.path, calls: context.options.calls)
        try folder.makeFolders([DueFiles.folder])
        try BucketLocks(context, name: "lock/format").withLock(0) { () throws(StoreError) in
            guard let settings = try folder.readSettings(), settings.format < StoreFolder.format else { return }
            // `indexed.json` names the file that is replaced. Without it the store would be taken for a copy.
            let marker = CleanMarker(context)
            let isClean = marker.isHere
            try folder.writeFormat(context, of: settings)
            if isClean { try marker.write() }
            context.report(.migrated(from: settings.format, to: StoreFolder.format))
        }
    }
}
