// SPDX-License-Identifier: Apache-2.0
import PostgresServer
import PostgresStore
import Processes
import Store

/// A database of a test's own, with the schema in it.
struct Site {
    let server: PostgresServer
    let url: String

    /// - Parameter server: nil: the one that all tests share.
    init(_ server: PostgresServer? = nil, isMigrated: Bool = true) throws {
        let server = try server ?? PostgresServer.shared.get()
        self.server = server
        url = try server.makeDatabase()
        if isMigrated { _ = try PostgresStore.migrate(url: url) }
    }

    func open(_ adjust: (inout PostgresStore.Options) -> Void = { _ in }) throws -> PostgresStore {
        var options = PostgresStore.Options()
        adjust(&options)
        return try PostgresStore.open(url: url, options: options)
    }

    /// For every session that begins from now on; nil: as the server has it.
    func set(_ setting: String, _ value: String?) throws {
        let name = try run("SELECT current_database()")
        let change = value.map { "SET \(setting) = '\($0)'" } ?? "RESET \(setting)"
        // From another database, in which this one's settings do not hold.
        try server.run("ALTER DATABASE \(name) \(change)", url: server.url("postgres"))
    }

    /// Ends all other sessions of the database, in the middle of whatever they do, and waits until they have.
    func endSessions() throws {
        try run(
            """
            SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    @discardableResult func run(_ sql: String) throws -> String { try server.run(sql, url: url) }

    func holding(_ sql: String) throws -> ChildProcess { try server.holding(sql, url: url) }
}
