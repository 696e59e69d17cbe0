// SPDX-License-Identifier: Apache-2.0
import Store

/// The store in a PostgreSQL database, for the day a second machine must write.
///
/// Whatever changes together is one statement, or one transaction; what is only tidied away, because there is too much of
/// it, is a statement of its own. What a function has written when it returns is on the server's disk, and on those of its
/// synchronous standbys. A statement ends within `Options.timeout`, whatever the server does.
package final class PostgresSiteStore: SiteStore {
    /// With which of them a URL begins that names a database.
    package static let schemes = ["postgresql://", "postgres://"]

    /// How a store behaves. The defaults are the product's; tests make them small.
    package struct Options: Sendable {
        /// Connections at most. A caller that finds all of them in use waits for one.
        package var connections = 16
        /// How long a call may take, with the wait for a connection and all repetitions.
        package var timeout: Duration = .seconds(5)
        /// The schema that holds the tables: `[a-z][a-z0-9_]*`.
        package var schema = "app_backend"
        package var quotas = Quotas()
        /// How long a delivery lease lasts that is not renewed.
        package var leaseDuration: Duration = .seconds(15)

        package init() {}
    }

    /// What became of a database's schema.
    package struct Migration: Equatable, Sendable {
        /// The version that was found; 0: there was none.
        package let before: Int
        package let after: Int
    }

    let database: Database
    let options: Options
    let lease = LeaseHolder()
    let places = SweepPlace()
    let sequence = CreationSequence()

    /// Connects to the database of that URL (`postgresql://user:password@host/database?sslmode=verify-full`, as libpq
    /// understands it).
    /// - Throws: `unavailable`, when the URL is invalid, libpq is missing or no connection comes about in time;
    ///   `notReady`, when the schema is missing or of another version: `migrate(url:options:)` makes it.
    package static func open(url: String, options: Options = Options()) throws(StoreError) -> PostgresSiteStore {
        let store = PostgresSiteStore(try database(url, options), options)
        try Migrator(database: store.database, schema: options.schema).check()
        return store
    }

    /// Makes the schema, or brings it to this version. It may be running; what is newer is left alone.
    /// - Throws: as `open(url:options:)`; `notReady`, when the schema is a newer version's.
    package static func migrate(url: String, options: Options = Options()) throws(StoreError) -> Migration {
        var options = options
        options.timeout = Migrator.timeout
        return try Migrator(database: database(url, options), schema: options.schema).migrate()
    }

    private init(_ database: Database, _ options: Options) {
        (self.database, self.options) = (database, options)
    }

    private static func database(_ url: String, _ options: Options) throws(StoreError) -> Database {
        let library = try LibPQ()
        let settings = try ConnectionSettings(
            url: url, schema: options.schema, callTimeout: options.timeout, library)
        try settings.refuseOpenNetwork(library)
        let pool = ConnectionPool(library, settings, size: options.connections)
        return Database(pool, timeout: options.timeout)
    }
}

extension PostgresSiteStore {
    /// Changes no row, and is refused where nothing may be written: on a standby, and where the server, the database or
    /// the user is set to read only.
    private static let probe = Statement.writingOnce("health", "UPDATE hub_turns SET token = token WHERE name = ''")

    package func health() -> StoreHealth {
        do throws(StoreError) {
            try database.call(Self.probe, [])
            return .writable
        } catch {
            return error == .readOnly ? .readOnly : .unavailable
        }
    }
}
