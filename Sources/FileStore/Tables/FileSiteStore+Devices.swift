// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store

extension FileSiteStore {
    package func device(_ id: String) throws(StoreError) -> DeviceRecord? {
        try deviceTable.record(id)
    }

    package func devices(owner: String) throws(StoreError) -> [DeviceRecord] {
        try deviceTable.records(owner, ownerIndex)
    }

    package func putDevice(_ device: DeviceRecord, durably: Bool) throws(StoreError) -> DeviceRecord {
        try deviceTable.put(device, durably: durably) { (entry, bucket) throws(StoreError) in
            let listed = IndexedTable<DeviceRecord>.ids(
                entry.key, in: try ownerIndex.lines(of: entry.key, in: bucket.file), ownerIndex)
            guard listed.count >= context.options.quotas.devicesPerOwner else { return }
            // Postings may be stale, so those that are right are counted before a request is refused.
            let owned = try deviceTable.records(entry.key, ownerIndex).count
            guard owned < context.options.quotas.devicesPerOwner else { throw .quotaExceeded }
        }
    }

    package func removeDevice(_ id: String, version: Int) throws(StoreError) -> Bool {
        try deviceTable.remove(id, version: version)
    }

    package func removeDevice(
        _ id: String, version: Int, inFavorOf successor: DeviceRecord
    ) throws(StoreError) -> Bool {
        try deviceTable.remove(id, version: version, inFavorOf: successor)
    }
}

extension DeviceRecord: IndexedRecord {}
