// SPDX-License-Identifier: Apache-2.0
import PostgresStore
import Store
import Support
import Testing

/// A database of a test's own, with the schema in it.
struct Site {
    let server: PostgresServer
    let url: String

    /// - Parameter server: nil: the one that all tests share.
    init(_ server: PostgresServer? = nil, isMigrated: Bool = true) throws {
        let server = try server ?? PostgresServer.shared.get()
        self.server = server
        url = try server.makeDatabase()
        if isMigrated { _ = try PostgresSiteStore.migrate(url: url) }
    }

    /// Opens one whose calls are never too late, if nothing is adjusted.
    func open(_ adjust: (inout PostgresSiteStore.Options) -> Void = { _ in }) throws -> PostgresSiteStore {
        var options = PostgresSiteStore.Options.patient
        adjust(&options)
        return try PostgresSiteStore.open(url: url, options: options)
    }

    /// Opens one whose calls may take so long; a busy machine may need several tries for that.
    func open(timeout: Duration) throws -> PostgresSiteStore {
        var store: PostgresSiteStore?
        Deadline.poll(seconds: Self.seconds) {
            store = try? open { $0.timeout = timeout }
            return store != nil
        }
        return try #require(store)
    }

    /// - Returns: why the database could not be opened; empty, when it could.
    static func refusal(_ url: String) -> String {
        do {
            _ = try PostgresSiteStore.open(url: url, options: .patient)
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// Whatever has not come about by then never will.
    static let seconds = 240

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
            SELECT pg_terminate_backend(pid, 120000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    /// Waits until the stores have so many sessions in the database, or fewer. One that was closed, or whose process was
    /// killed, goes on for a while, with the statement that it had been sent as well.
    func waitForSessions(atMost count: Int = 0) throws {
        let sessions = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'app-backend'
            """
        try #require(Deadline.poll(seconds: Self.seconds) { try Int(run(sessions)) ?? .max <= count })
    }

    /// From now on a session that has written to that table waits until another one waits for it, and then goes on.
    func holdWriters(of table: String) throws {
        try run(
            """
            CREATE FUNCTION app_backend.hold() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))) LOOP
                    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
                END LOOP;
                RETURN NULL;
            END $$;
            CREATE TRIGGER hold AFTER INSERT OR UPDATE ON app_backend.\(table)
                FOR EACH ROW EXECUTE FUNCTION app_backend.hold()
            """)
    }

    /// Waits until one is held.
    func waitForHeldWriter() throws {
        let held = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
        try #require(Deadline.poll(seconds: Self.seconds) { try run(held) == "1" })
    }

    @discardableResult func run(_ sql: String) throws -> String { try server.run(sql, url: url) }

    /// The totals of the queue are what its rows come to.
    func expectRightTotals() throws {
        let rows = try run("SELECT count(*), coalesce(sum(bytes), 0) FROM app_backend.hub_queue")
        let scheduled = try run("SELECT coalesce(sum(bytes), 0) FROM app_backend.hub_scheduled")
        let totals = "FROM app_backend.hub_queue_totals"
        #expect(try run("SELECT sum(messages), sum(bytes) \(totals)") == rows)
        #expect(try run("SELECT sum(scheduled_bytes) \(totals)") == scheduled)
    }

    func holding(_ sql: String) throws -> ChildProcess { try server.holding(sql, url: url) }
}

extension PostgresSiteStore.Options {
    /// For tests that ask no question of time: a busy machine may stop any process for a minute, and for that no call is too
    /// late, and no lease over.
    static var patient: Self {
        var options = Self()
        (options.timeout, options.leaseDuration) = (.seconds(240), .seconds(600))
        return options
    }
}
