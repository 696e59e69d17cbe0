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

    package func goneDevices(owner: String, handle: String) throws(StoreError) -> [DeviceRecord] {
        try deviceTable.records(DeviceRecord.goneKey(owner: owner, handle: handle), channelIndex)
            .filter { $0.isGone && $0.owner.hasSameBytes(as: owner) && $0.handle.hasSameBytes(as: handle) }
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

extension DeviceRecord: IndexedRecord {
    /// The key of an owner's gone devices of a handle, in the index of push handles. The hub's registrations are listed there by
    /// their handle as it is. With the owner in the key, others who register the handle do not make the search longer.
    static func goneKey(owner: String, handle: String) -> String { "gone:\(owner) \(handle)" }

    /// Its entry there; nil if it is not gone.
    func goneEntry(_ channels: BucketTable) -> IndexEntry? {
        isGone ? IndexEntry(table: channels, key: Self.goneKey(owner: owner, handle: handle)) : nil
    }
}
