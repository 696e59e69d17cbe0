// SPDX-License-Identifier: Apache-2.0
import Store

extension PostgresSiteStore {
    private static let device = Statement.reading(
        "device", "SELECT \(DeviceRecord.selected) FROM devices WHERE id = $1 AND removed_at IS NULL")
    private static let devices = Statement.reading(
        "devices", "SELECT \(DeviceRecord.selected) FROM devices WHERE owner = $1 AND removed_at IS NULL ORDER BY id")
    /// What the owner has beside this one, the version that is stored, and the new one: NULL when nothing was written.
    private static let before = """
        held AS (
            SELECT count(*) AS records FROM devices WHERE owner = $2 AND id <> $1 AND removed_at IS NULL)
        """
    private static let after = """
        SELECT (SELECT version FROM put), (SELECT version FROM devices WHERE id = $1 AND removed_at IS NULL), records
        FROM held
        """
    /// How many devices an owner may have, and the version that is replaced: the values behind those of the record.
    private static let (limit, replaced) = (
        DeviceRecord.columns.parameter(behind: 1), DeviceRecord.columns.parameter(behind: 2)
    )
    /// Those who come at the same moment each find the same room, so they may exceed the cap by their number.
    private static let createDevice = Statement.writing(
        "createDevice",
        """
        WITH \(before), put AS (
            INSERT INTO devices (\(DeviceRecord.columns), version)
            SELECT \(DeviceRecord.columns.parameters), 1 FROM held WHERE records < \(limit)
            ON CONFLICT (id) DO UPDATE SET \(DeviceRecord.columns.assignments()), version = devices.version + 1,
                removed_at = NULL
            WHERE devices.removed_at IS NOT NULL RETURNING version)
        \(after)
        """)
    private static let replaceDevice = Statement.writing(
        "replaceDevice",
        """
        WITH \(before), put AS (
            UPDATE devices SET \(DeviceRecord.columns.assignments()), version = version + 1
            WHERE id = $1 AND version = \(replaced) AND removed_at IS NULL
                AND (owner = $2 AND (platform <> '' OR $3 = '') OR (SELECT records FROM held) < \(limit))
            RETURNING version)
        \(after)
        """)
    /// The handle goes at once; what stays counts on.
    static let removedDevice = DeviceRecord.table.wiped
    private static let remove = """
        UPDATE devices SET \(removedDevice)
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
        let allowed = options.quotas.devices(with: device)
        var values = try device.values() + [.count(allowed)]
        if device.version > 0 { values.append(.count(device.version)) }
        let statement = device.version == 0 ? Self.createDevice : Self.replaceDevice
        return try answer(statement, values) { (row) throws(CallFailure) in
            guard let version = try row.optionalInteger(0) else {
                let isCurrent = try row.optionalInteger(1) ?? 0 == Int64(device.version)
                let isFull = try row.integer(2) >= allowed
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

extension DeviceRecord: TableRecord {
    static let table = Table<DeviceRecord>("devices", .counts)
}
