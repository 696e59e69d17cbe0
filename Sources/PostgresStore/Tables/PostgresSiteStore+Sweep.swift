// SPDX-License-Identifier: Apache-2.0
import Store
import System
package import Text

/// Which table the next sweep begins with. Losing it costs nothing.
final class SweepPlace: Sendable {
    private let place = Lock(0)

    var current: Int { place.withLock { $0 } }

    func move(to table: Int) { place.withLock { $0 = table } }
}

extension PostgresSiteStore {
    private static let rowsPerLook = 500

    /// One statement for each table: it removes at most so many rows, those first whose time came first. Each statement
    /// has its condition twice: PostgreSQL checks a row again when another transaction has just written it, but it does
    /// not make the list of keys again.
    private static let sweeps: [(statement: Statement, bound: Bound?)] = expiries + removals

    private static let expiries: [(statement: Statement, bound: Bound?)] =
        recordTables.filter { $0.expires && $0.name != HubMessage.queue.name }
        .map { (expiring($0.name, key: $0.key.joined(separator: ", ")), Bound.now) }
        + [(expiring("webhook_events", key: "id"), .now)]

    private static let removals: [(statement: Statement, bound: Bound?)] = [
        (queue, .now), (scheduled, .now), (unusedDevices, .now), (lostRemovals, .now), (goneDevices, .now),
        (orphanedRegistrations, nil), (excessOfSends, .hubMessages), (excess("messages", key: "id"), .hubMessages),
        (excess("openings", key: "message, opener"), .openings),
        (.writingOnce("sweep devices", removed("devices", key: "id")), nil), (registrations, nil),
        (.writingOnce("sweep users", removed("users", key: "name")), nil), (foreignRegistrations, .moved),
    ]

    /// What a statement must know beside how many rows it may remove.
    private enum Bound {
        case now, hubMessages, openings
        /// Nothing: it only finds registrations, and they are moved.
        case moved
    }

    /// Registrations that an older version has made, and whose devices were removed by a process that ended before it removed the
    /// registration. The devices are locked, so one that is made again comes before, and keeps its registration, or after.
    private static let orphanedRegistrations = Statement.writingOnce(
        "sweep orphaned hub_registrations",
        """
        WITH removed AS (
            SELECT d.id FROM devices AS d JOIN hub_registrations AS r ON r.id = d.id
            WHERE NOT r.is_namespaced AND r.removed_at IS NULL AND d.removed_at IS NOT NULL
            ORDER BY d.id LIMIT $1 FOR UPDATE OF d),
        dropped AS (DELETE FROM hub_registration_tags WHERE registration_id IN (SELECT id FROM removed))
        UPDATE hub_registrations SET \(removedRegistration)
        WHERE id IN (SELECT id FROM removed) AND NOT is_namespaced AND removed_at IS NULL
        """)

    /// What a process of an older version, which goes on after the migration, has registered for keys of the served hub. One whose
    /// device was removed is that user's.
    private static let foreignRegistrations = Statement.reading(
        "sweep foreign hub_registrations",
        """
        SELECT \(HubRegistration.selected) FROM hub_registrations AS r
        WHERE NOT is_namespaced AND removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM devices AS d WHERE d.id = r.id)
        ORDER BY id LIMIT $1
        """)

    /// All have the same lifetime, so those that expire first are the oldest.
    private static func excess(_ table: String, key: String) -> Statement {
        .writingOnce(
            "sweep excess \(table)",
            """
            DELETE FROM \(table) WHERE (\(key)) IN (
                SELECT \(key) FROM \(table) ORDER BY expires_at DESC OFFSET $2 LIMIT $1)
            """)
    }

    /// Of too many finished sends those go first of which their owner has most, of these the oldest.
    private static let excessOfSends = Statement.writingOnce(
        "sweep excess hub_messages",
        """
        DELETE FROM hub_messages WHERE id IN (
            SELECT id FROM (
                SELECT id, expires_at, row_number() OVER (PARTITION BY owner ORDER BY expires_at DESC, id) AS turn
                FROM hub_messages) AS ranked
            ORDER BY turn DESC, expires_at
            LIMIT (SELECT least($1, greatest(count(*) - $2, 0)) FROM hub_messages))
        """)

    /// Ids that were handed out and not used in time. As every removed record they count on for a day.
    private static let unusedDevices = Statement.writingOnce(
        "sweep unused devices",
        """
        UPDATE devices SET removed_at = now(), owner = ''
        WHERE platform = '' AND NOT is_pending AND removed_at IS NULL AND updated_at <= $2 - \(DeviceRecord.unusedSeconds)
            AND id IN (
                SELECT id FROM devices WHERE platform = '' AND NOT is_pending AND removed_at IS NULL
                    AND updated_at <= $2 - \(DeviceRecord.unusedSeconds) ORDER BY updated_at LIMIT $1)
        """)

    /// `DeviceRecord.hasLostRemoval`. The records are locked, so a device that is registered again comes before, and keeps its
    /// registration, or after, and makes another.
    private static let lostRemovals = Statement.writingOnce(
        "sweep lost removals",
        """
        WITH begun AS (
            SELECT id FROM devices
            WHERE gone_at <= $2 - \(DeviceRecord.removalSeconds) AND gone_at >= updated_at AND is_pending
                AND removed_at IS NULL
            ORDER BY gone_at LIMIT $1 FOR UPDATE),
        removed AS (
            UPDATE hub_registrations SET \(removedRegistration)
            WHERE id IN (SELECT id FROM begun) AND removed_at IS NULL),
        dropped AS (DELETE FROM hub_registration_tags WHERE registration_id IN (SELECT id FROM begun))
        UPDATE devices SET is_pending = false, version = version + 1 WHERE id IN (SELECT id FROM begun)
        """)

    /// Devices that were gone for too long.
    private static let goneDevices = Statement.writingOnce(
        "sweep gone devices",
        """
        UPDATE devices SET \(removedDevice)
        WHERE gone_at <= $2 - \(DeviceRecord.goneSeconds) AND gone_at >= updated_at AND NOT is_pending
            AND removed_at IS NULL AND id IN (
                SELECT id FROM devices WHERE gone_at <= $2 - \(DeviceRecord.goneSeconds) AND gone_at >= updated_at
                    AND NOT is_pending AND removed_at IS NULL ORDER BY gone_at LIMIT $1)
        """)

    private static func expiring(_ table: String, key: String) -> Statement {
        .writingOnce(
            "sweep \(table)",
            """
            DELETE FROM \(table) WHERE expires_at <= $2 AND (\(key)) IN (
                SELECT \(key) FROM \(table) WHERE expires_at <= $2 ORDER BY expires_at LIMIT $1)
            """)
    }

    private static let queue = Statement.writingOnce(
        "sweep hub_queue",
        """
        WITH removed AS (
            DELETE FROM hub_queue WHERE expires_at <= $2 AND id IN (
                SELECT id FROM hub_queue WHERE expires_at <= $2 ORDER BY expires_at LIMIT $1)
            RETURNING bytes),
        counted AS (
            UPDATE hub_queue_totals SET messages = messages - (SELECT count(*) FROM removed),
                bytes = bytes - (SELECT coalesce(sum(removed.bytes), 0)::bigint FROM removed)
            WHERE part = 0 AND EXISTS (SELECT 1 FROM removed))
        SELECT 1 FROM removed
        """)

    private static let scheduled = Statement.writingOnce(
        "sweep hub_scheduled",
        """
        WITH removed AS (
            DELETE FROM hub_scheduled WHERE expires_at <= $2 AND id IN (
                SELECT id FROM hub_scheduled WHERE expires_at <= $2 ORDER BY expires_at LIMIT $1)
            RETURNING bytes),
        counted AS (
            UPDATE hub_queue_totals
            SET scheduled_bytes = scheduled_bytes - (SELECT coalesce(sum(removed.bytes), 0)::bigint FROM removed)
            WHERE part = 0 AND EXISTS (SELECT 1 FROM removed))
        SELECT 1 FROM removed
        """)

    /// A removed record is forgotten after a day: no caller then holds a version of it that it could still write with.
    private static func removed(_ table: String, key: String) -> String {
        """
        DELETE FROM \(table) WHERE removed_at < now() - interval '1 day' AND \(key) IN (
            SELECT \(key) FROM \(table) WHERE removed_at < now() - interval '1 day' ORDER BY removed_at LIMIT $1)
        """
    }

    /// A removed registration has no tags; but a removal beside a put once left some, which no call sees.
    private static let registrations = Statement.writingOnce(
        "sweep hub_registrations",
        """
        WITH gone AS (\(removed("hub_registrations", key: "id")) RETURNING id),
        dropped AS (DELETE FROM hub_registration_tags WHERE registration_id IN (SELECT id FROM gone))
        SELECT 1 FROM gone
        """)

    /// A piece of the budget is a look at one table, which removes `rowsPerLook` at most.
    package func sweep(budget: Int, now: Timestamp) throws(StoreError) -> SweepProgress {
        var progress = SweepProgress()
        while progress.visited < budget, !progress.finishedRound {
            let table = places.current
            guard table < Self.sweeps.count else {
                places.move(to: 0)
                progress.finishedRound = true
                break
            }
            let (statement, bound) = Self.sweeps[table]
            var values: [Value] = [.count(Self.rowsPerLook)]
            switch bound {
            case .now?: values.append(.time(now))
            case .hubMessages?: values.append(.count(options.quotas.hubMessages))
            case .openings?: values.append(.count(options.quotas.openings))
            case .moved?, nil: break
            }
            let removed =
                bound == .moved
                ? try moveToServed(try all(statement, values), now: now) : try database.call(statement, values)
            progress.visited += 1
            progress.compacted += removed
            if removed < Self.rowsPerLook { places.move(to: table + 1) }
        }
        return progress
    }
}
