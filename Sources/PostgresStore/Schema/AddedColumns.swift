// SPDX-License-Identifier: Apache-2.0
import Store

/// A column that a kind describes. A table that an earlier version has made may lack it.
struct AddedColumn: Equatable, Sendable {
    let table: String
    let name: String
    /// Its type, and the value in rows that were written without it.
    let definition: String

    fileprivate var sql: String { "ALTER TABLE \(table) ADD COLUMN IF NOT EXISTS \(name) \(definition)" }
}

extension PostgresSiteStore {
    /// The columns of all tables that keep records.
    static let describedColumns =
        recordTables.flatMap(\.columns) + HubMessage.queue.described(in: "hub_scheduled")
        + HubMessage.sends.described(in: "webhook_events")
}

/// A new field of a kind needs no step of its own in `Migrations`.
extension Migrator {
    private static let columns = Statement.reading(
        "migrate.columns",
        """
        SELECT c.relname::text, a.attname::text FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname::text = $1 AND a.attnum > 0 AND NOT a.attisdropped
        """)

    /// Those of the columns that their tables lack.
    func missing(_ wanted: [AddedColumn] = PostgresSiteStore.describedColumns) throws(StoreError) -> [AddedColumn] {
        let present = try database.call(Self.columns, [.text(schema)]) { (rows) throws(CallFailure) in
            var present: Set<[String]> = []
            for row in rows { present.insert([try row.string(0), try row.string(1)]) }
            return present
        }
        return wanted.filter { !present.contains([$0.table, $0.name]) }
    }

    /// Adds what is missing, all in one transaction. Of several processes one does it, and the others find it done.
    func addColumns(_ wanted: [AddedColumn] = PostgresSiteStore.describedColumns) throws(StoreError) {
        let missing = try missing(wanted)
        guard !missing.isEmpty else { return }
        try database.transaction("migrate.add") { (transaction) throws(CallFailure) in
            try transaction.run("LOCK TABLE migrations IN EXCLUSIVE MODE")
            for column in missing { try transaction.run(column.sql) }
        }
    }
}
