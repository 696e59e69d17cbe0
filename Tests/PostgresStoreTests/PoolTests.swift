// SPDX-License-Identifier: Apache-2.0
import Store
import Support
import Testing
import Text

@testable import PostgresStore

@Suite struct `The pool of connections` {
    /// However busy the machine is.
    private static let ample = Duration.seconds(240)

    private func pool(_ url: String, size: Int) throws -> ConnectionPool {
        let library = try LibPQ()
        let settings = try ConnectionSettings(
            url: url, schema: "app_backend", callTimeout: Self.ample, library)
        return ConnectionPool(library, settings, size: size)
    }

    @Test func `a caller that finds all connections taken fails at its deadline, or gets the one that is given back`()
        throws
    {
        let pool = try pool(Site().url, size: 1)
        let loan = try pool.take(until: .after(Self.ample))
        #expect(throws: CallFailure.exhausted) { try pool.take(until: .after(.milliseconds(20))) }
        #expect(CallFailure.exhausted.storeError("user") == .busy(retryAfterSeconds: 1))
        pool.giveBack(loan, keeping: true)
        let again = try pool.take(until: .after(Self.ample))
        #expect(again.connection === loan.connection)
        // One whose call broke off is not lent again.
        pool.giveBack(again, keeping: false)
        let new = try pool.take(until: .after(Self.ample))
        #expect(new.connection !== loan.connection)
        pool.giveBack(new, keeping: true)
    }

    @Test(arguments: [("0", true), ("-1", true), ("5", false)])
    func `a URL may ask for more time to connect, and not for all of it`(seconds: String, isOverruled: Bool) throws {
        let url = "postgresql://app@localhost/app?connect_timeout=" + seconds
        let settings = try ConnectionSettings(
            url: url, schema: "app_backend", callTimeout: Self.ample, try LibPQ())
        // Of libpq's keywords later ones win.
        let last = settings.keywords.drop { $0.name != "dbname" }
        #expect(last.contains { $0.name == "connect_timeout" && $0.value == "2" } == isOverruled)
    }

    @Test func `a connection in the middle of a transaction is not lent again`() throws {
        let pool = try pool(Site().url, size: 1)
        let loan = try pool.take(until: .after(Self.ample))
        try loan.connection.run("BEGIN", until: .after(Self.ample))
        pool.giveBack(loan, keeping: true)
        let next = try pool.take(until: .after(Self.ample))
        #expect(next.connection !== loan.connection)
        pool.giveBack(next, keeping: true)
    }

    @Test func `a server that hangs up on everybody is not asked by everybody`() throws {
        let door = try SlammedDoor()
        let pool = try pool("postgresql://app@/d?host=\(door.folder)", size: 8)
        // Each caller ends with the first that does not fail as it should, which may have taken minutes.
        let haveFailed = inParallel(8) { _ in
            (0..<500).allSatisfy { _ in
                do throws(CallFailure) {
                    pool.giveBack(try pool.take(until: .after(Self.ample)), keeping: true)
                    return false
                } catch {
                    if case .unreachable = error { return true } else { return false }
                }
            }
        }
        // All have failed, and nearly all of them without a try of their own.
        #expect(haveFailed.allSatisfy { $0 })
        #expect((1..<100).contains(door.visitors))
    }

    @Test func `a server that says nothing, or is not there, keeps no caller from the next one of the URL`() throws {
        let (silent, site) = (try SilentDoor(), try Site())
        let database = try site.run("SELECT current_database()")
        let pool = try pool(
            "postgresql://app@/\(database)?host=/nowhere,\(silent.folder),\(site.server.folder)", size: 1)
        pool.giveBack(try pool.take(until: .after(Self.ample)), keeping: true)
        #expect(silent.visitors > 0)
    }

    @Test func `of several servers the one that takes writes is found, where the URL asks for it`() throws {
        let (standby, primary) = (try Site(), try PostgresServer())
        let database = try standby.run("SELECT current_database()")
        try primary.run("CREATE DATABASE \(database)", url: primary.url("postgres"))
        try standby.set("default_transaction_read_only", "on")
        let hosts = "host=\(standby.server.folder),\(primary.folder)"
        let pool = try pool("postgresql://app@/\(database)?\(hosts)&target_session_attrs=read-write", size: 1)
        let loan = try pool.take(until: .after(Self.ample))
        try loan.connection.run("CREATE TABLE public.found (number bigint)", until: .after(Self.ample))
        pool.giveBack(loan, keeping: true)
    }

    @Test func `a server that is in doubt is tried by one caller at a time, and by all when it has let one in`() throws
    {
        let (reachability, start) = (Reachability(), ContinuousClock.now)
        let refusal = CallFailure.unreachable(reason: "silence")
        #expect(try !reachability.begin(at: start))
        reachability.suspect("silence")
        #expect(try reachability.begin(at: start))
        // However long that takes.
        #expect(throws: refusal) { try reachability.begin(at: start + .seconds(60)) }
        reachability.fail("silence", isTrial: true, at: start + .seconds(60))
        #expect(throws: refusal) { try reachability.begin(at: start + .seconds(60)) }
        #expect(try reachability.begin(at: start + .seconds(63)))
        // Who had begun before all that, and fails only now, makes no room for another.
        reachability.fail("old", isTrial: false, at: start + .seconds(63))
        #expect(throws: refusal) { try reachability.begin(at: start + .seconds(90)) }
        reachability.succeed()
        #expect(try !reachability.begin(at: start))
        #expect(try !reachability.begin(at: start))
    }

    @Test(arguments: ["SELECT pg_sleep(600)", "SELECT count(*) FROM users"])
    func `a statement that takes long, or waits for a lock, is no silence, and leaves the connections`(
        sql: String
    ) throws {
        let site = try Site()
        let library = try LibPQ()
        let settings = try ConnectionSettings(
            url: site.url, schema: "app_backend", callTimeout: .milliseconds(400), library)
        let pool = ConnectionPool(library, settings, size: 1)
        let database = Database(pool, timeout: Self.ample)
        let holder = try site.holding("LOCK TABLE app_backend.users")
        defer { holder.stop() }
        // By such settings a busy server may also be too slow to begin.
        var first: ConnectionPool.Loan?
        Support.Deadline.poll(seconds: Site.seconds) {
            first = try? pool.take(until: .after(Self.ample))
            return first != nil
        }
        let before = try #require(first)
        pool.giveBack(before, keeping: true)
        let failure = #expect(throws: CallFailure.self) {
            try database.attempt(.reading("slow", sql), []) { (_) throws(CallFailure) in }
        }
        // Which of the two ends first on a busy machine is not the question.
        #expect([.refused(SQLState("57014")), .refused(.lockNotAvailable)].contains(failure))
        let after = try pool.take(until: .after(Self.ample))
        #expect(after.connection === before.connection)
        pool.giveBack(after, keeping: true)
    }

    @Test func `a connection that the system gives up is silence`() {
        let message = "connection to server at \"127.0.0.1\", port 1 failed: Connection timed out"
        #expect(ConnectionFault.reason(message) == "the server does not answer")
    }

    @Test func `of what several servers say a refusal is reported, not silence`() throws {
        let door = try SilentDoor()
        let pool = try pool("postgresql://app@/d?host=\(door.folder),/nowhere", size: 1)
        #expect(throws: CallFailure.unreachable(reason: "no server has the socket")) {
            try pool.take(until: .after(Self.ample))
        }
    }
}
