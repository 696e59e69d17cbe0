// SPDX-License-Identifier: Apache-2.0
import Store

extension PostgresSiteStore {
    private static let columns =
        "id, owner, platform, handle, tags, installation_id, is_pending, updated_at, version, alias"
    private static let device = Statement.reading(
        "device", "SELECT \(columns) FROM devices WHERE id = $1 AND removed_at IS NULL")
    private static let devices = Statement.reading(
        "devices", "SELECT \(columns) FROM devices WHERE owner = $1 AND removed_at IS NULL ORDER BY id")
    /// What the owner has beside this one, the version that is stored, and the new one: NULL when nothing was written.
    private static let before = """
        held AS (
            SELECT count(*) AS records FROM devices WHERE owner = $2 AND id <> $1 AND removed_at IS NULL)
        """
    private static let after = """
        SELECT (SELECT version FROM put), (SELECT version FROM devices WHERE id = $1 AND removed_at IS NULL), records
        FROM held
        """
    /// Those who come at the same moment each find the same room, so they may exceed the cap by their number.
    private static let createDevice = Statement.writing(
        "createDevice",
        """
        WITH \(before), put AS (
            INSERT INTO devices (
                id, owner, platform, handle, tags, installation_id, is_pending, updated_at, alias, version)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $10, 1 FROM held WHERE records < $9
            ON CONFLICT (id) DO UPDATE SET owner = $2, platform = $3, handle = $4, tags = $5, installation_id = $6,
                is_pending = $7, updated_at = $8, alias = $10, version = devices.version + 1, removed_at = NULL
            WHERE devices.removed_at IS NOT NULL RETURNING version)
        \(after)
        """)
    private static let replaceDevice = Statement.writing(
        "replaceDevice",
        """
        WITH \(before), put AS (
            UPDATE devices SET owner = $2, platform = $3, handle = $4, tags = $5, installation_id = $6,
                is_pending = $7, updated_at = $8, alias = $10, version = version + 1
            WHERE id = $1 AND version = $11 AND removed_at IS NULL
                AND (owner = $2 OR (SELECT records FROM held) < $9) RETURNING version)
        \(after)
        """)
    /// The handle goes at once; what stays counts on.
    private static let remove = """
        UPDATE devices SET removed_at = now(), owner = '', handle = '', tags = '[]', installation_id = NULL,
            alias = NULL
        WHERE id = $1 AND version = $2 AND removed_at IS NULL
        """
    private static let removeDevice = Statement.writing(
        "removeDevice",
        """
        WITH gone AS (\(remove) RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM gone), EXISTS (SELECT 1 FROM devices WHERE id = $1 AND removed_at IS NULL)
        """)
    /// Both rows are locked, in the order of their ids, so two that remove each other's do not wait for each other; what
    /// `held` answers is what they are then, not what they were when the statement began. Should a server lock them in another
    /// order, it gives one of the two up (40P01, 40001), which is made again. Advisory locks would be had on PostgreSQL alone.
    private static let removeDeviceInFavor = Statement.writing(
        "removeDevice.inFavor",
        """
        WITH held AS (
            SELECT id, version FROM devices WHERE id IN ($1, $3) AND removed_at IS NULL ORDER BY id FOR UPDATE),
        gone AS (\(remove) AND EXISTS (SELECT 1 FROM held WHERE id = $3 AND version = $4) RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM gone), EXISTS (SELECT 1 FROM held WHERE id = $1)
        """)

    package func device(_ id: String) throws(StoreError) -> DeviceRecord? {
        try first(Self.device, [.name(id)])
    }

    package func devices(owner: String) throws(StoreError) -> [DeviceRecord] {
        try all(Self.devices, [.name(owner)])
    }

    /// Durable in any case: a transaction that is not would save little.
    package func putDevice(_ device: DeviceRecord, durably: Bool) throws(StoreError) -> DeviceRecord {
        guard device.version >= 0, device.version < .max - 1 else { throw .conflict }
        var values: [Value] = [
            .name(device.id), .name(device.owner), .name(device.platform), .name(device.handle),
            .text(JSONText.array(device.tags)), .name(device.installationID), .bool(device.needsReconciliation),
            .time(device.updatedAt), .count(options.quotas.devicesPerOwner), .name(device.alias),
        ]
        if device.version > 0 { values.append(.count(device.version)) }
        let statement = device.version == 0 ? Self.createDevice : Self.replaceDevice
        return try answer(statement, values) { (row) throws(CallFailure) in
            guard let version = try row.optionalInteger(0) else {
                let isCurrent = try row.optionalInteger(1) ?? 0 == Int64(device.version)
                let isFull = try row.integer(2) >= options.quotas.devicesPerOwner
                throw .told(isCurrent && isFull ? .quotaExceeded : .conflict)
            }
            var stored = device
            stored.version = Int(version)
            return stored
        }
    }

    package func removeDevice(_ id: String, version: Int) throws(StoreError) -> Bool {
        try removed(Self.removeDevice, [.name(id), .count(version)])
    }

    package func removeDevice(
        _ id: String, version: Int, inFavorOf successor: DeviceRecord
    ) throws(StoreError) -> Bool {
        try removed(
            Self.removeDeviceInFavor,
            [.name(id), .count(version), .name(successor.id), .count(successor.version)])
    }

    /// - Parameter statement: answers whether it was removed, and whether it was there.
    func removed(_ statement: Statement, _ values: [Value]) throws(StoreError) -> Bool {
        try answer(statement, values) { (row) throws(CallFailure) in
            if try row.bool(0) { return true }
            if try row.bool(1) { throw .told(.conflict) }
            return false
        }
    }
}

extension DeviceRecord: RowRecord {
    init(_ row: Row) throws(CallFailure) {
        self.init(
            id: try row.string(0), owner: try row.string(1), platform: try row.string(2), handle: try row.string(3),
            tags: try row.texts(4) ?? [], installationID: try row.optionalString(5),
            alias: try row.optionalString(9), needsReconciliation: try row.bool(6), updatedAt: try row.time(7),
            version: try row.integer(8))
    }
}
