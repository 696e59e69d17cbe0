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
        try deviceTable.put(device, durably: durably, atMost: context.options.quotas.devicesPerOwner)
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
