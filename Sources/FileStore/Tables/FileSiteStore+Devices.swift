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
        let allowed = context.options.quotas.devices(with: device)
        return try deviceTable.put(
            device, durably: durably, atMost: allowed,
            replacing: { (old) throws(StoreError) in
                if old.platform.isEmpty, !device.platform.isEmpty { try checkRoom(for: device, atMost: allowed) }
            })
    }

    /// Of an id that is used for the first time, which the owner has already.
    private func checkRoom(for device: DeviceRecord, atMost allowed: Int) throws(StoreError) {
        let content = try ownerIndex.readLines(of: device.owner)
        try deviceTable.checkRoom(device.owner, in: content, ownerIndex, atMost: allowed) { $0.id != device.id }
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
