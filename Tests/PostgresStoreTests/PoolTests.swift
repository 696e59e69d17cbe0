// SPDX-License-Identifier: Apache-2.0
import PostgresServer
import Processes
import Store
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

    @Test func `who finds all connections taken is turned away at his deadline, or gets the one that is given back`()
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

    @Test func `servers that say nothing keep nobody from the next one, and are not asked again while that lets us in`()
        throws
    {
        let (blocked, silent, site) = (try BlockedDoor(), try SilentDoor(), try Site())
        let database = try site.run("SELECT current_database()")
        let servers = "host=127.0.0.1,\(silent.folder),\(site.server.folder)&port=\(blocked.port),5432,5432"
        let pool = try pool("postgresql://app@/\(database)?\(servers)", size: 2)
        // A third of that time is for the last one; on a busy host it may be too short, and then a longer one is tried.
        var (loan, patience): (ConnectionPool.Loan?, _) = (nil, Duration.milliseconds(450))
        let isIn = Processes.Deadline.poll(seconds: Site.seconds) {
            loan = try? pool.take(until: .after(patience))
            patience *= 2
            return loan != nil
        }
        #expect(isIn)
        let (first, visitors) = (try #require(loan), silent.visitors)
        let second = try pool.take(until: .after(Self.ample))
        #expect(first.connection !== second.connection)
        #expect(silent.visitors == visitors && visitors > 0)
        pool.giveBack(first, keeping: true)
        pool.giveBack(second, keeping: true)
    }

    @Test func `a server that is in doubt is tried by one caller at a time, and by all when it has let him in`() throws
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
        Processes.Deadline.poll(seconds: Site.seconds) {
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

    @Test func `of what several servers say a refusal is told, not silence`() throws {
        let door = try SilentDoor()
        let pool = try pool("postgresql://app@/d?host=\(door.folder),/nowhere", size: 1)
        #expect(throws: CallFailure.unreachable(reason: "no server has the socket")) {
            try pool.take(until: .after(.milliseconds(200)))
        }
    }

    @Test func `servers whose ports are not named are asked at the standard one`() throws {
        let site = try Site()
        let database = try site.run("SELECT current_database()")
        let pool = try pool("postgresql://app@/\(database)?host=/nowhere,\(site.server.folder)&port=,", size: 1)
        pool.giveBack(try pool.take(until: .after(Self.ample)), keeping: true)
    }

    @Test func `who leaves a server that takes no writes asks the next one first`() throws {
        let (site, door) = (try Site(), try SlammedDoor())
        let database = try site.run("SELECT current_database()")
        let pool = try pool("postgresql://app@/\(database)?host=\(site.server.folder),\(door.folder)", size: 1)
        pool.giveBack(try pool.take(until: .after(Self.ample)), keeping: true)
        #expect(door.visitors == 0)
        #expect(pool.renew())
        // The next one is none, so it is the first again.
        pool.giveBack(try pool.take(until: .after(Self.ample)), keeping: true)
        #expect(door.visitors > 0)
    }

    @Test(arguments: [
        ("postgresql:///d", [[]]), ("postgresql://a:1/d", [[]]),
        ("postgresql://a:1,b:2,c:3/d", [["a", "1"], ["b", "2"], ["c", "3"]]),
        ("postgresql://a,b/d?port=7", [["a", "7"], ["b", "7"]]),
        ("postgresql://a,b/d", [["a", "5432"], ["b", "5432"]]),
        ("postgresql://a,b:7/d", [["a", "5432"], ["b", "7"]]),
        ("postgresql://a,,c/d", [[]]),
        ("postgresql:///d?host=a,b&port=1,2,3", [[]]),
        ("postgresql:///d?hostaddr=127.0.0.1,127.0.0.2&host=a,b", [["a", "127.0.0.1"], ["b", "127.0.0.2"]]),
    ])
    func `a URL's servers are taken apart as libpq does it`(url: String, servers: [[String]]) throws {
        let settings = try ConnectionSettings(
            url: url, schema: "s", callTimeout: .seconds(5), LibPQ())
        #expect(settings.servers.map { $0.map(\.value) } == servers)
    }
}
