// SPDX-License-Identifier: Apache-2.0
import Store
import StoreContract
import Support
import Testing
import Text

@testable import PostgresStore

/// Records are kept by what their kinds say, and by nothing else.
@Suite struct `A kind of record` {
    private static func tables() -> [RecordTable] {
        [
            proven(User.table), proven(LastSeen.table), proven(SecureNotification.table), proven(DeviceRecord.table),
            proven(Session.table), proven(AppToken.table), proven(MessageOpening.table),
            proven(IdempotentRequest.table), proven(HubRegistration.table), proven(HubMessage.table),
        ]
    }

    private static func proven<Record>(_ table: Table<Record>) -> RecordTable {
        RecordTable(Table<Proven<Record>>(proving: table))
    }

    @Test func `its new field has a column in every table, and is kept`() throws {
        let site = try Site()
        let store = try site.open()
        let migrator = Migrator(database: store.database, schema: "app_backend")
        let tables = Self.tables()
        let wanted = tables.flatMap(\.columns)
        #expect(try Set(migrator.missing(wanted).map(\.name)) == ["proof_of_all"])
        _ = inParallel(3) { _ in try? migrator.addColumns(wanted) }
        #expect(try migrator.missing(wanted) == [])
        for table in tables { try Self.keep(RecordSample.proven, table, store) }
    }

    @Test func `a process that does not know the field goes on beside it`() throws {
        let site = try Site()
        let store = try site.open()
        try Migrator(database: store.database, schema: "app_backend").addColumns(Self.tables().flatMap(\.columns))
        try FieldContract.calls(of: store)
    }

    @Test func `it is kept in a table that is made of its description`() throws {
        let site = try Site()
        let store = try site.open()
        try site.run("CREATE TABLE app_backend.boats (id bytea PRIMARY KEY, version bigint, removed_at timestamptz)")
        let table = RecordTable(Table<Boat>("boats", .counts))
        try Migrator(database: store.database, schema: "app_backend").addColumns(table.columns)
        try Self.keep(Boat.samples.map { StoredRecord($0) }, table, store)
    }

    @Test func `a table that lacks a described column is refused with the cure, which adds it`() throws {
        let site = try Site()
        try site.run("ALTER TABLE app_backend.devices DROP COLUMN alias")
        #expect(Site.refusal(site.url).contains("app-backend store migrate"))
        _ = try PostgresSiteStore.migrate(url: site.url)
        try FieldContract.calls(of: site.open())
    }

    private static func keep(_ records: [StoredRecord], _ table: RecordTable, _ store: PostgresSiteStore) throws {
        let own = records.filter { table.kinds.contains($0.table) }
        #expect(!own.isEmpty)
        let count = try store.database.transaction("test") { (transaction) throws(CallFailure) in
            var count = 0
            for record in own {
                guard let put = try? table.put(record.record, noon) else { throw .malformed }
                count += try transaction.call(put.statement, put.values).count
            }
            return count
        }
        #expect(count == own.count)
        var found: Set<StoredRecord> = []
        try store.forEachRecord(in: table.walk, now: noon) { found.insert($0) }
        #expect(found == Set(own))
    }
}

extension Table {
    /// The same table for the kind with one field more.
    fileprivate init<Base>(proving table: Table<Base>) where Record == Proven<Base> {
        let derived = table.derived.map { column in
            Table<Proven<Base>>.Derived(name: column.name) { column.value($0.base) }
        }
        self.init(
            table.name, key: table.key, table.lifetime == .expires ? .expires : .counts, without: ["not_before"],
            derived: derived)
    }
}
