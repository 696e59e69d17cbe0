// SPDX-License-Identifier: Apache-2.0
import Store

/// Brings a database's schema to this version of the program, or looks whether it is there.
struct Migrator {
    /// Of the whole migration; large tables take long to be changed.
    static let timeout = Duration.seconds(600)
    /// What `app-backend` calls it.
    private static let command = "app-backend store migrate"

    private static let makeLedger =
        "CREATE TABLE migrations (version bigint PRIMARY KEY, applied_at timestamptz NOT NULL)"
    private static let findSchema = Statement.reading(
        "migrate", "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname::text = $1")
    private static let mayUseSchema = Statement.reading(
        "open.rights",
        "SELECT has_schema_privilege(oid, 'USAGE') FROM pg_catalog.pg_namespace WHERE nspname::text = $1")
    private static let version = Statement.reading("open", "SELECT coalesce(max(version), 0) FROM migrations")
    private static let record = Statement.writing(
        "migrate.record", "INSERT INTO migrations (version, applied_at) VALUES ($1, now())")

    let database: Database
    let schema: String

    /// Each step is one transaction, which begins with a row that only one can write: of several that migrate at once one
    /// does it, and the others find it done.
    func migrate(to newest: Int = Migrations.newest) throws(StoreError) -> PostgresSiteStore.Migration {
        try makeSchema()
        let before = try currentVersion()
        guard before <= Migrations.newest else { throw Self.isNewer }
        var version = before
        while version < newest {
            try step(to: version + 1)
            version = try currentVersion()
        }
        if version == Migrations.newest { try addColumns() }
        return PostgresSiteStore.Migration(before: before, after: version)
    }

    /// - Throws: `notReady`, when the schema is not this version's.
    func check() throws(StoreError) {
        let version: Int
        do throws(CallFailure) {
            version = try readVersion()
        } catch {
            switch error {
            // The server passes over a schema that the user may not use, as if it were not there.
            case .refused(.unknownTable), .refused(.unknownSchema):
                try checkRights()
                throw .notReady(detail: "PostgreSQL: the database holds no store yet; run \(Self.command)")
            case .refused(.insufficientPrivilege): throw Self.isForbidden("the store's tables (GRANT)")
            default: throw error.storeError(Self.version.name)
            }
        }
        guard version <= Migrations.newest else { throw Self.isNewer }
        guard version == Migrations.newest, try missing().isEmpty else {
            throw .notReady(detail: "PostgreSQL: the store is of an older version; run \(Self.command)")
        }
    }

    private static let isNewer = StoreError.notReady(
        detail: "PostgreSQL: the store was made by a newer version of this program")

    private static func isForbidden(_ what: String) -> StoreError {
        .notReady(detail: "PostgreSQL: the user of store.url may not use \(what)")
    }

    /// - Throws: `notReady`, when there is a schema that the user may not use.
    private func checkRights() throws(StoreError) {
        let mayUse = try database.call(Self.mayUseSchema, [.text(schema)]) { (rows) throws(CallFailure) in
            try rows.first?.bool(0) ?? true
        }
        guard mayUse else { throw Self.isForbidden("the schema \(schema) (GRANT USAGE)") }
    }

    private func currentVersion() throws(StoreError) -> Int {
        do throws(CallFailure) {
            return try readVersion()
        } catch {
            throw error.storeError(Self.version.name)
        }
    }

    private func readVersion() throws(CallFailure) -> Int {
        try database.attempt(Self.version, []) { (rows) throws(CallFailure) in
            guard let row = rows.first else { throw .malformed }
            let version = try row.integer(0)
            guard version >= 0 else { throw .malformed }
            return version
        }
    }

    /// Makes the schema and the table of versions where they are missing. `IF NOT EXISTS` would want the right to make
    /// schemas where there is nothing to be made, and does not exclude two at once either.
    private func makeSchema() throws(StoreError) {
        let isThere = try database.call(Self.findSchema, [.text(schema)]) { (rows) throws(CallFailure) in !rows.isEmpty
        }
        if isThere { try checkRights() } else { try make("CREATE SCHEMA \(schema)") }
        do throws(StoreError) {
            _ = try currentVersion()
        } catch {
            try make(Self.makeLedger)
        }
    }

    /// Another process may be making the same thing.
    private func make(_ sql: String) throws(StoreError) {
        try database.transaction("migrate") { (transaction) throws(CallFailure) in
            do throws(CallFailure) {
                try transaction.run(sql)
            } catch {
                guard case .refused(let state) = error, state.isDuplicate else { throw error }
                throw .told(.conflict)
            }
        } ignoring: {
            $0 == .conflict
        }
    }

    private func step(to version: Int) throws(StoreError) {
        try database.transaction("migrate to version \(version)") { (transaction) throws(CallFailure) in
            do throws(CallFailure) {
                _ = try transaction.call(Self.record, [.count(version)])
            } catch {
                guard error == .refused(.uniqueViolation) else { throw error }
                throw .told(.conflict)
            }
            for sql in Migrations.all[version - 1] { try transaction.run(sql) }
        } ignoring: {
            $0 == .conflict
        }
    }
}

extension Database {
    /// As `transaction(_:_:)`, of which some errors mean that there was nothing to do.
    fileprivate func transaction(
        _ name: String, _ body: (Transaction) throws(CallFailure) -> Void, ignoring isNothing: (StoreError) -> Bool
    ) throws(StoreError) {
        do throws(StoreError) {
            try transaction(name, body)
        } catch {
            if !isNothing(error) { throw error }
        }
    }
}
