// SPDX-License-Identifier: Apache-2.0
internal import JSON

extension FileStore {
    package func device(_ id: String) throws(StoreError) -> DeviceRecord? {
        try deviceTable.record(id)
    }

    package func devices(owner: String) throws(StoreError) -> [DeviceRecord] {
        try deviceTable.records(owner, ownerIndex)
    }

    package func putDevice(_ device: DeviceRecord) throws(StoreError) -> DeviceRecord {
        try deviceTable.put(device) { (entry, bucket) throws(StoreError) in
            let listed = IndexedTable<DeviceRecord>.ids(entry.key, in: try bucket.content(), ownerIndex)
            guard listed.count >= context.options.caps.devicesPerOwner else { return }
            // Hints may be stale, so those that are right are counted before somebody is turned away.
            let owned = try deviceTable.records(entry.key, ownerIndex).count
            guard owned < context.options.caps.devicesPerOwner else { throw .quotaExceeded }
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

extension DeviceRecord: IndexedRecord {
    static let members: Set = [
        "id", "owner", "platform", "handle", "tags", "installationId", "alias", "pending", "updatedAt", "version",
    ]

    init?(line: JSONValue) {
        guard let id = line["id"]?.string, let owner = line["owner"]?.string,
            let platform = line["platform"]?.string, let handle = line["handle"]?.string,
            let tags = line.texts("tags"), let updatedAt = line.time("updatedAt"), let version = line.version
        else { return nil }
        let installationID = line["installationId"]
        guard installationID == nil || installationID?.string != nil else { return nil }
        let alias = line["alias"]
        guard alias == nil || alias?.string != nil else { return nil }
        let isPending = line["pending"]
        guard isPending == nil || isPending?.bool != nil else { return nil }
        self.init(
            id: id, owner: owner, platform: platform, handle: handle, tags: tags ?? [],
            installationID: installationID?.string, alias: alias?.string, isPending: isPending?.bool ?? false,
            updatedAt: updatedAt, version: version)
    }

    func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        json.member("platform", platform)
        json.member("handle", handle)
        json.member("tags", tags)
        if let installationID { json.member("installationId", installationID) }
        if let alias { json.member("alias", alias) }
        if isPending { json.member("pending", true) }
        json.member("updatedAt", updatedAt.text)
        json.member("version", version)
    }
}
